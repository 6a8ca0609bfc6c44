// SPDX-License-Identifier: Apache-2.0
// Random recordings for path_test.mjs, as vectors of tests/convert/timeline/path_vectors.json.
// Times are often equal, wakers are often missing or wrong, and waits overlap.

// Returns a function that returns whole numbers from 0 to `sides` - 1: xorshift32.
function diceOf(seed) {
  let state = (seed * 0x9e3779b1) >>> 0 || 1;
  return (sides) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state % sides;
  };
}

class Recording {
  // Half of the times are multiples of `scale`.
  constructor(roll, threads, scale) {
    Object.assign(this, {roll, threads, scale});
    this.records = [];
    this.end = 40 * scale;
  }

  one(choices) { return choices[this.roll(choices.length)]; }
  chance(percent) { return this.roll(100) < percent; }
  time(most) {
    return this.roll(most) * this.scale + (this.chance(50) ? 0 : this.roll(this.scale));
  }

  addThreads() {
    for (const thread of this.threads) {
      if (this.chance(40)) this.addBirth(thread);
      this.addWaits(thread);
      for (let i = this.roll(12); i > 0; --i) this.addSample(thread);
      if (this.chance(30)) this.addShortWaits(thread);
      if (this.chance(20)) this.records.push({exit: thread, at: 1 + this.time(40)});
    }
  }

  addBirth(thread) {
    const parent = this.one([...this.threads, 'stranger']);
    this.records.push({thread: parent, starts: thread, at: 1 + this.time(20)});
  }

  addSample(thread) {
    this.records.push({thread, runs: [this.one(['f', 'g', 'h'])], at: 1 + this.time(40)});
  }

  addShortWaits(thread) {
    for (let i = this.roll(4); i > 0; --i) {
      this.records.push({thread, short: this.roll(4 * this.scale), at: 1 + this.time(40)});
    }
  }

  addWaits(thread) {
    let at = this.time(3);
    while (at < this.end) {
      const from = Math.max(at - (this.chance(5) ? this.time(3) : 0), 0);
      const to = from + 1 + this.time(8);
      const wait = this.one(['runnable', 'sleep', 'sleep', 'lock', 'disk']);
      const record = {thread, wait, from, to};
      if (wait === 'sleep' && this.chance(50)) record.in = [this.one(['loop', 'serve'])];
      this.records.push(record);
      if (wait !== 'runnable') this.addWakeup(record);
      at = to + (this.chance(30) ? 0 : this.time(6));
    }
  }

  addWakeup({thread, from, to}) {
    if (this.chance(15)) return;
    const waker = this.one([...this.threads, ...this.threads, 'idle', 'stranger']);
    const interrupts = ['timer', 'timer', 'network', 'disk', 'interrupt'];
    const by = this.chance(30) ? this.one(interrupts) : 'thread';
    const at = this.chance(20) ? this.one([from, to]) : Math.max(to - this.time(3), from);
    const since = this.chance(5) ? Math.max(from - this.time(3), 0) : from;
    if (at > 0) this.records.push({thread: waker, wakes: thread, at, since, by});
  }

  // What perf records of context switches, with wakeups.
  addSwitches() {
    for (const thread of this.threads) {
      this.addSample(thread);
      let at = 1 + this.time(3);
      while (at < this.end) {
        const to = at + 1 + this.time(8);
        const type = this.one(['out', 'out', 'preempted']);
        this.records.push({thread, switch: type, at});
        if (this.chance(95)) this.records.push({thread, switch: 'in', at: to});
        if (type === 'out' && this.chance(70)) this.addWakeup({thread, from: at, to});
        at = to + this.time(6);
      }
    }
  }

  // The scheduler's tracepoints of one CPU.
  addTracepoints() {
    for (const thread of this.threads) this.addSample(thread);
    let current = this.one(this.threads);
    for (let at = 1 + this.time(2); at < this.end; at += 1 + this.time(2)) {
      const next = this.one([...this.threads, 'idle']);
      if (this.chance(40)) {
        this.records.push({thread: current, waking: this.one(this.threads), at});
      } else if (next !== current) {
        const leaves = this.one(['preempted', 'sleep', 'sleep', 'disk']);
        this.records.push({thread: current, leaves, to: next, at});
        current = next;
      }
    }
  }

  walks() {
    return Array.from({length: 6}, () => {
      const [a, b] = [this.time(40), this.time(40)].sort((x, y) => x - y);
      return {thread: this.one(this.threads), from: a, to: b + 1};
    });
  }
}

// Returns a table with `count` random vectors, and with the stacks of `base`.
export function randomTable(base, {seed, count}) {
  const roll = diceOf(seed);
  const threads = Object.fromEntries(Array.from({length: 6}, (_, i) =>
    [`t${i}`, [i < 3 ? 10 : 20, 10 + i]]));
  const vectors = Array.from({length: count}, (_, i) => {
    const recording = new Recording(
      roll, Object.keys(threads).slice(0, 2 + roll(5)), [1, 10, 1000, 100000][roll(4)]);
    if (i % 8 === 6) recording.addSwitches();
    else if (i % 8 === 7) recording.addTracepoints();
    else recording.addThreads();
    const vector = {name: `random ${i}`, records: recording.records, walks: recording.walks()};
    if (recording.chance(20)) {
      vector.read = [recording.time(10), recording.end - recording.time(10)];
    }
    return vector;
  });
  return {...base, threads: {...base.threads, ...threads}, vectors};
}
