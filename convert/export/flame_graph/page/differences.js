// SPDX-License-Identifier: Apache-2.0
'use strict';

// How functions changed from the old side of a pair of events to the new one: numbers and colours.
// What is compared are the shares, in percent of all samples of a side; if both sides are of a
// window on average, their numbers. Nothing here knows the DOM.
const Differences = (() => {
  // Red, green and blue of no change, more and less.
  const COLOURS = {
    light: {same: [222, 225, 231], more: [232, 78, 64], less: [70, 130, 226]},
    dark: {same: [66, 70, 79], more: [200, 60, 50], less: [52, 108, 204]},
  };

  // Returns the sums that shares refer to, and the largest change, of a tree of a tab whose widths
  // are those of the side `widths`: new or old.
  function measure(tree, widths, tab) {
    const [one, other] = [tree.total[0], tree.otherTotal[0]];
    const sums = {
      widths,
      new: widths === 'new' ? one : other,
      old: widths === 'new' ? other : one,
      largest: 0,
      tab,
    };
    for (let i = tab.isPerWindow ? 0 : 1; i < tree.depth.length; ++i) {
      sums.largest = Math.max(sums.largest, Math.abs(of(tree, i, sums).change));
    }
    return sums;
  }

  const share = (part, whole) => (whole > 0 ? (100 * part) / whole : 0);

  // Returns the amounts of two sides, `one` of the side of the widths: {new, old, newShare,
  // oldShare, change}. The change is in percentage points, or a number.
  function compare(one, other, sums) {
    const [fresh, old] = sums.widths === 'new' ? [one, other] : [other, one];
    const [newShare, oldShare] = [share(fresh, sums.new), share(old, sums.old)];
    const change = sums.tab.isPerWindow ? fresh - old : newShare - oldShare;
    return {new: fresh, old, newShare, oldShare, change};
  }

  // Compares the totals of a node.
  function of(tree, node, sums) {
    return compare(tree.total[node], tree.otherTotal[node], sums);
  }

  // Returns how many samples of the other side are below `node` in calls that have no width.
  function invisible(tree, node) {
    const sums = invisibleBefore(tree);
    return sums[tree.end[node]] - sums[node];
  }

  const invisibleSums = new WeakMap();  // by tree

  // Returns the number of such samples in all nodes before each node.
  function invisibleBefore(tree) {
    if (!invisibleSums.has(tree)) {
      const sums = new Float64Array(tree.depth.length + 1);
      tree.other.forEach((other, i) => (sums[i + 1] = sums[i] + (tree.total[i] === 0 ? other : 0)));
      invisibleSums.set(tree, sums);
    }
    return invisibleSums.get(tree);
  }

  // Returns the colour of a change. Small changes are visible, too.
  function colour(theme, change, largest, isDimmed) {
    const {same, more, less} = COLOURS[theme];
    const strength = largest > 0 ? Math.sqrt(Math.min(Math.abs(change) / largest, 1)) : 0;
    const full = change < 0 ? less : more;
    const part = isDimmed ? strength * 0.25 : strength;
    const mixed = same.map((from, i) => Math.round(from + (full[i] - from) * part));
    return `rgb(${mixed.join(' ')})`;
  }

  // Returns "+1.25 points", or "+1.5 ms".
  function textOf(change, {tab}) {
    if (!tab.isPerWindow) return `${points(change)} points`;
    if (change === 0) return '±0';
    return `${change < 0 ? '−' : '+'}${Controls.amount(Math.abs(change), tab)}`;
  }

  // Returns "+1.25" and the like.
  function points(change) {
    const size = Math.abs(change);
    const text = size.toFixed(size >= 10 ? 1 : size >= 0.1 || size === 0 ? 2 : 4);
    if (Number(text) === 0) return '±0';
    return `${change < 0 ? '−' : '+'}${text}`;
  }

  return {measure, compare, of, invisible, colour, points, textOf};
})();
