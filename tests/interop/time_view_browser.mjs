// SPDX-License-Identifier: Apache-2.0
// What a person does with the view over time of a page, in Chromium. flame_graph_test.py makes the
// pages: why.html is of a main thread and of two threads of a pool, to which it gives jobs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {choose, fragment, open, page, press, screenshot, setting, textOf} from './browser_page.mjs';

const shown = () => page.evaluate(() => {
  const {from, to, time} = Page.application.times.view;
  return {from, to, length: time.length};
});
const drawn = () => page.evaluate(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(done));
}));

// Returns where a lane is at a part of the time that is shown, in the window. `lane` is an index.
function placeOf(lane, part) {
  return page.evaluate(([index, of]) => {
    const {view} = Page.application.times;
    const bounds = view.canvas.getBoundingClientRect();
    return {
      x: bounds.left + view.left + TimeView.GAP + view.plot * of, name: bounds.left + 40,
      y: bounds.top + view.yOf(view.rowOfLane.get(index)) + TimeView.ROW / 2,
      axis: bounds.top + 10,
    };
  }, [lane, part]);
}

// Returns the first interval of a lane that another lane ended, longer than 5 ms: {lane, part}.
const waitWithWaker = () => page.evaluate(() => {
  const {time, from, to} = Page.application.times.view;
  const {start, end} = time.intervals;
  for (const lane of time.lanes) {
    for (let i = lane.begin; i < lane.end; ++i) {
      if (TimeData.wakerLane(time, i) < 0 || (end[i] - start[i]) * time.unit < 5e6) continue;
      return {
        lane: lane.index, waker: TimeData.wakerLane(time, i),
        part: ((start[i] + end[i]) / 2 - from) / (to - from),
      };
    }
  }
  return null;
});

test('shows threads over time beside the flame graph, if there are waits', async () => {
  await open('why.html');
  assert.ok(await page.isVisible('#lanes') && await page.isVisible('#graph'));
  assert.deepEqual(await page.locator('#states li').allTextContents(),
    ['running', 'runnable', 'sleep', 'not recorded']);
  await screenshot('time-load');
  await press('#show-time');
  assert.ok(await page.isVisible('#lanes') && !await page.isVisible('#graph'));
  assert.equal(await fragment(), '#show=time');
  await open('recording.html');
  assert.ok(!await page.isVisible('#lanes') && await page.isVisible('#graph'));
  await page.keyboard.press('l');
  assert.deepEqual(await page.locator('#states li').allTextContents(), ['samples', 'event']);
  await screenshot('time-samples');
});

test('has no such view without times', async () => {
  for (const name of ['server.html', 'diff.html', 'never.html', 'against.html']) {
    await open(name);
    assert.ok(!await page.isVisible('#shows'), name);
    await page.keyboard.press('l');
    assert.ok(await page.isVisible('#graph'), name);
  }
});

test('tells state, stack and waker under the pointer', async () => {
  await open('why.html');
  const {lane, part} = await waitWithWaker();
  const {x, y} = await placeOf(lane, part);
  await page.mouse.move(x, y);
  const tip = await textOf('#tip');
  assert.match(tip, /State(sleep|lock), [\d.]+ ms/);
  assert.match(tip, /Woken byknown_path \d+/);
  assert.match(tip, /Stack.*futex/s);
  await screenshot('time-hover');
});

test('zooms and pans by wheel, drag and keys', async () => {
  await open('why.html');
  const {length} = await shown();
  const {x, y, axis} = await placeOf(0, 0.5);
  await page.mouse.move(x, y);
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await page.waitForFunction((whole) => {
    const {from, to} = Page.application.times.view;
    return to - from < whole * 0.6;
  }, length);
  const zoomed = await shown();
  assert.ok(Math.abs((zoomed.from + zoomed.to) / length - 1) < 0.02, 'the middle stays');
  await page.mouse.move(x, axis);
  await page.keyboard.down('Shift');
  await page.mouse.down();
  await page.mouse.move(x - 50, axis);
  await page.mouse.move(x - 100, axis);
  await page.mouse.up();
  await page.keyboard.up('Shift');
  assert.ok((await shown()).from > zoomed.from);
  await page.focus('#lanes');
  await page.keyboard.press('Home');
  assert.equal((await shown()).from, 0);
  await page.keyboard.press('End');
  assert.equal((await shown()).to, length);
  const {from} = await shown();
  await page.keyboard.press('ArrowLeft');
  assert.ok((await shown()).from < from);
  await page.waitForFunction(() => {
    const {from: first, to: last} = Page.application.times.view;
    return location.hash.includes(`span=${Math.floor(first)}-${Math.ceil(last)}`);
  });
  const link = await fragment();
  const before = await shown();
  await open('why.html', link);
  const again = await shown();
  assert.ok(Math.abs(again.from - before.from) <= 1 && Math.abs(again.to - before.to) <= 1);
  await page.focus('#lanes');
  await page.keyboard.press('0');
  assert.deepEqual(await shown(), {from: 0, to: length, length});
});

