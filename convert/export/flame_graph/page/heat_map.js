// SPDX-License-Identifier: Apache-2.0
'use strict';

// A heat map of samples: each column is a second, each row a part of a second, and the brightness
// of a cell is the number of its samples. Nothing here knows the DOM.
const HeatMap = (() => {
  const ROWS = 50;
  const MOST_COLUMNS = 600;
  const LEAST_SECONDS = 2;

  // Whether a recording is long enough.
  function isUseful(time) {
    return time.length * time.unit >= LEAST_SECONDS * 1e9;
  }

  // Returns {counts, columns, seconds, largest}: `counts` by column and row; a column is as many
  // seconds as needed. `lanes` is a Set, or null for all but the idle task. Times of a view have no
  // numbers of samples: what is shown then is what ran.
  function of (time, event, lanes) {
    const isOfTimes = ['whole', 'path'].includes(time.kinds[event]);
    const tab = isOfTimes && time.onCpu >= 0 ? time.onCpu : event;
    const seconds = Math.max(Math.ceil((time.length * time.unit) / 1e9 / MOST_COLUMNS), 1);
    const perCell = (seconds * 1e9) / time.unit / ROWS;
    const columns = Math.floor(time.length / perCell / ROWS) + 1;
    const counts = new Float64Array(columns * ROWS);
    const add = (at, count) => (counts[Math.floor(at / perCell)] += count);
    const {isSample, tab: tabs, end} = time.intervals;
    const samples = time.samples[tab];
    for (const lane of time.lanes) {
      if (lanes === null ? lane.tid === 0 : !lanes.has(lane.index)) continue;
      for (let i = samples.begin[lane.index]; i < samples.begin[lane.index + 1]; ++i) {
        add(samples.time[i], samples.counts(i));
      }
      for (let i = lane.begin; i < lane.end; ++i) {
        if (isSample[i] !== 0 && tabs[i] === tab) add(end[i], 1);
      }
    }
    const largest = counts.reduce((a, b) => Math.max(a, b), 0);
    return {counts, columns, seconds, largest, perCell};
  }

  // Returns the time of a cell: {from, to}.
  function timeOf(map, cell) {
    return {from: Math.floor(cell * map.perCell), to: Math.ceil((cell + 1) * map.perCell)};
  }

  return {ROWS, isUseful, of, timeOf};
})();
