// SPDX-License-Identifier: Apache-2.0
// What a person does with a flame graph, in Chromium. flame_graph_test.py makes the pages.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import {test} from 'node:test';
import {
  choose, fragment, open, page, press, screenshot, setting, textOf, urlOf,
} from './browser_page.mjs';

// Returns the middle of the widest box with this name, and the width of the box.
function boxOf(name) {
  return page.evaluate((wanted) => {
    const {view} = Page.application;
    const bounds = view.canvas.getBoundingClientRect();
    const boxes = [...view.boxes.values()].flat()
      .filter((box) => box.calls === undefined &&
        view.labelOf(box.pane.tree.frame[box.node]) === wanted)
      .sort((a, b) => b.width - a.width);
    if (boxes.length === 0) return null;
    const [{x, width, row}] = boxes;
    return {
      x: bounds.left + x + width / 2, left: x, width,
      y: bounds.top + (row + 0.5) * Graph.ROW - view.scroller.scrollTop,
    };
  }, name);
}

async function hover(name) {
  const box = await boxOf(name);
  await page.mouse.move(box.x, box.y);
}

async function click(name) {
  const box = await boxOf(name);
  await page.mouse.click(box.x, box.y);
}

const widthOfGraph = () => page.evaluate(() => Page.application.view.width);

test('shows all samples of the first event', async () => {
  await open('server.html');
  assert.equal(await textOf('#total'), '1,000 cpu');
  const width = await widthOfGraph();
  assert.ok(Math.abs((await boxOf('main')).width - width * 0.8) < 1);
  assert.ok(Math.abs((await boxOf('serve')).width - width * 0.8) < 1);
  assert.deepEqual(await page.locator('#legend li').allTextContents(),
    ['thread', 'user', 'kernel', 'inlined', 'JIT']);
  await screenshot('load');
});

test('tells about the function under the pointer', async () => {
  await open('server.html');
  await hover('peek');
  const tip = await textOf('#tip');
  for (const part of ['peek', '400 cpu', '40.0 %', '80.0 %', '/usr/bin/server', 'src/parse.h:7',
    'inlined']) {
    assert.ok(tip.includes(part), `${part} is not in ${tip}`);
  }
  await screenshot('hover');
  await hover('parse');
  assert.match(await textOf('#tip'), /src\/parse\.cc:31–45/);
});

