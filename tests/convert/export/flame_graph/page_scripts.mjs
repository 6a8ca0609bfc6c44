// SPDX-License-Identifier: Apache-2.0
// Loads the scripts of the page as a browser does, and makes data for them.
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const PAGE = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname),
  '../../../../convert/export/flame_graph/page');

// Returns the constants `names` that the scripts `files` define.
export function load(files, names) {
  const context = vm.createContext({TextDecoder, URLSearchParams, console});
  for (const file of files) {
    vm.runInContext(fs.readFileSync(path.join(PAGE, file), 'utf8'), context, {filename: file});
  }
  return vm.runInContext(`({${names.join(', ')}})`, context);
}

// `rows` are [depth, nanoseconds of new, of old]; the caption and the reasons are the first text.
function encodeComparison(rows) {
  if (rows === undefined) return [0];
  return numbers(1, rows.length, ...[0, 1, 2].flatMap((column) => rows.map((row) => row[column])),
    ...rows.map(() => 1));
}

export function numbers(...values) {
  const bytes = [];
  for (let value of values) {
    for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    bytes.push(value);
  }
  return bytes;
}

// Returns the data (page_data.h) of a page with one event. `nodes` are [depth, name, self] in
// preorder; depth 0 is a root. `types` has the types of names that are no user functions. `before`
// and `first` are columns.
// `others` are the other numbers, with columns for both sides of a pair, or one number by which all
// are multiplied. `comparison` are the rows of encodeComparison. `time` is the part of time_data.h,
// of encodeTime.
export function encode(nodes, {types = {}, scale = 1, before, first, others,
  isPerWindow = false, comparison, time = [0]} = {}) {
  const names = [...new Set(nodes.map(([, name]) => name))];
  const texts = ['', ...names, 'cycles', 'samples', 'nanoseconds'];
  const text = new TextEncoder().encode(texts.map((each) => `${each}\n`).join(''));
  const column = (value) => numbers(...names.map(value));
  const ups = nodes.map(([depth], i) => (i === 0 ? 0 : nodes[i - 1][0] + 1 - depth));
  return Uint8Array.from([
    ...numbers(6, text.length), ...text, ...numbers(0, names.length),
    ...column((name) => texts.indexOf(name)), ...column((name) => types[name] ?? 1),
    ...column(() => 0), ...column(() => 0), ...column(() => 0), ...column(() => 0),
    ...numbers(1, names.length + 1, names.length + 2, (before ? 1 : 0) + (first ? 2 : 0) +
      (others ? 4 : 0) + (isPerWindow ? 8 : 0), 0, scale),
    ...(before ? numbers(0, 1) : []),
    ...(others ? numbers(names.length + 3, typeof others === 'number' ? others : 0) : []),
    ...(Array.isArray(others) ? numbers(...others.map(() => 1)) : []),
    ...numbers(nodes.length),
    ...numbers(...ups), ...numbers(...nodes.map(([, name]) => names.indexOf(name))),
    ...numbers(...nodes.map(([, , self]) => self)), ...numbers(...nodes.map(() => 0)),
    ...numbers(...before ?? []),
    ...(Array.isArray(others) ? others.flatMap((each) => numbers(...each)) : []),
    ...numbers(...first ?? []), ...encodeComparison(comparison), ...time,
  ]);
}

const STATES = ['running', 'runnable', 'disk', 'lock', 'sleep', 'short waits', 'not recorded'];

// Returns the part of time_data.h. `kinds` are those of the events, as numbers. A lane is
//   {tid, start, parent, intervals, samples}
// with intervals {state, length, tab, node, isSample, waker, lag, shortWaits, timeouts}, of which
// only the first two are needed, and for each event, samples [time, node, count, period]. All lanes
// are of process 1, and have no name. Markers are [time, type, lane], by time. Windows are
// [lane, from, to], by `from`; their name is the text `windowName`, and `windowCount` may be more.
export function encodeTime({unit = 1, length, shortest = 0, bits = 7, main = 0, cpuWaits = [0, 0],
  kinds, lanes, markers = [], windows = [], windowName = 1, windowCount = windows.length}) {
  const intervals = lanes.flatMap((lane) => lane.intervals ?? []);
  const heads = intervals.map((each) => STATES.indexOf(each.state) +
    (each.node === undefined ? 0 : 8) + (each.isSample ? 16 : 0) + (each.waker ? 32 : 0) +
    (each.shortWaits ? 64 : 0) + (each.timeouts ? 128 : 0));
  const having = (bit, of) => intervals.filter((_, i) => (heads[i] & bit) !== 0).map(of);
  const deltas = (times) => times.map((time, i) => time - (times[i - 1] ?? 0));
  return numbers(
    lanes.length + 1, 5e12, unit, length, shortest, 0, bits, main, ...cpuWaits, ...kinds,
    ...lanes.map(() => 1), ...lanes.map(({tid}) => tid), ...lanes.map(() => 0),
    ...lanes.map(({start = 0}) => start), ...lanes.map(({parent = -1}) => parent + 1),
    ...lanes.map((lane) => (lane.intervals ?? []).length),
    ...heads, ...intervals.map((each) => each.length), ...having(8, ({tab = 0}) => tab),
    ...having(8, ({node}) => node), ...having(32, ({waker}) => waker),
    ...having(32, ({lag = 0}) => lag), ...having(64, ({shortWaits}) => shortWaits),
    ...having(128, ({timeouts}) => timeouts),
    ...kinds.flatMap((_, tab) => {
      const of = lanes.map((lane) => (lane.samples ?? [])[tab] ?? []);
      const all = of.flat();
      return [
        ...of.map((samples) => samples.length),
        ...of.flatMap((samples) => deltas(samples.map(([time]) => time))),
        ...all.map(([, node]) => node),
        0, all[0]?.[2] ?? 0, 1, ...all.map(([, , , period]) => period),
      ];
    }),
    markers.length, ...deltas(markers.map(([time]) => time)), ...markers.map(([, type]) => type),
    ...markers.map(([, , lane = -1]) => lane + 1), ...markers.map(() => 0),
    windowName, windowCount, windows.length, ...windows.map(([lane]) => lane),
    ...deltas(windows.map(([, from]) => from)), ...windows.map(([, from, to]) => to - from));
}