test('selects a range by a drag on the ruler', async () => {
  await open('why.html');
  const {x, axis} = await placeOf(0, 0.5);
  await page.mouse.move(x, axis);
  await page.mouse.down();
  await page.mouse.move(x + 40, axis);
  await page.mouse.move(x + 80, axis);
  await page.mouse.up();
  assert.match(await fragment(), /from=\d+&to=\d+/);
  assert.match(await textOf('#total'), /^selected: /);
});

test('pans and zooms by touch', async () => {
  await open('why.html');
  await press('#time-in');
  const {x, y} = await placeOf(1, 0.5);
  const session = await page.context().newCDPSession(page);
  const touch = (type, ...xs) => session.send('Input.dispatchTouchEvent',
    {type, touchPoints: xs.map((each, id) => ({x: each, y, id}))});
  const before = await shown();
  await touch('touchStart', x);
  for (const step of [30, 60, 90]) await touch('touchMove', x - step);
  await touch('touchEnd');
  assert.ok((await shown()).from > before.from);
  const panned = await shown();
  await touch('touchStart', x - 50, x + 50);
  for (const step of [60, 80, 100]) await touch('touchMove', x - step, x + step);
  await touch('touchEnd');
  const pinched = await shown();
  assert.ok(pinched.to - pinched.from < (panned.to - panned.from) * 0.7);
});

test('jumps from a wait to its waker, and back', async () => {
  await open('why.html');
  const {lane, waker, part} = await waitWithWaker();
  const {x, y} = await placeOf(lane, part);
  await page.mouse.click(x, y);
  const focus = () => page.evaluate(() => Page.application.times.view.focus.lane.index);
  assert.equal(await focus(), waker);
  assert.match(await textOf('#selected'), /State: running/);
  await drawn();
  await screenshot('time-jump');
  await page.keyboard.press('b');
  assert.equal(await focus(), lane);
});

test('shows the flame graph and the table of what is selected', async () => {
  await open('why.html');
  await page.keyboard.press('t');
  const all = Number((await textOf('#total')).match(/^([\d,]+) samples/)[1]);
  const [begin, end] = [await placeOf(0, 0.25), await placeOf(0, 0.5)];
  await page.mouse.move(begin.x, begin.y);
  await page.mouse.down();
  await page.mouse.move(end.x - 20, end.y);
  await page.mouse.move(end.x, end.y);
  await page.mouse.up();
  const expected = await page.evaluate(([first, last]) => {
    const {time} = Page.application.page;
    const {from, to} = Page.application.times.selection;
    const part = [from / time.length, to / time.length];
    const samples = time.samples[time.onCpu];
    return {
      isNear: Math.abs(part[0] - first) < 0.01 && Math.abs(part[1] - last) < 0.01,
      count: samples.time.filter((at) => at > from && at <= to).length,
    };
  }, [0.25, 0.5]);
  assert.ok(expected.isNear);
  const total = await textOf('#total');
  assert.ok(total.startsWith(`selected: ${expected.count} samples, `), total);
  assert.ok(expected.count < all / 2 && expected.count > 0);
  assert.match(await textOf('#rows'), /run_job/);
  assert.match(await textOf('#time-range'), /^Selected: [\d.]+ ms from 0\.\d+ s/);
  await drawn();
  await screenshot('time-selected');
  const link = await fragment();
  await open('why.html', link);
  assert.equal(await textOf('#total'), total);
  await page.focus('#lanes');
  await page.keyboard.press('Escape');
  assert.ok((await textOf('#total')).startsWith(`${all} samples`));
});

test('selects threads by their names', async () => {
  await open('why.html');
  const {name, y} = await placeOf(2, 0);
  await page.mouse.click(name, y);
  await page.keyboard.press('t');
  assert.doesNotMatch(await textOf('#rows'), /run_job/, 'only the main thread');
  assert.match(await textOf('#rows'), /use_result/);
  const worker = await placeOf(0, 0);
  await page.keyboard.down('Control');
  await page.mouse.click(worker.name, worker.y);
  await page.keyboard.up('Control');
  assert.match(await textOf('#rows'), /run_job/);
  assert.match(await textOf('#time-range'), /2 threads/);
});

