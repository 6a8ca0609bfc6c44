// SPDX-License-Identifier: Apache-2.0
'use strict';

// Reads what happened over time (time_data.h), and finds the intervals and samples of a time.
// Nothing here knows the DOM. Times are whole numbers of a unit, since the start.
//
//   startNs, unit, length   nanoseconds of the start and of a unit; the whole time
//   shortest                intervals that are shorter were joined; 0 if none were
//   sampleTime              samples of a stack within such a time were added up; 0 if none were
//   kinds[tab]              one of KINDS
//   lanes                   {index, pid, tid, comm, parent, begin, end}: parent is the lane that
//                           started it, or -1; begin and end are those of its intervals
//   intervals               columns: start, end, state, tab, node, isSample, waker, woken (a time),
//                           shortWaits, timeouts. A node of 0 is none.
//   samples[tab]            columns: begin (by lane), time, node, counts, periods
//   markers                 {time, type, lane (or -1), text}, by time
//   windows                 {name, count, shown}: of the critical path; `shown` are {lane, from,
//   to}
//                           by `from`, `lane` is an index
const TimeData = (() => {
  const STATES = ['running', 'runnable', 'disk', 'lock', 'sleep', 'short waits', 'not recorded'];
  const KINDS = ['other', 'on CPU', 'wait', 'wakeup', 'happened', 'switch', 'whole', 'path'];
  const OF_TIME_BEFORE = ['wait', 'whole', 'path'];  // samples of these stand for the time before
  const MARKERS = ['fork', 'exec', 'comm', 'exit', 'loss', 'trigger'];
  // Who ended a wait, below FIRST_LANE; from there on, it is a lane.
  const WAKERS = ['', 'a thread that was not recorded', 'timer', 'network', 'disk', 'interrupt'];
  const FIRST_LANE = WAKERS.length;
  const RUNNING = 0;
  const NOT_RECORDED = 6;
  const [HAS_STACK, IS_SAMPLE, HAS_WAKER, HAS_SHORT_WAITS, HAS_TIMEOUTS] = [8, 16, 32, 64, 128];
  const BLOCK = 32;  // intervals, of whose states the sums are kept

  function fill(column, next) {
    for (let i = 0; i < column.length; ++i) column[i] = next(i);
    return column;
  }

  // A time or a difference of times.
  function timeOf(reader, most) {
    const time = reader.number();
    if (time > most) throw new Error('a time in the data of the page is too large');
    return time;
  }

  // `sizes[tab]` is the number of nodes in the tree of a tab, with its root.
  function readIntervals(reader, counts, starts, length, sizes) {
    const count = counts.reduce((sum, each) => sum + each, 0);
    const heads = fill(new Uint8Array(count), () => reader.index(256));
    const having = (bit, read) => (i) => (heads[i] & bit ? read(i) : 0);
    const intervals = {
      start: new Uint32Array(count),
      end: fill(new Uint32Array(count), () => timeOf(reader, length)),  // first their lengths
      state: fill(new Uint8Array(count), (i) => heads[i] & 7),
      isSample: fill(new Uint8Array(count), (i) => (heads[i] & IS_SAMPLE ? 1 : 0)),
    };
    if (intervals.state.some((state) => state >= STATES.length)) {
      throw new Error('a state in the data of the page is unknown');
    }
    intervals.tab = fill(new Uint16Array(count),
      having(HAS_STACK, () => reader.index(sizes.length)));
    intervals.node = fill(new Uint32Array(count),
      having(HAS_STACK, (i) => reader.index(sizes[intervals.tab[i]] - 1) + 1));
    intervals.waker = fill(new Uint32Array(count),
      having(HAS_WAKER, () => reader.index(FIRST_LANE + counts.length)));
    intervals.woken = fill(new Uint32Array(count),
      having(HAS_WAKER, () => timeOf(reader, length)));  // first the time before the end
    intervals.shortWaits = fill(new Uint32Array(count),
      having(HAS_SHORT_WAITS, () => timeOf(reader, length)));
    intervals.timeouts = fill(new Uint32Array(count),
      having(HAS_TIMEOUTS, () => timeOf(reader, length)));
    let at = 0;
    counts.forEach((each, lane) => {
      let time = starts[lane];
      for (const end = at + each; at < end; ++at) {
        intervals.start[at] = time;
        time += intervals.end[at];
        if (time > length) throw new Error('a time in the data of the page is too large');
        intervals.end[at] = time;
        if (heads[at] & HAS_WAKER) intervals.woken[at] = Math.max(time - intervals.woken[at], 0);
      }
    });
    return intervals;
  }

  // Returns a function that gives the number of a sample. `counts` gives the counts, for numbers
  // that are multiples of them.
  function readNumbers(reader, count, counts = () => 1) {
    const form = reader.index(3);
    if (form !== 1) {
      const all = reader.number();
      return form === 0 ? () => all : (i) => all * counts(i);
    }
    const column = fill(new Float64Array(count), () => reader.number());
    return (i) => column[i];
  }

  function readSamples(reader, laneCount, length, size) {
    const begin = new Uint32Array(laneCount + 1);
    for (let lane = 0; lane < laneCount; ++lane) begin[lane + 1] = begin[lane] + reader.count(2);
    const count = begin[laneCount];
    const samples = {begin, time: new Uint32Array(count)};
    for (let lane = 0; lane < laneCount; ++lane) {
      let time = 0;
      for (let i = begin[lane]; i < begin[lane + 1]; ++i) {
        time += timeOf(reader, length - time);
        samples.time[i] = time;
      }
    }
    samples.node = fill(new Uint32Array(count), () => reader.index(size - 1) + 1);
    samples.counts = readNumbers(reader, count);
    samples.periods = readNumbers(reader, count, samples.counts);
    return samples;
  }

  function readMarkers(reader, texts, laneCount, length) {
    const count = reader.count(4);
    let time = 0;
    const times = fill(new Float64Array(count), () => (time += timeOf(reader, length - time)));
    const types = fill(new Uint8Array(count), () => reader.index(MARKERS.length));
    const lanes = fill(new Int32Array(count), () => reader.index(laneCount + 1) - 1);
    return Array.from(times, (each, i) => ({
      time: each, type: MARKERS[types[i]], lane: lanes[i], text: texts[reader.index(texts.length)],
    }));
  }

  function readWindows(reader, texts, laneCount, length) {
    const name = texts[reader.index(texts.length)];
    const count = reader.number();
    const size = reader.count(3);
    const lanes = fill(new Uint32Array(size), () => reader.index(laneCount));
    let from = 0;
    const starts = fill(new Uint32Array(size), () => (from += timeOf(reader, length - from)));
    const shown = Array.from(
        starts,
        (start, i) => ({lane: lanes[i], from: start, to: start + timeOf(reader, length - start)}));
    return {name, count, shown};
  }

  // Returns null if the page has no times.
  function decode(reader, texts, tabs) {
    const laneCount = reader.count(5) - 1;
    if (laneCount < 0) return null;
    const [startNs, unit, length, shortest, sampleTime] =
      Array.from({length: 5}, () => reader.number());
    if (length >= 2 ** 32) throw new Error('a time in the data of the page is too large');
    const bits = reader.number();
    const mainLane = reader.index(laneCount + 1) - 1;
    const cpuWaits = {waited: reader.number(), notRecorded: reader.number()};
    const kinds = tabs.map(() => KINDS[reader.index(KINDS.length)]);
    const column = (read) => Array.from({length: laneCount}, read);
    const pids = column(() => reader.number());
    const tids = column(() => reader.number());
    const comms = column(() => texts[reader.index(texts.length)]);
    const starts = column(() => timeOf(reader, length));
    const parents = column(() => reader.index(laneCount + 1) - 1);
    const counts = column(() => reader.count(2));
    const sizes = tabs.map((tab) => tab.tree.depth.length);
    let intervals = readIntervals(reader, counts, starts, length, sizes);
    const samples = sizes.map((size) => readSamples(reader, laneCount, length, size));
    const markers = readMarkers(reader, texts, laneCount, length);
    const windows = readWindows(reader, texts, laneCount, length);
    const hasIntervals = (bits & 1) !== 0;
    if (!hasIntervals) {
      [intervals, counts.length] = [intervalsOfSamples(kinds, samples, laneCount), 0];
      counts.push(...intervals.counts);
    }
    let end = 0;
    const lanes = counts.map((count, index) => ({
      index, pid: pids[index], tid: tids[index], comm: comms[index], parent: parents[index],
      begin: end, end: end += count,
    }));
    const time = {
      startNs,
      unit,
      length,
      shortest,
      sampleTime,
      hasIntervals,
      hasAllWaits: (bits & 2) !== 0,
      hasWakeups: (bits & 4) !== 0,
      mainLane,
      cpuWaits,
      kinds,
      lanes,
      intervals,
      samples,
      markers,
      windows,
      onCpu: kinds.indexOf('on CPU'),
    };
    time.sums = sumsOf(time);
    samples.forEach((of, tab) => {
      if (OF_TIME_BEFORE.includes(kinds[tab])) of.longest = longestOf(of, unit);
    });
    return time;
  }

  // Without waits, what is known are the samples: each stands for the time before it, up to the
  // usual distance of samples.
  function intervalsOfSamples(kinds, samples, laneCount) {
    const found = {start: [], end: [], counts: new Array(laneCount).fill(0)};
    const tab = kinds.indexOf('on CPU');
    const of = samples[tab];
    const distance = tab < 0 ? 0 : usualDistance(of, laneCount);
    for (let lane = 0; tab >= 0 && lane < laneCount; ++lane) {
      let end = 0;  // of the interval before
      for (let i = of.begin[lane]; i < of.begin[lane + 1]; ++i) {
        const time = of.time[i];
        const isFirst = found.counts[lane] === 0;
        if (!isFirst && time - end <= distance * 1.5) {
          found.end[found.end.length - 1] = time;
        } else {
          found.start.push(Math.max(time - distance, end));
          found.end.push(time);
          ++found.counts[lane];
        }
        end = time;
      }
    }
    const count = found.start.length;
    const columns = {
      counts: found.counts, start: Uint32Array.from(found.start), end: Uint32Array.from(found.end),
      state: new Uint8Array(count), isSample: new Uint8Array(count), tab: new Uint16Array(count),
    };
    for (const name of ['node', 'waker', 'woken', 'shortWaits', 'timeouts']) {
      columns[name] = new Uint32Array(count);
    }
    return columns;
  }

  // The median distance of two samples of a lane, at least 1.
  function usualDistance(samples, laneCount) {
    const distances = [];
    const step = Math.max(Math.floor(samples.time.length / 20000), 1);
    for (let lane = 0; lane < laneCount; ++lane) {
      for (let i = samples.begin[lane] + 1; i < samples.begin[lane + 1]; i += step) {
        distances.push(samples.time[i] - samples.time[i - 1]);
      }
    }
    distances.sort((a, b) => a - b);
    return Math.max(distances[distances.length >> 1] || 1, 1);
  }

  // Returns the longest time that a sample stands for.
  function longestOf({time, periods}, unit) {
    let longest = 0;
    for (let i = 0; i < time.length; ++i) longest = Math.max(longest, periods(i) / unit);
    return longest;
  }

  // Returns for each lane the sums of its states before each block of intervals.
  function sumsOf({lanes, intervals}) {
    const {start, end, state} = intervals;
    return lanes.map((lane) => {
      const blocks = Math.ceil((lane.end - lane.begin) / BLOCK);
      const sums = new Float64Array((blocks + 1) * STATES.length);
      const sum = new Float64Array(STATES.length);
      for (let block = 0; block < blocks; ++block) {
        const first = lane.begin + block * BLOCK;
        const last = Math.min(first + BLOCK, lane.end);
        for (let i = first; i < last; ++i) sum[state[i]] += end[i] - start[i];
        sums.set(sum, (block + 1) * STATES.length);
      }
      return sums;
    });
  }

  // Returns the first index from `begin` to `end` whose number is above `value`; `end` if none is.
  function firstAbove(column, value, begin, end) {
    while (begin < end) {
      const middle = (begin + end) >>> 1;
      if (column[middle] > value) end = middle;
      else begin = middle + 1;
    }
    return begin;
  }

  // Returns the first interval of a lane that ends after a time; the lane's end if none does.
  function firstIntervalAfter(time, lane, at) {
    return firstAbove(time.intervals.end, at, lane.begin, lane.end);
  }

  // Returns the interval of a lane at a time, or -1.
  function intervalAt(time, lane, at) {
    const i = firstIntervalAfter(time, lane, at);
    return i < lane.end && time.intervals.start[i] <= at ? i : -1;
  }

  // Adds the time in each state from `from` to `to` to `totals`. `first` is the first interval that
  // ends after `from`. Takes as long for many intervals as for few.
  function addStates(time, lane, {first, from, to}, totals) {
    const {start, end, state} = time.intervals;
    const last = firstAbove(start, to - 1e-9, first, lane.end);  // the first one behind the range
    const edge = (i) => {
      totals[state[i]] += Math.min(end[i], to) - Math.max(start[i], from);
    };
    if (last - first <= 2 * BLOCK) {
      for (let i = first; i < last; ++i) edge(i);
      return;
    }
    const firstBlock = Math.ceil((first + 1 - lane.begin) / BLOCK);
    const lastBlock = Math.floor((last - 1 - lane.begin) / BLOCK);
    for (let i = first; i < lane.begin + firstBlock * BLOCK; ++i) edge(i);
    const sums = time.sums[lane.index];
    for (let each = 0; each < STATES.length; ++each) {
      totals[each] += sums[lastBlock * STATES.length + each] -
        sums[firstBlock * STATES.length + each];
    }
    for (let i = lane.begin + lastBlock * BLOCK; i < last; ++i) edge(i);
  }

  // Returns the range of a lane's samples of a tab after `from` and up to `to`, as [begin, end].
  // The first time of all belongs to the first range.
  function samplesIn(samples, lane, from, to) {
    const [begin, end] = [samples.begin[lane.index], samples.begin[lane.index + 1]];
    const first = firstAbove(samples.time, from === 0 ? -1 : from, begin, end);
    return [first, firstAbove(samples.time, to, first, end)];
  }

  // Returns {tab, node} of what a lane ran or waited for at a time, or null.
  function stackAt(time, lane, at) {
    const {intervals, onCpu} = time;
    const i = intervalAt(time, lane, at);
    if (i < 0) return null;
    if (intervals.node[i] !== 0) return {tab: intervals.tab[i], node: intervals.node[i]};
    if (intervals.state[i] !== RUNNING || onCpu < 0) return null;
    const samples = time.samples[onCpu];
    const [first, end] = samplesIn(samples, lane, intervals.start[i], intervals.end[i]);
    if (first === end) return null;
    const nearest = Math.min(firstAbove(samples.time, at - 1, first, end), end - 1);
    return {tab: onCpu, node: samples.node[nearest]};
  }

  // Returns the lane that ended a wait, or -1.
  function wakerLane(time, i) {
    return time.intervals.waker[i] >= FIRST_LANE ? time.intervals.waker[i] - FIRST_LANE : -1;
  }

  return {
    STATES,
    KINDS,
    OF_TIME_BEFORE,
    WAKERS,
    FIRST_LANE,
    RUNNING,
    NOT_RECORDED,
    decode,
    firstAbove,
    firstIntervalAfter,
    intervalAt,
    addStates,
    samplesIn,
    stackAt,
    wakerLane,
  };
})();
