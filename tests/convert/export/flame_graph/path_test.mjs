// SPDX-License-Identifier: Apache-2.0
// Compares the critical paths of the scripts of a page with those of critical_path.cc.
// path_pages (PERFTAPE_PATH_PAGES) makes the data of a page of each recording.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import fs from 'node:fs';
import {test} from 'node:test';
import {load} from './page_scripts.mjs';
import {randomTable} from './random_threads.mjs';

const {FlameTree, TimePath, PathTable} = load(
  ['names.js', 'time_data.js', 'tree.js', 'controls.js', 'time_path.js', 'time_texts.js',
    'path_table.js'],
  ['FlameTree', 'TimePath', 'PathTable']);

const TABLE = JSON.parse(fs.readFileSync(
  new URL('../../timeline/path_vectors.json', import.meta.url), 'utf8'));

// Returns for each vector {page, walks} of path_pages.
function pagesOf(table) {
  const text = execFileSync(process.env.PERFTAPE_PATH_PAGES,
    {input: JSON.stringify(table), encoding: 'utf8', maxBuffer: 1 << 28});
  return text.trim().split('\n').map((line) => {
    const {page, walks} = JSON.parse(line);
    return {page: FlameTree.decode(Uint8Array.from(Buffer.from(page, 'base64'))), walks};
  });
}

// Returns the texts of path_vectors.h. Arrays of the page's scripts have another prototype than
// ours.
function stepTexts(time, {steps, handovers}) {
  const wayTo = (handover) => {
    if (handover < 0) return '';
    const {outer, lane, interval} = handovers[handover];
    return `${wayTo(outer)}${time.lanes[lane].comm}${interval < 0 ? '+' : '>'}`;
  };
  return Array.from(steps, (step) => {
    const short = step.reason === 'running' ? TimePath.shortWaitsIn(time, step) : 0;
    return `${step.from + time.startNs}-${step.to + time.startNs} ${wayTo(step.handover)}` +
      `${time.lanes[step.lane].comm} ${step.reason}${short === 0 ? '' : ` ${short} short`}`;
  });
}

function hopTexts(time, path) {
  return Array.from(TimePath.hopsOf(path), ({from, to, lane, reason}) =>
    `${from - path.from}+${to - from} ${time.lanes[lane].comm} ${reason}`);
}

function walkOn(page, {thread, from, to}) {
  const {time} = page;
  assert.equal(time.unit, 1, 'times of the page are exact');
  const lane = time.lanes.find(({comm, begin, end}) => comm === thread && end > begin);
  return TimePath.walk(time, lane.index, from - time.startNs, to - time.startNs);
}

// The page divides without rounding, so each sample may differ by less than a nanosecond.
function compareParts(page, path, expected) {
  const sums = new Map(expected.map(
    ([comm, reason, title, ns]) => [`${comm} ${reason} ${title}`, ns]));
  for (const part of TimePath.partsOf(page.time, [path], PathTable.textsOf(page))) {
    const key = `${part.name} ${part.reason} ${part.title}`;
    const ns = sums.get(key) ?? 0;
    assert.ok(Math.abs(part.length - ns) < 100, `${key}: ${part.length}, not ${ns}`);
    sums.delete(key);
  }
  for (const [key, ns] of sums) assert.ok(ns < 100, `${key} is not on the page: ${ns}`);
}

test('walks as the table says', () => {
  const pages = pagesOf(TABLE);
  assert.equal(pages.length, TABLE.vectors.length);
  TABLE.vectors.forEach((vector, i) => {
    for (const walk of vector.walks) {
      const {page} = pages[i];
      const path = walkOn(page, walk);
      const name = `${vector.name}: ${walk.thread} from ${walk.from} to ${walk.to}`;
      assert.deepEqual(stepTexts(page.time, path), walk.steps, name);
      assert.equal(TimePath.explainedIn(path), walk.explained, name);
    }
  });
});

test('walks random recordings as critical_path.cc does', () => {
  const table = randomTable({...TABLE, vectors: undefined}, {seed: 1, count: 400});
  let steps = 0;
  let handovers = 0;
  pagesOf(table).forEach(({page, walks}, i) => {
    walks.forEach((expected, number) => {
      const walk = table.vectors[i].walks[number];
      if (expected === null) return;  // nothing was recorded of this thread
      const path = walkOn(page, walk);
      const name = JSON.stringify({...table.vectors[i], walks: [walk]});
      assert.deepEqual(stepTexts(page.time, path), expected.steps, name);
      assert.equal(TimePath.explainedIn(path), expected.explained, name);
      assert.deepEqual(hopTexts(page.time, path), expected.hops, name);
      compareParts(page, path, expected.parts);
      steps += path.steps.length;
      handovers += path.handovers.length;
    });
  });
  assert.ok(steps > 10000 && handovers > 1000, `${steps} steps, ${handovers} handovers`);
});
