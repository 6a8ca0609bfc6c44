// SPDX-License-Identifier: Apache-2.0
// The scripts of the view over time that need no DOM.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {encode, encodeTime, load} from './page_scripts.mjs';

const {
  FlameTree, TimeData, TimePath, TimeSelection, HeatMap, TimeRows, TimeTexts, TimeColours,
  TimeWindows,
} = load(
  ['names.js', 'time_data.js', 'tree.js', 'controls.js', 'time_path.js', 'time_selection.js',
    'heat_map.js', 'time_windows.js', 'time_rows.js', 'time_texts.js', 'time_colours.js'],
  ['FlameTree', 'TimeData', 'TimePath', 'TimeSelection', 'HeatMap', 'TimeRows', 'TimeTexts',
    'TimeColours', 'TimeWindows']);

// Arrays of the page's scripts have another prototype than ours.
function same(actual, expected, message) {
  assert.deepEqual(JSON.parse(JSON.stringify(actual)), expected, message);
}

// One tree is enough for all events of a test: main calls f and g.
const NODES = [[0, 'main', 1], [1, 'f', 2], [1, 'g', 3]];
const [ON_CPU, WAIT, PATH] = [1, 2, 7];  // kinds
const FIRST_LANE = 6;  // of wakers

function pageOf(time) {
  return FlameTree.decode(encode(NODES, {time: encodeTime({kinds: [ON_CPU], ...time})}));
}

const running = (length) => ({state: 'running', length});
const runnable = (length) => ({state: 'runnable', length});
const asleep = (length, waker, lag, state = 'sleep') => ({state, length, waker, lag, node: 1});

test('reads lanes, their intervals, samples and markers', () => {
  const {time} = pageOf({
    length: 100, unit: 1000,
    lanes: [
      {tid: 7, intervals: [running(30), asleep(70, FIRST_LANE + 1, 5)], samples: [[[10, 1, 1, 9]]]},
      {tid: 8, start: 20, intervals: [runnable(80)]},
    ],
    markers: [[5, 1, 0], [50, 4]],
  });
  same(time.lanes.map(({tid, begin, end}) => [tid, begin, end]), [[7, 0, 2], [8, 2, 3]]);
  same([...time.intervals.start], [0, 30, 20]);
  same([...time.intervals.end], [30, 100, 100]);
  assert.equal(time.intervals.woken[1], 95);
  assert.equal(TimeData.wakerLane(time, 1), 1);
  assert.equal(TimeData.wakerLane(time, 0), -1);
  assert.equal(time.intervals.node[1], 2, 'nodes count the root');
  same(time.markers.map(({time: at, type, lane}) => [at, type, lane]),
    [[5, 'exec', 0], [50, 'loss', -1]]);
  same(TimeData.stackAt(time, time.lanes[0], 5), {tab: 0, node: 2});
  same(TimeData.stackAt(time, time.lanes[0], 40), {tab: 0, node: 2});
  assert.equal(TimeData.stackAt(time, time.lanes[1], 40), null);
  assert.equal(TimeData.intervalAt(time, time.lanes[1], 10), -1, 'before its birth');
});

test('has no times without any', () => {
  assert.equal(FlameTree.decode(encode(NODES)).time, null);
});

test('refuses or reads times with any byte replaced, or cut', () => {
  const bytes = encode(NODES, {time: encodeTime({
    length: 300, kinds: [ON_CPU], markers: [[5, 1, 0]], lanes: [
      {tid: 7, intervals: [{...running(130), shortWaits: 3}, asleep(170, FIRST_LANE, 5)],
        samples: [[[10, 1, 1, 9], [20, 2, 1, 300]]]},
    ],
  })});
  const start = encode(NODES).length - 1;
  for (let at = start; at < bytes.length; ++at) {
    assert.throws(() => FlameTree.decode(bytes.subarray(0, at)), /data of the page/);
    for (const value of [0, 1, 8, 127, 255]) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = value;
      try {
        FlameTree.decode(damaged);
      } catch (error) {
        assert.match(error.message, /data of the page/, `byte ${at - start} = ${value}`);
      }
    }
  }
});

