// SPDX-License-Identifier: Apache-2.0
'use strict';

// The critical path of a range of time of a lane, as convert/timeline/critical_path.h has it:
// backwards from its end; where the lane waited for another one, on through that one. Both walks
// must agree with tests/convert/timeline/path_vectors.json. Nothing here knows the DOM.
const TimePath = (() => {
  const REASONS = [
    'running', 'runnable', 'short waits', 'timer', 'network', 'disk', 'interrupt', 'lock', 'sleep',
    'not recorded',
  ];
  const UNEXPLAINED = ['lock', 'sleep', 'not recorded'];
  const [RUNNING, RUNNABLE, DISK, LOCK, SLEEP] = [0, 1, 2, 3, 4];  // states
  const UNKNOWN_WAKER = 1;
  const MOST_AT_ONE_TIME = 16;  // handovers; in a damaged recording, threads can wake each other

  class Walk {
    constructor(time) {
      this.time = time;
      this.steps = [];
      this.waiting = [];  // lanes until the walk is back at the start of their waits
      this.handover = -1;
      this.handovers = [];
      this.handoversHere = 0;  // at the time of the last one
    }

    run(lane, from, to) {
      [this.lane, this.floor, this.at] = [lane, from, to];
      for (;;) {
        while (this.at > this.floor) this.stepBack();
        if (this.waiting.length === 0) break;
        ({lane: this.lane, floor: this.floor, handover: this.handover} = this.waiting.pop());
      }
      return {steps: this.steps.reverse(), handovers: this.handovers, from, to, lane};
    }

    emit(from, reason, interval = -1) {
      const {lane, at, handover} = this;
      this.steps.push({from, to: at, lane, reason, interval, handover});
      this.at = from;
    }

    // Adds what the lane did last before this.at.
    stepBack() {
      const {time, floor} = this;
      const lane = time.lanes[this.lane];
      const {start, state} = time.intervals;
      const i = TimeData.intervalAt(time, lane, this.at - 1);
      if (i < 0) {
        this.stepOutOfLife(lane);
        return;
      }
      const from = Math.max(start[i], floor);
      if (state[i] === RUNNING || state[i] === RUNNABLE) {
        this.emit(from, REASONS[state[i]], i);
      } else if ([DISK, LOCK, SLEEP].includes(state[i])) {
        this.stepOverWait(i, from);
      } else {
        this.emit(from, 'not recorded', i);
      }
    }

    // Before the birth of a lane, its parent ran.
    stepOutOfLife(lane) {
      const {lanes, intervals: {start, end}} = this.time;
      const startOf = (each) => (each.end > each.begin ? start[each.begin] : Infinity);
      const life = lane.end > lane.begin ? end[lane.end - 1] : 0;
      if (this.at > life) {
        this.emit(Math.max(this.floor, life), 'not recorded');
      } else if (this.at <= startOf(lane) && this.canGoTo(lane.parent) &&
          startOf(lanes[lane.parent]) < this.at) {
        this.goTo(lane.parent, -1, this.floor);
      } else {
        this.emit(this.floor, 'not recorded');
      }
    }

    canGoTo(other) {
      const last = this.handovers[this.handovers.length - 1];
      return other >= 0 && (last?.at !== this.at || this.handoversHere < MOST_AT_ONE_TIME);
    }

    // Goes on with another lane, back to `floor`. Without an interval, it started this one.
    goTo(other, interval, floor) {
      const {lane, at, handover} = this;
      this.handoversHere = this.handovers[this.handovers.length - 1]?.at === at ?
        this.handoversHere + 1 : 1;
      this.waiting.push({lane, floor: this.floor, handover});
      this.handovers.push({outer: handover, lane, interval, waker: other, at});
      this.handover = this.handovers.length - 1;
      this.lane = other;
      this.floor = floor;
    }

    stepOverWait(i, from) {
      const {start, state, waker, woken, timeouts} = this.time.intervals;
      const name = TimeData.STATES[state[i]];
      if (waker[i] === 0 || woken[i] > this.at || woken[i] <= from) {
        this.emit(from, name, i);
        return;
      }
      if (woken[i] < this.at) this.emit(woken[i], 'runnable', i);
      const other = TimeData.wakerLane(this.time, i);
      if (waker[i] === UNKNOWN_WAKER) {
        this.emit(from, name, i);
      } else if (other < 0 || other === this.lane) {
        const reason = other < 0 ? TimeData.WAKERS[waker[i]] : 'interrupt';
        this.emit(from, state[i] === DISK ? 'disk' : reason, i);
      } else if (!this.canGoTo(other)) {
        this.emit(from, name, i);
      } else {
        this.goTo(other, i, Math.max(start[i] - timeouts[i], this.floor));
      }
    }
  }

  const MOST_STEPS = 500000;  // of several windows

  // Returns {steps, handovers, from, to, lane}. Steps cover the range without gaps, by time:
  // {from, to, lane, reason, interval, handover}. Handovers are waits that other lanes ended, and,
  // with an interval of -1, starts of lanes by others: {outer, lane, interval, waker, at}.
  function walk(time, lane, from, to) {
    return new Walk(time).run(lane, from, to);
  }

  // Walks windows {lane, from, to}, the longest first. Returns their walks, fewer if they have too
  // many steps.
  function walkAll(time, windows) {
    const walks = [];
    let steps = 0;
    for (const {lane, from, to} of [...windows].sort((a, b) => b.to - b.from - a.to + a.from)) {
      if (steps > MOST_STEPS) break;
      walks.push(walk(time, lane, from, to));
      steps += walks[walks.length - 1].steps.length;
    }
    return walks;
  }

  // Returns what walks have in a range of time.
  function cut(walks, from, to) {
    return walks.filter((one) => one.to > from && one.from < to)
        .map((one) => ({
               ...one,
               from: Math.max(one.from, from),
               to: Math.min(one.to, to),
               steps: one.steps.filter((step) => step.to > from && step.from < to)
                          .map((step) => ({
                                 ...step,
                                 from: Math.max(step.from, from),
                                 to: Math.min(step.to, to)
                               })),
             }));
  }

  // Returns the steps of one lane and reason that follow each other as one:
  // {from, to, lane, reason, interval}, with the interval of the first of them.
  function hopsOf({steps}) {
    const hops = [];
    for (const {from, to, lane, reason, interval} of steps) {
      const last = hops[hops.length - 1];
      if (last !== undefined && last.lane === lane && last.reason === reason) last.to = to;
      else hops.push({from, to, lane, reason, interval});
    }
    return hops;
  }

  // Calls `add(step, part, title, length)` for the parts of the running steps of one lane with the
  // same handovers: the time on the CPU is divided among all their samples, by their periods.
  function addRunning(steps, texts, add) {
    const lengths = steps.map((step) => step.to - step.from - step.shortWaits);
    const sum = lengths.reduce((all, each) => all + each, 0);
    const titles = new Map();
    for (const step of steps) {
      for (const [title, weight] of texts.samplesOf(step)) {
        const of = titles.get(title) ?? {weight: 0, longest: step};
        of.weight += weight;
        if (step.to - step.from > of.longest.to - of.longest.from) of.longest = step;
        titles.set(title, of);
      }
    }
    const weights = [...titles.values()].reduce((all, {weight}) => all + weight, 0);
    if (weights === 0) {
      steps.forEach((step, i) => add(step, 'running', '', lengths[i]));
      return;
    }
    for (const [title, {weight, longest}] of titles) {
      add(longest, 'running', title, (sum * weight) / weights);
    }
  }

  // Returns texts that are equal for handovers through threads of the same names and waits.
  function branchesOf(handovers, texts) {
    const branches = [];
    for (const {outer, interval, waker} of handovers) {
      branches.push(JSON.stringify(
        [branches[outer] ?? '', interval < 0 ? null : texts.waitOf(interval), texts.name(waker)]));
    }
    return branches;
  }

  // Returns the parts of walks, the largest first: {name, reason, title, length, longest}, with the
  // longest of their steps. It is the sum of `PathProfile` (critical_path.cc). `texts` has
  //   name(lane)       of a thread
  //   waitOf(interval) what tells the stack of a wait from others
  //   titleOf(step)    the function of a wait, or ''
  //   samplesOf(step)  of a running step: pairs of title and period
  function partsOf(time, walks, texts) {
    const parts = new Map();
    const add = (step, reason, title, length) => {
      if (length <= 0) return;
      const name = texts.name(step.lane);
      const key = JSON.stringify([name, reason, title]);
      const part = parts.get(key) ?? {name, reason, title, length: 0, longest: step};
      part.length += length;
      if (step.to - step.from > part.longest.to - part.longest.from) part.longest = step;
      parts.set(key, part);
    };
    const running = new Map();
    for (const {lane, steps, handovers} of walks) {
      const branches = branchesOf(handovers, texts);
      for (const step of steps) {
        if (step.reason !== 'running') {
          add(step, step.reason, texts.titleOf(step), step.to - step.from);
          continue;
        }
        const shortWaits = shortWaitsIn(time, step);
        add(step, 'short waits', '', shortWaits);
        const key = JSON.stringify([lane, branches[step.handover] ?? '', step.lane]);
        if (!running.has(key)) running.set(key, []);
        running.get(key).push({...step, shortWaits});
      }
    }
    for (const steps of running.values()) addRunning(steps, texts, add);
    return [...parts.values()].sort((a, b) => b.length - a.length);
  }

  // Returns the short waits of an interval, as far as it is in the step.
  function shortWaitsIn({intervals: {start, end, shortWaits}}, {from, to, interval: i}) {
    if (i < 0) return 0;
    return Math.floor((shortWaits[i] * (to - from)) / Math.max(end[i] - start[i], 1));
  }

  // Returns how much of the path has a reason that says what happened.
  function explainedIn({steps}) {
    return steps.filter(({reason}) => !UNEXPLAINED.includes(reason))
      .reduce((sum, {from, to}) => sum + to - from, 0);
  }

  return {walk, walkAll, cut, hopsOf, partsOf, shortWaitsIn, explainedIn};
})();
