// SPDX-License-Identifier: Apache-2.0
'use strict';

// The threads of the page: tabs for the largest ones, and which of them can be joined.
const Threads = (() => {
  const {byId, element, percent} = Controls;
  const MOST_TABS = 9;

  // Whether joining makes fewer threads.
  function canJoin(names) {
    return new Set(names.map(Names.kindOfThread)).size < names.length;
  }

  // Returns the frame of the threads `names`, which is added to the page if it is new. `known` has
  // the frames that were added, by name.
  function frameOf(names, page, known) {
    const isOneName = names.every((name) => name === names[0]);
    const common = isOneName ? names[0] : Names.kindOfThread(names[0]);
    if (!known.has(common)) {
      const {texts, frames} = page;
      frames.name.push(texts.push(common) - 1);
      frames.type.push(FlameTree.TYPES.indexOf('thread'));
      for (const column of ['dso', 'source', 'firstLine', 'lastLine']) frames[column].push(0);
      known.set(common, frames.name.length - 1);
    }
    return known.get(common);
  }

  // Fills the tabs. `entries` are {label, note}, the largest thread first; `chosen` is a label, or
  // '' for all. `choose(label)` is called for the chosen one.
  function fill(entries, chosen, {isJoined, isJoinable, choose}) {
    byId('join-threads').hidden = !isJoinable;
    byId('join-threads').setAttribute('aria-pressed', String(isJoined));
    byId('threads-line').hidden = entries.length < 2 && !isJoinable;
    const shown = entries.slice(0, MOST_TABS);
    const names = shown.map(({label}) => label);
    Controls.fillTabs(byId('threads'), [{label: 'All threads'}, ...shown],
      chosen === '' ? 0 : names.indexOf(chosen) + 1 || -1,
      (i) => choose(i === 0 ? '' : names[i - 1]));
    const more = entries.slice(MOST_TABS);
    const select = byId('more-threads');
    select.hidden = more.length === 0;
    const first = element('option', `${more.length} more…`);
    first.value = '';
    select.replaceChildren(first, ...more.map(({label, note}) => {
      const option = element('option', `${label}  ${note}`);
      option.value = label;
      return option;
    }));
    select.value = names.includes(chosen) ? '' : chosen;
  }

  // Returns the tab of a thread.
  function entryOf(tree, node, name) {
    return {label: name, note: percent(tree.total[node], tree.total[0])};
  }

  return {canJoin, frameOf, fill, entryOf};
})();