test('adds up states as if each interval was visited', () => {
  const states = ['running', 'sleep', 'runnable'];
  const intervals = Array.from({length: 500}, (_, i) =>
    ({state: states[(i * i) % 3], length: 1 + ((i * 7) % 5)}));
  const length = intervals.reduce((sum, each) => sum + each.length, 10);
  const {time} = pageOf({length, lanes: [{tid: 1, start: 10, intervals}]});
  const [lane] = time.lanes;
  const ranges = [[0, length], [10, 20], [400, 1401], [11.5, 900.25], [length - 3, length]];
  for (const [from, to] of ranges) {
    const expected = new Float64Array(7);
    for (let i = 0; i < 500; ++i) {
      const part = Math.min(time.intervals.end[i], to) - Math.max(time.intervals.start[i], from);
      if (part > 0) expected[time.intervals.state[i]] += part;
    }
    const totals = new Float64Array(7);
    const first = TimeData.firstIntervalAfter(time, lane, from);
    TimeData.addStates(time, lane, {first, from, to}, totals);
    same([...totals], [...expected], `${from}-${to}`);
  }
});

test('makes intervals of samples if there are no waits', () => {
  const at = (time) => [time, 1, 1, 10];
  const {time} = pageOf({
    length: 100, bits: 0, lanes: [{tid: 1, samples: [[10, 20, 30, 70, 80].map(at)]}],
  });
  same([...time.intervals.start], [0, 60]);
  same([...time.intervals.end], [30, 80]);
});

// Returns [reason, title, length] of the parts of the path of a lane. `samples` are
// [lane, time, title, period].
function partsOf(page, {to, samples = []}) {
  const parts = TimePath.partsOf(page.time, [TimePath.walk(page.time, 0, 0, to)], {
    name: (lane) => `lane ${lane}`,
    waitOf: () => '',
    titleOf: () => 'h',
    samplesOf: (step) => samples
      .filter(([lane, time]) => lane === step.lane && time > step.from && time <= step.to)
      .map(([, , title, period]) => [title, period]),
  });
  return parts.map(({reason, title, length}) => [reason, title, length]);
}

test('adds up the parts of a path by function', () => {
  const page = pageOf({length: 60, lanes: [
    {tid: 10, intervals: [running(20), asleep(40)]}]});
  same(partsOf(page, {to: 60, samples: [[0, 5, 'f', 3], [0, 20, 'g', 1]]}),
    [['sleep', 'h', 40], ['running', 'f', 15], ['running', 'g', 5]]);
});

test('divides the time of a thread on the CPU among all its samples', () => {
  const page = pageOf({length: 60, lanes: [
    {tid: 10, intervals: [running(10), asleep(20), running(30)]}]});
  same(partsOf(page, {to: 60, samples: [[0, 50, 'f', 3], [0, 60, 'g', 1]]}),
    [['running', 'f', 30], ['sleep', 'h', 20], ['running', 'g', 10]],
    'a step without samples is not a row without a function');
  same(partsOf(page, {to: 60}), [['running', '', 40], ['sleep', 'h', 20]]);
});

test('divides the time of what was waited for among the samples of those waits', () => {
  const page = pageOf({length: 60, lanes: [
    {tid: 10, intervals: [running(10), asleep(40, FIRST_LANE + 1), running(10)]},
    {tid: 11, intervals: [running(60)]},
  ]});
  same(partsOf(page, {to: 60, samples: [[0, 5, 'f', 1], [1, 5, 'f', 1], [1, 30, 'g', 1]]}),
    [['running', 'g', 40], ['running', 'f', 20]]);
});

test('does not count short waits as time on the CPU', () => {
  const page = pageOf({length: 40, lanes: [
    {tid: 10, intervals: [{...running(40), shortWaits: 8}]}]});
  same(partsOf(page, {to: 40, samples: [[0, 5, 'f', 1]]}),
    [['running', 'f', 32], ['short waits', '', 8]]);
  same(partsOf(page, {to: 20, samples: [[0, 5, 'f', 1]]}),
    [['running', 'f', 16], ['short waits', '', 4]]);
});

// Three windows: two of the first lane, of which the second one overlaps one of the other lane.
const WINDOWS = {
  length: 100, lanes: [
    {tid: 10, intervals: [running(20), asleep(40, FIRST_LANE + 1), running(40)]},
    {tid: 11, intervals: [running(100)]},
  ],
  windows: [[0, 5, 15], [1, 10, 90], [0, 50, 80]], windowCount: 12,
};

test('reads the windows of a critical path', () => {
  const {time: {windows}} = pageOf(WINDOWS);
  same(windows, {name: 'main', count: 12, shown: [
    {lane: 0, from: 5, to: 15}, {lane: 1, from: 10, to: 90}, {lane: 0, from: 50, to: 80},
  ]});
  assert.throws(() => pageOf({...WINDOWS, windows: [[2, 5, 15]]}), /data of the page/);
  assert.throws(() => pageOf({...WINDOWS, windows: [[0, 5, 101]]}), /data of the page/);
});