test('zooms by a click, and back by Escape', async () => {
  await open('server.html');
  await click('parse');
  assert.equal((await boxOf('parse')).width, await widthOfGraph());
  assert.match(await textOf('#selected'), /^parse.*500 cpu.*50\.0 %/);
  assert.match(await fragment(), /^#zoom=\d+$/);
  await screenshot('zoom');
  await page.keyboard.press('Escape');
  assert.ok((await boxOf('parse')).width < (await widthOfGraph()) * 0.51);
  assert.equal(await fragment(), '');
});

test('shows the state in a link again', async () => {
  await open('server.html');
  await press('#icicle');
  await page.selectOption('#sort', 'weight', {force: true});
  await page.fill('#search', 'malloc');
  await click('serve');
  const found = await boxOf('serve');
  assert.equal(found.width, await widthOfGraph());
  await open('server.html', await fragment());
  assert.deepEqual(await boxOf('serve'), found);
  assert.equal(await page.inputValue('#search'), 'malloc');
  assert.equal(await page.getAttribute('#icicle', 'aria-pressed'), 'true');
});

test('ignores a link with nonsense', async () => {
  await open('server.html', '#event=99&tree=x&view=%3Cb%3E&zoom=-1&sort=&thread=none&name=none');
  assert.equal(await textOf('#total'), '1,000 cpu');
});

test('searches, and adds nothing twice', async () => {
  await open('server.html');
  await page.keyboard.press('/');
  await page.keyboard.type('read|copy_');
  assert.equal(await textOf('#matched'), '40.0 % matched');
  await screenshot('search');
  await page.keyboard.press('Enter');
  assert.match(await textOf('#selected'), /^(vfs_)?read/);
  await page.fill('#search', '(');
  assert.equal(await textOf('#matched'), 'no regular expression');
  assert.equal(await page.getAttribute('#search', 'aria-invalid'), 'true');
  await page.keyboard.press('Escape');
  assert.equal(await textOf('#matched'), '');
});

test('turns the graph over', async () => {
  await open('server.html');
  const flame = await boxOf('all');
  await press('#icicle');
  const icicle = await boxOf('all');
  assert.ok(icicle.y < flame.y);
  assert.ok((await boxOf('serve')).y > icicle.y);
  await screenshot('icicle');
});

test('inverts the tree', async () => {
  await open('server.html');
  await press('#inverted');
  const width = await widthOfGraph();
  assert.ok(Math.abs((await boxOf('peek')).width - width * 0.4) < 1);
  assert.ok(Math.abs((await boxOf('malloc')).width - width * 0.2) < 1);
  await screenshot('inverted');
});

test('shows the callers and callees of a function', async () => {
  await open('server.html');
  await page.keyboard.down('Shift');
  await click('read');
  await page.keyboard.up('Shift');
  assert.equal(await textOf('#total'), 'read: 400 cpu, 40.0 % of all');
  const [caller, centre] = [await boxOf('serve'), await boxOf('read')];
  const callee = await boxOf('vfs_read');
  const width = await widthOfGraph();
  assert.ok(Math.abs(caller.width - (width * 250) / 400) < 1);
  assert.equal(centre.width, width);
  assert.equal(callee.width, width);
  assert.ok(caller.y < centre.y && centre.y < callee.y);
  await screenshot('sandwich');
  await page.keyboard.press('Escape');
  assert.equal(await textOf('#total'), '1,000 cpu');
});

test('switches event and thread', async () => {
  await open('server.html');
  await choose('#events', 'alloc_space');
  assert.equal(await textOf('#total'), '13,312 bytes');
  await choose('#threads', 'logger');
  assert.equal(await textOf('#total'), '1,024 bytes');
  await choose('#events', 'cpu');
  await choose('#threads', 'logger');
  assert.equal(await textOf('#total'), '200 cpu');
  await hover('vfs_read');
  assert.match(await textOf('#tip'), /Of all15\.0 %.*Of thread75\.0 %/);
  await screenshot('tabs');
});

test('orders by weight', async () => {
  await open('server.html');
  assert.ok((await boxOf('logger')).left < (await boxOf('server')).left);
  await page.selectOption('#sort', 'weight', {force: true});
  assert.ok((await boxOf('logger')).left > (await boxOf('server')).left);
});

test('orders by the time of the first sample, if the profile is a recording', async () => {
  await open('server.html');
  assert.equal(await page.locator('#sort option[value=time]').getAttribute('hidden'), '');
  await open('recording.html');
  await page.selectOption('#sort', 'time', {force: true});
  const times = await page.evaluate(() => {
    const [{tree}] = Page.application.view.panes;
    return FlameTree.childrenOf(tree, 0).map((node) => tree.first[node]);
  });
  assert.ok(times.length > 1);
  assert.deepEqual(times, times.toSorted((a, b) => a - b));
  assert.equal(times[0], 0);
  await page.focus('#graph');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('ArrowUp');
  assert.match(await textOf('#selected'), /First sample: after \d+\.\d{3} s/);
  await screenshot('time');
});

test('works without a mouse', async () => {
  await open('server.html');
  await page.focus('#graph');
  for (const key of ['ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp']) {
    await page.keyboard.press(key);
  }
  assert.match(await textOf('#selected'), /^parse/);
  await page.keyboard.press('ArrowLeft');
  assert.match(await textOf('#selected'), /^Script:render/);
  await page.keyboard.press('Enter');
  assert.equal((await boxOf('Script:render')).width, await widthOfGraph());
  await page.keyboard.press('s');
  assert.match(await textOf('#total'), /^Script:render: 50 cpu/);
  await page.keyboard.press('Escape');
  await page.keyboard.press('i');
  assert.equal(await page.getAttribute('#icicle', 'aria-pressed'), 'true');
  await page.keyboard.press('?');
  assert.ok(await page.isVisible('#help'));
  await screenshot('keyboard');
});

test('has names and roles for screen readers', async () => {
  await open('server.html');
  const unnamed = await page.evaluate(() => [...document.querySelectorAll('button, input, select')]
    .filter((each) => !each.hidden && each.textContent.trim() === '' &&
      !each.getAttribute('aria-label') && each.labels.length === 0).map((each) => each.id));
  assert.deepEqual(unnamed, []);
  assert.equal(await page.getAttribute('#selected', 'aria-live'), 'polite');
  assert.equal(await page.getAttribute('#graph', 'tabindex'), '0');
});

test('switches between time and samples', async () => {
  await open('wait.html');
  assert.equal(await page.title(), 'Flame graph');
  assert.equal(await textOf('#total'), '500 ms, 5 samples');
  const width = await widthOfGraph();
  assert.ok(Math.abs((await boxOf('long')).width - width * 0.8) < 1);
  await page.keyboard.press('v');
  assert.equal(await textOf('#total'), '5 samples, 500 ms');
  assert.ok(Math.abs((await boxOf('long')).width - width * 0.2) < 1);
  assert.match(await fragment(), /values=samples/);
  await page.keyboard.press('t');
  assert.match(await textOf('#rows'), /20\.0 %1400 mslong/);
  await press('#values-period');
  assert.ok(Math.abs((await boxOf('long')).width - (await widthOfGraph()) * 0.8) < 1);
});

test('shows the time of the calls of each latency probe', async () => {
  await open('latency.html');
  const totals = [];
  for (const probe of ['tcp_connect', 'fsync', 'runq']) {
    await choose('#events', `latency:${probe}`);
    totals.push(await textOf('#total'));
  }
  assert.deepEqual(totals, ['2 ms, 2 samples', '120 ms, 1 sample', '80 ms, 1 sample']);
  await page.keyboard.press('v');
  assert.equal(await textOf('#total'), '1 sample, 80 ms');
  await screenshot('latency');
});

test('joins the threads of one kind', async () => {
  await open('wait.html');
  assert.equal((await boxOf('worker')), null);
  await press('#join-threads');
  assert.equal((await boxOf('worker')).width, await widthOfGraph());
});

test('fits into a narrow window', async () => {
  await page.setViewportSize({width: 400, height: 700});
  await open('server.html');
  const fits = await page.evaluate(() =>
    document.documentElement.scrollWidth <= window.innerWidth &&
    document.getElementById('scroller').clientHeight > 250);
  assert.ok(fits);
  await screenshot('narrow');
});

test('has a table with the totals of the folded stacks', async () => {
  const totals = new Map();
  const folded = fs.readFileSync(path.join(setting.pages, 'server.folded'), 'utf8');
  for (const line of folded.trim().split('\n')) {
    const [, stack, count] = line.match(/^(.*) (\d+)$/);
    for (const name of new Set(stack.split(';'))) {
      totals.set(name, (totals.get(name) ?? 0) + Number(count));
    }
  }
  await open('server.html');
  await page.keyboard.press('t');
  const rows = await page.locator('#rows tr').evaluateAll((each) => each.map((row) =>
    [row.lastElementChild.textContent, Number(row.cells[1].title.replace(/[^\d]/g, ''))]));
  const shown = new Map(rows);
  for (const [name, total] of totals) assert.equal(shown.get(name), total, name);
  await page.click('th button[data-sort=name]');
  assert.equal(await textOf('#rows tr:first-child td:last-child'), 'Script:render');
  await screenshot('table');
});

test('follows the colours of the system, and a button', async () => {
  await open('server.html');
  const corner = () => page.evaluate(() => {
    const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    context.drawImage(Page.application.view.canvas, 0, 0);
    return [...context.getImageData(3, 3, 1, 1).data].slice(0, 3);
  });
  assert.deepEqual(await corner(), [255, 255, 255]);
  await page.emulateMedia({colorScheme: 'dark'});
  await page.waitForSelector('html[data-theme=dark]');
  assert.ok(Math.max(...await corner()) < 60);
  await screenshot('dark');
  await press('#theme');
  assert.deepEqual(await corner(), [255, 255, 255]);
});

test('copies the name and the stack', async () => {
  await open('server.html');
  await click('parse');
  const shows = (text) => page.waitForFunction((wanted) =>
    document.getElementById('selected').textContent === wanted, text, {timeout: 5000});
  await page.click('#copy-stack');
  await shows('Copied: server › main › serve › parse');
  await page.keyboard.press('c');
  await shows('Copied: parse');
});

test('prints the graph and the table', async () => {
  await open('server.html');
  await page.emulateMedia({colorScheme: 'dark', media: 'print'});
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.ok(await page.isVisible('#functions'));
  assert.ok(!await page.isVisible('#search'));
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'light');
  await screenshot('print');
  await page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.ok((await page.pdf()).length > 10000);
});

