// SPDX-License-Identifier: Apache-2.0
'use strict';

// Which lanes are shown, in which row: processes of several threads have a row of their own, and
// can be folded into it. Windows of the critical path are in rows above the lanes of their threads.
// Nothing here knows the DOM.
const TimeRows = (() => {
  const MOST_UNFOLDED = 48;  // rows, at first
  const MOST_WINDOW_ROWS = 4;  // of a lane; further windows overlap in the last one

  // Returns {pid, name, lanes} of each process, in the order of the lanes.
  function processesOf({lanes}) {
    const processes = [];
    for (const lane of lanes) {
      const last = processes[processes.length - 1];
      if (last !== undefined && last.pid === lane.pid) last.lanes.push(lane);
      else processes.push({pid: lane.pid, name: '', lanes: [lane]});
    }
    for (const process of processes) {
      const main = process.lanes.find(({tid}) => tid === process.pid);
      process.name = (main || process.lanes[0]).comm;
    }
    return processes;
  }

  // Whether a process is shown at first. Of the recording of a command, those that only woke its
  // threads are not: nothing else is known of them.
  function isOfCommand({mainLane, hasIntervals, kinds, samples}, {lanes}) {
    if (mainLane < 0 || !hasIntervals) return true;
    const hasOf = ({index}) => samples.some(({begin}, tab) =>
      kinds[tab] !== 'wakeup' && begin[index] < begin[index + 1]);
    return lanes.some((lane) => lane.begin < lane.end || hasOf(lane));
  }

  // Returns the rows of windows by lane: arrays of windows that do not overlap, by time. Without a
  // name, windows are the lives of threads, which the lanes show.
  function windowRowsOf({name, shown}) {
    const rowsOf = new Map();
    for (const window of name === '' ? [] : shown) {
      if (!rowsOf.has(window.lane)) rowsOf.set(window.lane, []);
      const rows = rowsOf.get(window.lane);
      const row = rows.find((each) => each[each.length - 1].to <= window.from);
      if (row !== undefined)
        row.push(window);
      else if (rows.length < MOST_WINDOW_ROWS)
        rows.push([window]);
      else
        rows[MOST_WINDOW_ROWS - 1].push(window);
    }
    return rowsOf;
  }

  // Returns the processes that are folded at first: all large ones without windows behind the first
  // rows.
  function foldedAtFirst(processes, windowRows = new Map()) {
    const folded = new Set();
    let rows = 0;
    for (const process of processes) {
      const size = process.lanes.length + 1;
      const hasWindows = process.lanes.some(({index}) => windowRows.has(index));
      if (size > 2 && rows + size > MOST_UNFOLDED && !hasWindows) folded.add(process);
      rows += folded.has(process) ? 1 : size;
    }
    return folded;
  }

  // Returns the rows: {process, lane, windows}, with a lane of null for the row of a process.
  // `windows` are those of a row above a lane, else null.
  function rowsOf(processes, folded, windowRows = new Map()) {
    const rows = [];
    for (const process of processes) {
      if (process.lanes.length > 1) rows.push({process, lane: null, windows: null});
      if (process.lanes.length > 1 && folded.has(process)) continue;
      for (const lane of process.lanes) {
        for (const windows of windowRows.get(lane.index) || []) rows.push({process, lane, windows});
        rows.push({process, lane, windows: null});
      }
    }
    return rows;
  }

  return {processesOf, isOfCommand, windowRowsOf, foldedAtFirst, rowsOf};
})();
