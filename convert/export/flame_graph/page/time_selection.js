// SPDX-License-Identifier: Apache-2.0
'use strict';

// The flame graph of some time of some lanes. Nothing here knows the DOM.
const TimeSelection = (() => {
  // Returns the ranges of a range of time, and of a Set of lanes, or null for all.
  function rangesOf(time, {from, to, lanes}) {
    return time.lanes.filter(({index}) => lanes === null || lanes.has(index))
      .map(({index}) => ({lane: index, from, to}));
  }

  // Returns the numbers of the samples that end in each node of a tab's tree, and their periods. Of
  // a wait, what is in a range counts. `ranges` are {lane, from, to}.
  function numbersOf(time, tab, size, ranges) {
    const numbers = {counts: new Float64Array(size), periods: new Float64Array(size)};
    for (const range of ranges) {
      const lane = time.lanes[range.lane];
      if (time.hasIntervals) addIntervals(time, tab, lane, range, numbers);
      if (TimeData.OF_TIME_BEFORE.includes(time.kinds[tab]))
        addWaits(time, tab, lane, range, numbers);
      else addSamples(time, tab, lane, range, numbers);
    }
    return numbers;
  }

  function addIntervals(time, tab, lane, {from, to}, {counts, periods}) {
    const {start, end, isSample, tab: tabs, node} = time.intervals;
    for (let i = TimeData.firstIntervalAfter(time, lane, from); i < lane.end; ++i) {
      if (start[i] >= to) break;
      if (isSample[i] === 0 || tabs[i] !== tab) continue;
      counts[node[i]] += 1;
      periods[node[i]] += (Math.min(end[i], to) - Math.max(start[i], from)) * time.unit;
    }
  }

  function addSamples(time, tab, lane, {from, to}, {counts, periods}) {
    const samples = time.samples[tab];
    const [first, end] = TimeData.samplesIn(samples, lane, from, to);
    for (let i = first; i < end; ++i) {
      counts[samples.node[i]] += samples.counts(i);
      periods[samples.node[i]] += samples.periods(i);
    }
  }

  // Times that are no intervals: sums of short waits, waits that were joined, parts of a path.
  function addWaits(time, tab, lane, {from, to}, {counts, periods}) {
    const samples = time.samples[tab];
    const [first] = TimeData.samplesIn(samples, lane, from, to);
    for (let i = first; i < samples.begin[lane.index + 1]; ++i) {
      const [end, period] = [samples.time[i], samples.periods(i)];
      if (end - samples.longest >= to && end > to) break;
      const start = Math.max(end - period / time.unit, 0);
      const part = Math.min(end, to) - Math.max(start, from);
      const share = end > start ? Math.max(part, 0) / (end - start) : end > to ? 0 : 1;
      if (share === 0) continue;
      counts[samples.node[i]] += samples.counts(i);
      periods[samples.node[i]] += period * share;
    }
  }

  // Returns a tab like that of an event, with the numbers of the ranges.
  function tabOf(page, event, ranges) {
    const tab = page.tabs[event];
    const {counts, periods} = numbersOf(page.time, event, tab.tree.depth.length, ranges);
    const withNumbers = (of) => ({
      ...of, tree: FlameTree.withNumbers(of.tree, of.unit === 'samples' ? counts : periods),
    });
    const selected = withNumbers(tab);
    if (tab.others !== null) {
      selected.others = withNumbers(tab.others);
      selected.others.others = selected;
    }
    return selected;
  }

  return {rangesOf, numbersOf, tabOf};
})();