test('says what is wrong with damaged data', async () => {
  await page.goto(urlOf('damaged.html'));
  await page.waitForSelector('#failure:not([hidden])');
  assert.match(await textOf('#failure'), /^This flame graph cannot be shown: /);
});

test('says that there are no samples', async () => {
  await page.goto(urlOf('empty.html'));
  await page.waitForSelector('#failure:not([hidden])');
  assert.match(await textOf('#failure'), /has no samples/);
});

const HOSTILE = ['hostile', 'hostile-diff'];

for (const file of HOSTILE) test(`shows names as they are: ${file}`, async () => {
  await open(`${file}.html`);
  const labels = await page.evaluate(() => Page.application.page.texts.join('\n'));
  assert.match(labels, /<img src=x onerror=alert\(1\)>/);
  assert.doesNotMatch(labels, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  await page.keyboard.press('t');
  await press('#icicle');
  const names = await page.evaluate(() => {
    const {view} = Page.application;
    return [...view.boxes.values()].flat()
      .map((box) => view.labelOf(box.pane.tree.frame[box.node]));
  });
  assert.ok(names.length >= 12);
  for (const name of names) {
    await hover(name);
    await click(name);
    assert.ok((await textOf('#selected')).startsWith(name));
  }
  await screenshot(file);
  await page.keyboard.press('Escape');
  await page.fill('#search', '<script>');
  assert.match(await textOf('#matched'), /100\.0 % matched/);
  for (const button of await page.locator('#rows button').all()) {
    await button.click();
    assert.ok((await textOf('#total')).length > 0);
  }
  assert.equal(await page.evaluate(() => ({}).polluted), undefined);
});

test('shows what changed between two profiles', async () => {
  await open('diff.html');
  assert.equal(await textOf('#total'), 'new: 2,000 cpu, old: 1,000 cpu; only old: 50 cpu (5.00 %)');
  const width = await widthOfGraph();
  assert.ok(Math.abs((await boxOf('parse')).width - width * 0.69) < 1);
  assert.equal(await boxOf('Script:render'), null);
  await hover('parse');
  const tip = await textOf('#tip');
  for (const part of ['69.0 %, 1,380 cpu', '50.0 %, 500 cpu', '+19.0 points']) {
    assert.ok(tip.includes(part), `${part} is not in ${tip}`);
  }
  await screenshot('diff');
  await hover('cache');
  assert.match(await textOf('#tip'), /Old0\.0 %, 0 cpuChange\+3\.00 points/);
  assert.match(await textOf('#legend'), /less −20\.0.*more \+20\.0 points/);
});

test('shows the widths of the old profile', async () => {
  await open('diff.html');
  await page.keyboard.press('w');
  const width = await widthOfGraph();
  assert.ok(Math.abs((await boxOf('Script:render')).width - width * 0.05) < 1);
  await hover('Script:render');
  assert.match(await textOf('#tip'), /New0\.0 %, 0 cpuOld5\.00 %, 50 cpuChange−5\.00 points/);
  assert.match(await fragment(), /widths=old/);
  await page.emulateMedia({colorScheme: 'dark'});
  await page.keyboard.press('t');
  await page.click('th button[data-sort=change]');
  assert.match(await textOf('#rows tr:first-child'), /\+20\.0.*peek$/);
  await screenshot('diff-dark');
  await press('#inverted');
  assert.ok(Math.abs((await boxOf('peek')).width - (await widthOfGraph()) * 0.4) < 1);
  await open('diff.html', await fragment());
  assert.equal(await page.getAttribute('#old', 'aria-pressed'), 'true');
});

test('compares windows by time', async () => {
  await open('against.html');
  assert.equal(await textOf('#total'), 'new: 37 ms, old: 27 ms');
  assert.match(await textOf('#legend'), /less −10 ms.*more \+10 msper window/);
  await hover('compute');
  assert.match(await textOf('#tip'), /New54\.1 %, 20 msOld74\.1 %, 20 msChange±0/);
  await hover('answer');
  assert.match(await textOf('#tip'), /Change\+10 ms/);
  await screenshot('against');
});

test('draws what changed in an SVG', async () => {
  await page.goto(urlOf('diff.svg'));
  const titles = await page.locator('#frames title').allTextContents();
  assert.ok(titles.some((title) => title.startsWith('parse (1,380') &&
    title.includes('before: 50.00%, +19.00 points')), titles.join('\n'));
  assert.ok(titles[0].includes('only before: 50'), titles[0]);
  await screenshot('diff-svg');
});

test('draws an SVG with zoom and search', async () => {
  await page.goto(urlOf('server.svg'));
  const rect = (name) => page.evaluate((wanted) => {
    const group = [...document.querySelectorAll('#frames g')]
      .find((each) => each.firstChild.textContent.startsWith(`${wanted} (`));
    return {
      width: Number(group.children[1].getAttribute('width')),
      isHidden: group.classList.contains('hidden'), text: group.children[2].textContent,
    };
  }, name);
  assert.equal((await rect('parse')).width, 590);
  await screenshot('svg');
  await page.locator('#frames g', {has: page.locator('text=/^parse$/')}).first().click();
  assert.deepEqual(await rect('parse'), {width: 1180, isHidden: false, text: 'parse'});
  assert.ok((await rect('vfs_read')).isHidden);
  await screenshot('svg-zoom');
  await page.click('#reset');
  assert.ok(!(await rect('vfs_read')).isHidden);
  page.removeAllListeners('dialog');
  page.once('dialog', (dialog) => dialog.accept('read|copy_'));
  await page.click('#search');
  assert.equal(await textOf('#matched'), 'Matched: 40.0%');
  await screenshot('svg-search');
  await page.click('#search');
  assert.equal((await textOf('#matched')).trim(), '');
});

for (const file of HOSTILE) test(`draws names in an SVG: ${file}`, async () => {
  await page.goto(urlOf(`${file}.svg`));
  assert.equal(await page.evaluate(() => document.querySelectorAll('script').length), 1);
  assert.equal(await page.evaluate(() => document.querySelectorAll('img').length), 0);
  for (const group of await page.locator('#frames g').all()) await group.hover();
  await screenshot(`svg-${file}`);
});

test('opens 150,000 stacks in a small page', async (t) => {
  const {size} = fs.statSync(path.join(setting.pages, 'many.html'));
  assert.ok(size < 3e6, `${size} bytes`);
  const start = performance.now();
  await open('many.html');
  const shown = performance.now() - start;
  const zoom = await page.evaluate(() => {
    const begin = performance.now();
    Page.application.zoom(Page.application.view.panes[0], 3);
    return performance.now() - begin;
  });
  t.diagnostic(`${size} bytes, shown in ${Math.round(shown)} ms, zoom in ${Math.round(zoom)} ms`);
  assert.ok(await page.evaluate(() => Page.application.tab.tree.depth.length) > 1e6);
  await screenshot('many');
});
