// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the page tells about a lane at a time, as pairs of a label and a text. The first pair has no
// label: it is the name. Nothing here knows the DOM.
const TimeTexts = (() => {
  const MOST_FRAMES = 12;
  const UNKNOWN = 2 ** 32 - 1;  // a pid or tid

  function duration(time, units) {
    return Controls.nanoseconds(units * time.unit);
  }

  // Returns a time since the start, in seconds. A range of `range` units needs so many digits.
  function clock(time, at, range = 0) {
    const seconds = (range * time.unit) / 1e9;
    const digits = seconds > 0 ? Math.min(Math.max(3 - Math.floor(Math.log10(seconds)), 0), 9) : 6;
    return `${((at * time.unit) / 1e9).toFixed(digits)} s`;
  }

  // Returns the text of a pid or a tid.
  function idText(id) {
    return id === UNKNOWN ? '?' : String(id);
  }

  function laneName({comm, tid, pid}) {
    const of = pid === tid ? '' : ` of ${idText(pid)}`;
    return `${comm} ${idText(tid)}${of}`;
  }

  // Where threads wait and run for any program.
  const COMMON = /^(\[vdso\]|lib(c|pthread|stdc\+\+|gcc_s)[.-].*|ld[.-].*)$/;

  // Returns the functions of a stack, innermost first, without the thread: {name, rank}. The rank
  // is 0 for those of the program, 1 for those of common libraries, 2 for those of the kernel.
  function functionsOf(page, {tab, node}) {
    const {tree} = page.tabs[tab];
    const {frames, texts} = page;
    const functions = [];
    for (let i = node; i > 0; i = tree.parent[i]) {
      const frame = tree.frame[i];
      const type = FlameTree.TYPES[frames.type[frame]];
      if (type === 'thread') continue;
      const name = texts[frames.name[frame]];
      const binary = texts[frames.dso[frame]].split('/').pop();
      const isCommon = COMMON.test(binary) || name.startsWith('[');
      functions.push({name, rank: type === 'kernel' ? 2 : isCommon ? 1 : 0});
    }
    return functions;
  }

  // Returns the function that tells most about a stack: the innermost one, of the program for what
  // waits in the kernel.
  function titleOf(page, stack, isOfProgram = page.time.kinds[stack?.tab] !== 'on CPU') {
    if (stack === null) return '';
    const functions = functionsOf(page, stack);
    if (functions.length === 0) return '';
    if (!isOfProgram) return functions[0].name;
    const best = Math.min(...functions.map(({rank}) => rank));
    return functions.find(({rank}) => rank === best).name;
  }

  function stackText(page, stack) {
    const names = functionsOf(page, stack).map(({name}) => name);
    const rest = names.length - MOST_FRAMES;
    return names.slice(0, MOST_FRAMES).concat(rest > 0 ? [`${rest} more`] : []).join('\n');
  }

  // Returns the stack of a wakeup, or null: the sample of the waker at that time.
  function stackOfWakeup(time, lane, at) {
    const tab = time.kinds.indexOf('wakeup');
    if (tab < 0) return null;
    const samples = time.samples[tab];
    const [first, end] = TimeData.samplesIn(samples, lane, at - 1, at);
    return first === end ? null : {tab, node: samples.node[first]};
  }

  // Returns who ended the wait in interval i; '' if nobody did.
  function wakerText(page, i) {
    const {time} = page;
    const {waker, woken} = time.intervals;
    if (waker[i] === 0) return '';
    const lane = TimeData.wakerLane(time, i);
    if (lane < 0) return TimeData.WAKERS[waker[i]];
    const title = titleOf(page, stackOfWakeup(time, time.lanes[lane], woken[i]));
    return laneName(time.lanes[lane]) + (title === '' ? '' : `, in ${title}`);
  }

  // Returns what is told about a lane at a time.
  function of(page, lane, at) {
    const {time} = page;
    const i = TimeData.intervalAt(time, lane, at);
    const stack = TimeData.stackAt(time, lane, at);
    const title = titleOf(page, stack);
    const pairs = [['', title === '' ? laneName(lane) : title]];
    if (i >= 0) pairs.push(...ofInterval(time, i));
    else pairs.push(['State', time.hasIntervals ? 'does not exist' : 'no samples']);
    pairs.push(['At', clock(time, at)]);
    if (title !== '') pairs.push(['Thread', laneName(lane)]);
    const waker = i < 0 ? '' : wakerText(page, i);
    if (waker !== '') pairs.push(['Woken by', waker]);
    if (stack !== null) pairs.push(['Stack', stackText(page, stack)]);
    return pairs;
  }

  function ofInterval(time, i) {
    const {start, end, state, shortWaits} = time.intervals;
    const pairs = [['State', `${TimeData.STATES[state[i]]}, ${duration(time, end[i] - start[i])}`]];
    if (shortWaits[i] > 0) pairs.push(['Short waits', `${duration(time, shortWaits[i])} of it`]);
    return pairs;
  }

  // Returns who used the CPUs that threads waited for, as far as that was not recorded.
  function cpuWaitsText(time) {
    const {waited, notRecorded} = time.cpuWaits;
    if (notRecorded === 0) return '';
    return `Of the ${duration(time, waited)} that all threads waited for a CPU, programs that ` +
      `were not recorded ran ${duration(time, notRecorded)} there (perftape-record -a shows them)`;
  }

  // Returns the text of a marker.
  function markerText(time, marker) {
    const at = clock(time, marker.time);
    if (marker.type === 'loss') return `${marker.text} records lost until ${at}`;
    if (marker.type === 'trigger') return `the recording ended: ${marker.text}`;
    const name = marker.text === '' ? '' : ` ${marker.text}`;
    const what = {comm: 'renamed to', exec: 'exec of', fork: 'began', exit: 'ended'}[marker.type];
    return `${what}${name} at ${at}`;
  }

  // Returns what is told about a window.
  function ofWindow({time}, window) {
    const {name, shown} = time.windows;
    const {lane, from, to} = window;
    return [
      ['', name], ['Length', duration(time, to - from)], ['Thread', laneName(time.lanes[lane])],
      ['At', clock(time, from)],
      ['Window', `${shown.indexOf(window) + 1} of ${shown.length}, by time`]
    ];
  }

  // Returns what is selected: "1.2 s from 0.5 s, 2 threads".
  function selectionText(time, {from, to, lanes, path}) {
    const isWhole = from === 0 && to === time.length;
    const range = isWhole ? 'all the time'
      : `${duration(time, to - from)} from ${clock(time, from, to - from)}`;
    if (path >= 0) return `${range}, path of ${laneName(time.lanes[path])}`;
    if (lanes === null) return range;
    if (lanes.size === 1) return `${range}, ${laneName(time.lanes[[...lanes][0]])}`;
    return `${range}, ${lanes.size} threads`;
  }

  return {
    duration,
    clock,
    idText,
    laneName,
    titleOf,
    of,
    ofWindow,
    cpuWaitsText,
    markerText,
    selectionText,
    wakerText,
    functionsOf,
  };
})();