test('walks the critical path as perftape-report does', async () => {
  const {path: expected} = JSON.parse(fs.readFileSync(path.join(setting.pages, 'why.json')));
  await open('why.html');
  const main = await placeOf(2, 0.4);
  await page.mouse.click(main.x, main.y);
  await page.evaluate(() => {
    const {times} = Page.application;
    times.focusOn({lane: times.time.lanes[2], at: 10, window: null});
  });
  await press('#path-button');
  const {hops, unit} = await page.evaluate(() => {
    const {time, walks: [walk]} = Page.application.times.view;
    return {
      unit: time.unit,
      hops: walk.hops.map(({from, to, lane, reason}) =>
        ({tid: time.lanes[lane].tid, ns: (to - from) * time.unit, state: reason})),
    };
  });
  const kept = expected.hops.filter(({ns}) => ns >= unit);
  assert.equal(hops.length, kept.length);
  hops.forEach(({tid, ns, state}, i) => {
    assert.deepEqual([tid, state], [kept[i].tid, kept[i].state], `hop ${i}`);
    assert.ok(Math.abs(ns - kept[i].ns) <= 2 * unit, `hop ${i}: ${ns} is not ${kept[i].ns}`);
  });
  assert.match(await textOf('#path-caption'), /^Why known_path \d+ took [\d.]+ ms: 100\.0 % expl/);
  assert.match(await textOf('#path-rows'), /running: run_job/);
  await drawn();
  await screenshot('time-path');
  await page.focus('#lanes');
  await page.keyboard.press('Escape');
  assert.ok(!await page.isVisible('#path'));
});

// The number of milliseconds of the flame graph: of what is selected, or of all.
const milliseconds = async () => {
  const [, number, unit] = (await textOf('#total')).match(/^(?:selected: )?([\d.]+) (\w+)/);
  return Number(number) * {s: 1000, ms: 1, us: 0.001}[unit];
};

// Selects a part of the time that is shown.
async function selectPart(first, last) {
  const [begin, end] = [await placeOf(0, first), await placeOf(0, last)];
  await page.mouse.move(begin.x, begin.y);
  await page.mouse.down();
  await page.mouse.move(end.x - 20, end.y);
  await page.mouse.move(end.x, end.y);
  await page.mouse.up();
}

test('shows the wall clock of what is selected', async () => {
  await open('wall.html');
  assert.ok(await page.isVisible('#lanes') && await page.isVisible('#graph'));
  assert.match(await textOf('#events'), /^wall-clock/);
  assert.ok(!await page.isVisible('#path'), 'there is no path unless asked for');
  await screenshot('time-wall');
  const {sums, all} = await page.evaluate(() => {
    const {time} = Page.application.page;
    const {start, end} = time.intervals;
    const sumOf = (from, to) => start.reduce((sum, begin, i) =>
      sum + Math.max(Math.min(end[i], to) - Math.max(begin, from), 0), 0) * time.unit / 1e6;
    return {all: sumOf(0, time.length), sums: sumOf(time.length * 0.25, time.length * 0.5)};
  });
  assert.ok(Math.abs(await milliseconds() / all - 1) < 0.001, `${all}`);
  await selectPart(0.25, 0.5);
  const selected = await milliseconds();
  assert.ok(Math.abs(selected / sums - 1) < 0.02, `${selected} is not ${sums}`);
  await page.keyboard.press('t');
  assert.match(await textOf('#rows'), /\[sleep\]/);
});

test('draws the critical path of the page over the lanes', async () => {
  const {path: expected} = JSON.parse(fs.readFileSync(path.join(setting.pages, 'why.json')));
  await open('path.html');
  assert.match(await textOf('#events'), /^critical-path/);
  assert.match(await textOf('#path-caption'), /^Why known_path \d+ took [\d.]+ ms: 100\.0 % expl/);
  await drawn();
  await screenshot('time-path-page');
  const shares = await page.evaluate(() => {
    const {time, walks: [walk]} = Page.application.times.view;
    const sums = {};
    for (const {from, to, reason} of walk.hops) {
      sums[reason] = (sums[reason] || 0) + (to - from) * time.unit;
    }
    return sums;
  });
  for (const reason of ['running', 'runnable']) {
    const ns = expected.hops.filter(({state}) => state === reason)
      .reduce((sum, hop) => sum + hop.ns, 0);
    assert.ok(Math.abs(shares[reason] / ns - 1) < 0.01, `${reason}: ${shares[reason]}, ${ns}`);
  }
  const whole = await milliseconds();
  await selectPart(0.25, 0.5);
  assert.ok(Math.abs(await milliseconds() / whole - 0.25) < 0.01, 'a quarter of the time');
  assert.match(await textOf('#path-caption'), /took 18\d(\.\d)? ms/);
  await press('#path-button');
  assert.ok(!await page.isVisible('#path'));
  assert.match(await fragment(), /path=none/);
  await press('#path-button');
  assert.ok(await page.isVisible('#path'));
});