test('walks windows, the longest first, and cuts what is in a range', () => {
  const {time} = pageOf(WINDOWS);
  const walks = TimePath.walkAll(time, time.windows.shown);
  same(walks.map(({lane, from, to}) => [lane, from, to]), [[1, 10, 90], [0, 50, 80], [0, 5, 15]]);
  const cut = TimePath.cut(walks, 12, 55);
  same(cut.map(({lane, from, to, steps}) =>
    [lane, from, to, steps.map((step) => `${step.from}-${step.to} ${step.lane}`)]), [
    [1, 12, 55, ['12-55 1']], [0, 50, 55, ['50-55 1']], [0, 12, 15, ['12-15 0']],
  ]);
});

test('finds the longest window, the nearest one, and its neighbours', () => {
  const {shown} = pageOf(WINDOWS).time.windows;
  assert.equal(TimeWindows.longest(shown), shown[1]);
  assert.equal(TimeWindows.nearest(shown, 95), shown[1]);
  assert.equal(TimeWindows.nearest([shown[0], shown[2]], 30), shown[0]);
  assert.equal(TimeWindows.neighbour(shown, shown[0], 1), shown[2], 'of the same lane');
  assert.equal(TimeWindows.neighbour(shown, shown[0], -1), undefined);
});

test('has rows of windows that do not overlap', () => {
  const {time} = pageOf({...WINDOWS,
    windows: [[0, 0, 10], [0, 5, 15], [0, 10, 20], [0, 11, 12], [0, 11, 13], [0, 11, 14]]});
  const rows = TimeRows.windowRowsOf(time.windows);
  same([...rows].map(([lane, of]) => [lane, of.map((row) => row.map(({from}) => from))]),
    [[0, [[0, 10], [5], [11], [11, 11]]]]);
  const processes = TimeRows.processesOf(time);
  same(TimeRows.rowsOf(processes, new Set(), rows).map(({lane, windows}) =>
    [lane?.tid ?? 0, windows?.length ?? 0]),
  [[0, 0], [10, 2], [10, 1], [10, 1], [10, 2], [10, 0], [11, 0]]);
  assert.equal(TimeRows.windowRowsOf({...time.windows, name: ''}).size, 0, 'lives of threads');
});

// ---- what is selected ----

// Sums of the nodes main, f and g.
function selected(page, selection) {
  const ranges = TimeSelection.rangesOf(page.time, selection);
  const tab = TimeSelection.tabOf(page, 0, ranges);
  return [...tab.tree.self].slice(1);
}

test('selects samples by time and lane', () => {
  const at = (time, node) => [time, node, 1, 10];
  const page = pageOf({length: 40, bits: 0, lanes: [
    {tid: 1, samples: [[at(0, 0), at(10, 1), at(20, 1), at(30, 2)]]},
    {tid: 2, samples: [[at(20, 2)]]},
  ]});
  const all = {from: 0, to: 40, lanes: null};
  same(selected(page, all), [1, 2, 2]);
  same(selected(page, {...all, from: 10}), [0, 1, 2], 'a sample is of the time before');
  same(selected(page, {...all, to: 10}), [1, 1, 0]);
  same(selected(page, {...all, lanes: new Set([1])}), [0, 0, 1]);
  assert.equal(TimeSelection.tabOf(page, 0, []).tree.total[0], 0);
});

test('selects the parts of waits that are in the range', () => {
  const wait = (length, node) => ({state: 'sleep', length, node, isSample: true});
  const page = FlameTree.decode(encode(NODES, {others: [[1, 1, 1]], time: encodeTime({
    length: 100, unit: 10, kinds: [WAIT], lanes: [
      {tid: 1, intervals: [running(10), wait(40, 1), running(10), wait(40, 2)],
        samples: [[[90, 0, 1, 100]]]},
    ],
  })}));
  const periods = (from, to) => {
    const ranges = TimeSelection.rangesOf(page.time, {from, to, lanes: null});
    return [...TimeSelection.numbersOf(page.time, 0, 4, ranges).periods].slice(1);
  };
  same(periods(0, 100), [100, 400, 400]);
  same(periods(20, 70), [0, 300, 100]);
  same(periods(85, 100), [50, 0, 150], 'also of a wait without an interval');
});

test('selects parts of overlapping windows of a path', () => {
  const part = (time, node, period) => [time, node, 0, period];
  const page = pageOf({length: 100, kinds: [PATH], lanes: [
    {tid: 1, intervals: [running(100)],
      samples: [[part(20, 0, 15), part(60, 1, 20), part(90, 2, 80)]]},
  ]});
  const periods = (from, to) => {
    const ranges = TimeSelection.rangesOf(page.time, {from, to, lanes: null});
    return [...TimeSelection.numbersOf(page.time, 0, 4, ranges).periods].slice(1);
  };
  same(periods(0, 100), [15, 20, 80]);
  same(periods(0, 15), [10, 0, 5], 'the last one began before the second');
  same(periods(50, 70), [0, 10, 20]);
});

