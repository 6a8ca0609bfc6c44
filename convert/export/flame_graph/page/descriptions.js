// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the page tells about a box, as pairs of a label and a text. The first pair has no label: it
// is the name. Nothing here knows the DOM.
const Descriptions = (() => {
  const {percent, amount} = Controls;

  function counted(calls) {
    return calls === 1 ? '1 call' : `${calls.toLocaleString('en-US')} calls`;
  }

  // `box` is {pane, node}, and {calls, total} if it stands for narrow calls. `shown` is
  //   page, tab     the data
  //   tree          calls, inverted or sandwich
  //   sums          Differences.measure of the tab, or null
  //   threadTotal   the sum of the chosen thread, or of all
  //   total         the sum of the tab, of the side of the widths
  //   nameOf        returns the name of a frame
  function of(box, shown) {
    if (box.calls !== undefined) {
      return [['', `${counted(box.calls)}, too narrow to show`],
        ['Value', widthAmount(box.total, shown)], ['Of all', percent(box.total, shown.total)]];
    }
    const {tree} = box.pane;
    const {node} = box;
    const frame = tree.frame[node];
    const pairs = [['', shown.nameOf(frame)], ...amountsOf(tree, node, shown)];
    if (shown.threadTotal !== shown.total) {
      pairs.push(['Of thread', percent(tree.total[node], shown.threadTotal)]);
    }
    if (tree.parent[node] >= 0) {
      const isBelowCallers = shown.tree === 'inverted' ||
        (box.pane.isUp && shown.tree === 'sandwich');
      pairs.push([isBelowCallers ? 'Of callee' : 'Of caller',
        percent(tree.total[node], tree.total[tree.parent[node]])]);
    }
    const hasSelf = shown.tree === 'calls' || (!box.pane.isUp && shown.tree === 'sandwich');
    if (hasSelf && frame >= 0) pairs.push(['Self', selfOf(tree, node, shown)]);
    pairs.push(...ofFrame(frame, shown), ...timeOf(tree, node));
    if (tree.folded[node] > 0) {
      pairs.push(['Folded', `${counted(tree.folded[node])} too small to show`]);
    }
    return pairs;
  }

  // Returns what is spent in the function itself, on both sides of a pair.
  function selfOf(tree, node, shown) {
    const {sums} = shown;
    const self = tree.self[node];
    if (sums === null) return `${widthAmount(self, shown)} (${percent(self, shown.total)})`;
    const sides = Differences.compare(self, tree.other[node], sums);
    return `${percent(sides.new, sums.new)} (old ${percent(sides.old, sums.old)})`;
  }

  function widthAmount(value, {tab, sums}) {
    const isOld = sums !== null && sums.widths === 'old';
    return amount(value, tab, isOld ? tab.otherDecimals : tab.decimals);
  }

  function amountsOf(tree, node, shown) {
    const {tab, sums, total} = shown;
    if (sums === null) {
      return [['Value', amount(tree.total[node], tab)],
        ['Of all', percent(tree.total[node], total)]];
    }
    const sides = Differences.of(tree, node, sums);
    const pairs = [
      ['New', `${percent(sides.new, sums.new)}, ${amount(sides.new, tab)}`],
      ['Old', `${percent(sides.old, sums.old)}, ${amount(sides.old, tab, tab.otherDecimals)}`],
      ['Change', Differences.textOf(sides.change, sums)],
    ];
    const hidden = Differences.invisible(tree, node);
    if (hidden > 0) {
      const isNew = sums.widths === 'new';
      pairs.push([isNew ? 'Only old' : 'Only new',
        `${amount(hidden, tab, isNew ? tab.otherDecimals : tab.decimals)} below it`]);
    }
    return pairs;
  }

  function timeOf(tree, node) {
    if (tree.first === null || !Number.isFinite(tree.first[node])) return [];
    return [['First sample', `after ${(tree.first[node] / 1000).toFixed(3)} s`]];
  }

  function ofFrame(frame, {page}) {
    if (frame < 0) return [];
    const {frames, texts} = page;
    const pairs = [];
    if (texts[frames.dso[frame]] !== '') pairs.push(['Binary', texts[frames.dso[frame]]]);
    const source = texts[frames.source[frame]];
    const [first, last] = [frames.firstLine[frame], frames.lastLine[frame]];
    const lines = first === 0 ? '' : last > first ? `:${first}–${last}` : `:${first}`;
    if (source !== '') pairs.push(['Source', source + lines]);
    const type = FlameTree.TYPES[frames.type[frame]];
    if (type !== 'user') pairs.push(['Kind', type === 'jit' ? 'JIT' : type]);
    return pairs;
  }

  // Returns the names from the outermost function to the node, one in each line.
  function stackOf({pane, node}, shown) {
    const names = [];
    for (let i = node; i >= 0 && pane.tree.frame[i] >= 0; i = pane.tree.parent[i]) {
      names.push(shown.nameOf(pane.tree.frame[i]));
    }
    const isCallersFirst = shown.tree === 'calls' || (!pane.isUp && shown.tree === 'sandwich');
    return (isCallersFirst ? names.reverse() : names).join('\n');
  }

  return {of, stackOf};
})();