test('draws windows, and shows the path of the one that is clicked', async () => {
  await open('windows.html');
  assert.equal(await textOf('#total'), '590 ms');
  assert.match(await textOf('#path-caption'), /^Why 20 windows took 590 ms: 100\.0 % explained/);
  await screenshot('time-windows');
  const {x, y} = await page.evaluate(() => {
    const {view} = Page.application.times;
    const bounds = view.canvas.getBoundingClientRect();
    const window = view.time.windows.shown[3];
    return {
      x: bounds.left + (view.xOf(window.from) + view.xOf(window.to)) / 2,
      y: bounds.top + view.yOf(view.rowOfWindow.get(window)) + TimeView.ROW / 2,
    };
  });
  await page.mouse.move(x, y);
  assert.match(await textOf('#tip'), /^probe:begin \.\. probe:endLength37 msThreadserver 7/);
  await page.mouse.click(x, y);
  assert.equal(await textOf('#total'), 'selected: 37 ms, 6.27 % of all');
  assert.match(await textOf('#path-caption'), /^Why server 7 took 37 ms/);
  assert.match(await textOf('#selected'), /Window: 4 of 20, by time/);
  await drawn();
  await screenshot('time-window');
  const link = await fragment();
  await choose('#events', 'cpu-clock');
  assert.match(await textOf('#total'), /^selected: 3\d samples/, 'also those of the worker');
  await open('windows.html', link);
  assert.equal(await textOf('#total'), 'selected: 37 ms, 6.27 % of all');
  await page.focus('#lanes');
  for (let i = 0; i < 2; ++i) await page.keyboard.press('Escape');
  assert.equal(await textOf('#total'), '590 ms');
});

test('chooses windows without a mouse', async () => {
  await open('windows.html');
  await page.focus('#lanes');
  for (let i = 0; i < 3; ++i) await page.keyboard.press('ArrowDown');
  assert.match(await textOf('#selected'), /probe:begin \.\. probe:endLength: 2\d ms/);
  const before = await textOf('#selected');
  await page.keyboard.press(']');
  assert.notEqual(await textOf('#selected'), before);
  await page.keyboard.press('[');
  assert.equal(await textOf('#selected'), before);
  await page.keyboard.press('Enter');
  assert.match(await textOf('#total'), /^selected: 27 ms/);
  await page.keyboard.press('ArrowDown');
  assert.match(await textOf('#selected'), /State: /);
  await page.keyboard.press('ArrowUp');
  assert.match(await textOf('#selected'), /probe:begin/);
});

test('scrolls to the windows among many threads', async () => {
  await open('crowd.html');
  const {top, height, row} = await page.evaluate(() => {
    const {view} = Page.application.times;
    const [window] = view.time.windows.shown;
    return {
      top: view.yOf(view.rowOfWindow.get(window)), height: view.height,
      row: view.rowOfWindow.get(window),
    };
  });
  assert.ok(row > 20, `row ${row}`);
  assert.ok(top > 0 && top < height - 20, `${top} of ${height}`);
});

test('has the chosen windows only', async () => {
  await open('slowest.html');
  assert.equal(await textOf('#total'), '37 ms');
  assert.equal(await page.evaluate(() => Page.application.page.time.windows.shown.length), 1);
});

test('works without a mouse', async () => {
  await open('why.html');
  await page.focus('#lanes');
  for (const key of ['ArrowDown', 'ArrowDown', ']', ']']) await page.keyboard.press(key);
  assert.match(await textOf('#selected'), /State: /);
  await page.keyboard.press('Enter');
  assert.match(await fragment(), /lanes=\d+%2F\d+/);
  await page.keyboard.press('+');
  await page.keyboard.press('r');
  assert.match(await fragment(), /from=\d+&to=\d+/);
  await page.keyboard.press('p');
  assert.ok(await page.isVisible('#path'));
  for (let i = 0; i < 4; ++i) await page.keyboard.press('Escape');
  assert.deepEqual((await shown()).from, 0);
  assert.doesNotMatch(await fragment(), /from|lanes|path/);
});

