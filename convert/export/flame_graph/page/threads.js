// SPDX-License-Identifier: Apache-2.0
'use strict';

// The threads of the page: which one is chosen, and which of them can be joined.
const Threads = (() => {
  const {byId, percent} = Controls;

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

  // Fills the choice. `entries` are {label, note}, the largest thread first; `chosen` is a label,
  // or '' for all.
  function fill(entries, chosen, {isJoined, isJoinable}) {
    byId('join-threads').hidden = !isJoinable;
    byId('join-threads').setAttribute('aria-pressed', String(isJoined));
    Toolbar.fillSelect(byId('threads'),
      [['', 'All threads'], ...entries.map(({label, note}) => [label, `${label}  ${note}`])],
      chosen);
    if (byId('threads').selectedIndex < 0) byId('threads').value = '';
  }

  // Returns the entry of a thread.
  function entryOf(tree, node, name) {
    return {label: name, note: percent(tree.total[node], tree.total[0])};
  }

  return {canJoin, frameOf, fill, entryOf};
})();