test('counts samples in parts of seconds', () => {
  const {time} = pageOf({length: 3000, unit: 1e6, bits: 0, lanes: [
    {tid: 1, samples: [[[30, 0, 1, 1], [35, 0, 1, 1], [1999, 0, 1, 1]]]},
    {tid: 0, samples: [[[5, 0, 1, 1]]]},
  ]});
  assert.ok(HeatMap.isUseful(time));
  const map = HeatMap.of(time, 0, null);
  assert.equal(map.columns, 4);
  same([map.counts[1], map.counts[99], map.largest], [2, 1, 2]);
  assert.equal(map.counts[0], 0, 'the idle task is left out');
  same({...HeatMap.timeOf(map, 51)}, {from: 1020, to: 1040});
  assert.equal(HeatMap.of(time, 0, new Set([1])).counts[0], 1);
});

test('folds large processes behind the first rows', () => {
  const lanes = [];
  for (let pid = 1; pid <= 4; ++pid) {
    for (let tid = 0; tid < 20; ++tid) lanes.push({index: lanes.length, pid, tid, comm: `c${tid}`});
  }
  lanes.push({index: 80, pid: 9, tid: 9, comm: 'alone'});
  const processes = TimeRows.processesOf({lanes});
  same(processes.map(({lanes: each}) => each.length), [20, 20, 20, 20, 1]);
  const folded = TimeRows.foldedAtFirst(processes);
  const rows = TimeRows.rowsOf(processes, folded);
  assert.equal(rows.length, 21 + 21 + 1 + 1 + 1);
  assert.equal(rows[rows.length - 1].lane.comm, 'alone');
});

test('tells state, waker and stack', () => {
  const page = pageOf({length: 100, unit: 1e6, lanes: [
    {tid: 1, intervals: [running(30), asleep(70, FIRST_LANE + 1, 5)]},
    {tid: 2, intervals: [running(100)]},
  ]});
  const pairs = new Map(TimeTexts.of(page, page.time.lanes[0], 50));
  assert.equal(pairs.get(''), 'f');
  assert.equal(pairs.get('State'), 'sleep, 70 ms');
  assert.equal(pairs.get('Woken by'), ' 2 of 1');
  assert.equal(pairs.get('Stack'), 'f\nmain');
  assert.equal(TimeTexts.selectionText(page.time, {from: 20, to: 40, lanes: null, path: -1}),
    '20 ms from 0.02000 s');
});

// WCAG 2.1: relative luminance, and contrast.
function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

for (const theme of ['light', 'dark']) test(`has texts that can be read: ${theme}`, () => {
  const {states, back, process, ink, soft, ...others} = TimeColours.of(theme);
  states.forEach(([colour, text, part], i) => {
    if (part >= 0.6) assert.ok(contrast(colour, text) >= 4.5, TimeData.STATES[i]);
  });
  assert.ok(contrast(others.window, others.windowInk) >= 4.5);
  for (const text of [ink, soft]) {
    assert.ok(contrast(text, back) >= 4.5 && contrast(text, process) >= 4.5, text);
  }
  for (const name of ['path', 'mark', 'loss', 'focus', 'edge']) {
    assert.ok(contrast(others[name], back) >= 3, name);
  }
});

test('shows no processes at first that only woke threads of the command', () => {
  const WAKEUP = 3;
  const lanes = [{tid: 1, intervals: [running(10)]}, {tid: 2, samples: [[[3, 1, 1, 1]]]}];
  const timeOf = (kind, main) => pageOf({kinds: [kind], length: 10, main, lanes}).time;
  const shown = (of) => of.lanes.map((lane) => TimeRows.isOfCommand(of, {lanes: [lane]}));
  same(shown(timeOf(WAKEUP, 1)), [true, false]);
  same(shown(timeOf(WAIT, 1)), [true, true], 'it waited');
  same(shown(timeOf(WAKEUP, 0)), [true, true], 'a recording of the system');
});

test('says how long programs that were not recorded ran', () => {
  const lanes = [{tid: 1, intervals: [running(10)]}];
  assert.equal(TimeTexts.cpuWaitsText(pageOf({length: 10, lanes}).time), '');
  const {time} = pageOf({length: 10, unit: 1e6, cpuWaits: [9, 7], lanes});
  assert.match(TimeTexts.cpuWaitsText(time), /Of the 9 ms that .* not recorded ran 7 ms there/);
});