test('shows a heat map of parts of seconds', async () => {
  await open('recording.html', '#show=both');
  await press('#heat-button');
  const all = Number((await textOf('#total')).match(/^([\d,]+)/)[1].replace(',', ''));
  const cells = await page.evaluate(() => [...Page.application.times.view.heat.counts]);
  assert.equal(cells.reduce((sum, each) => sum + each, 0), all);
  const box = await page.evaluate(() => {
    const {view} = Page.application.times;
    const bounds = view.canvas.getBoundingClientRect();
    const column = Math.min(view.plot / view.heat.columns, 40);
    return {x: bounds.left + view.left + TimeView.GAP, column, y: bounds.bottom - 20};
  });
  await page.mouse.move(box.x + box.column * 1.5, box.y);
  assert.match(await textOf('#tip'), /samples?From1\.\d+ s/);
  await page.mouse.down();
  await page.mouse.move(box.x + box.column * 2.5, box.y);
  await page.mouse.up();
  const selected = Number((await textOf('#total')).match(/^selected: ([\d,]+)/)[1]);
  assert.ok(selected > 0 && selected < all / 2);
  await drawn();
  await screenshot('time-heat');
});

test('marks when programs were executed', async () => {
  await open('tasks.html', '#show=time');
  const {lane, part} = await page.evaluate(() => {
    const {time} = Page.application.page;
    const marker = time.markers.find(({type, text}) => type === 'exec' && text === 'md5sum');
    return {lane: marker.lane, part: marker.time / time.length};
  });
  const {x, y} = await placeOf(lane, part);
  await page.mouse.move(x, y);
  assert.match(await textOf('#tip'), /Eventexec of md5sum at \d+\.\d+ s/);
  await screenshot('time-tasks');
});

for (const scheme of ['light', 'dark']) test(`fits into a narrow window: ${scheme}`, async () => {
  await page.setViewportSize({width: 400, height: 780});
  await page.emulateMedia({colorScheme: scheme});
  await open('windows.html');
  assert.ok(await page.isVisible('#path'));
  assert.ok(await page.evaluate(() =>
    document.documentElement.scrollWidth <= window.innerWidth &&
    document.getElementById('time-scroller').clientHeight > 100 &&
    document.getElementById('scroller').clientHeight > 100));
  await drawn();
  await screenshot(`time-narrow-windows-${scheme}`);
  await open('why.html');
  await press('#path-button');
  assert.ok(await page.evaluate(() =>
    document.documentElement.scrollWidth <= window.innerWidth &&
    document.getElementById('time-scroller').clientHeight > 100 &&
    document.getElementById('scroller').clientHeight > 100));
  await drawn();
  await screenshot(`time-narrow-${scheme}`);
});

test('shows hostile names as they are', async () => {
  await open('hostile-time.html');
  const {count, comms} = await page.evaluate(() => {
    const {lanes} = Page.application.page.time;
    return {count: lanes.length, comms: lanes.map(({comm}) => comm).join('\n')};
  });
  assert.match(comms, /<img src=x oner/);
  for (let lane = 0; lane < count; ++lane) {
    const {x, y} = await placeOf(lane, 0.3);
    await page.mouse.move(x, y);
    await page.mouse.click(x, y);
  }
  await press('#path-button');
  assert.match(await textOf('#path-rows'), /\S/);
  await screenshot('time-hostile');
});

test('ignores a link with nonsense', async () => {
  await open('why.html',
    '#show=x&from=9e99&to=-3&lanes=%3Cb%3E,1/2/3&path=none&span=9-1-x&heat=2');
  assert.ok(await page.isVisible('#lanes'));
  assert.match(await textOf('#total'), /^[\d,]+ samples/);
});

test('shows when the slow and failed calls of latency probes ended', async () => {
  await open('latency.html');
  await page.keyboard.press('l');
  assert.ok(await page.isVisible('#lanes'));
  const found = await page.evaluate(() => {
    const {time} = Page.application.times.view;
    return {
      lanes: time.lanes.map((lane) => `${lane.comm} ${lane.tid}`),
      ends: time.samples.map((tab) => [...tab.time].map((at) => at * time.unit / 1e6)),
    };
  });
  await screenshot('time-latency');
  assert.deepEqual(found, {lanes: ['app 7'], ends: [[200], [0, 100], [300]]});
});
