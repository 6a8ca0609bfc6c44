// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {encode, load} from './page_scripts.mjs';

const {FlameTree, DerivedTrees, Differences, Controls, Descriptions, Names, ProfileFacts} = load(
  ['names.js', 'profile_facts.js', 'time_data.js', 'tree.js', 'derived_trees.js', 'differences.js',
    'controls.js', 'descriptions.js'],
  ['FlameTree', 'DerivedTrees', 'Differences', 'Controls', 'Descriptions', 'Names',
    'ProfileFacts']);

// main calls a (which calls itself) and b; a's inner call and b call leaf.
const NODES = [
  [0, 'main', 1], [1, 'a', 2], [2, 'a', 3], [3, 'leaf', 4], [1, 'b', 0], [2, 'leaf', 10],
];

// The numbers of an older profile, in which b called more, and a did not call leaf.
const BEFORE = [1, 2, 7, 0, 5, 25];

function decode(nodes, options) {
  return FlameTree.decode(encode(nodes, options));
}

function sandwichOf(page, name) {
  return DerivedTrees.sandwich(page, page.tabs[0].tree, page.texts.indexOf(name), 'name');
}

// Returns a tree as lines: depth, name, self, total.
function lines(page, tree) {
  return [...tree.frame].map((frame, i) => {
    const name = frame < 0 ? 'all' : page.texts[page.frames.name[frame]];
    return `${tree.depth[i]} ${name} ${tree.self[i]} ${tree.total[i]}`;
  });
}

test('reads a tree in preorder and adds up totals', () => {
  const page = decode(NODES);
  assert.equal(page.tabs[0].name, 'cycles');
  assert.deepEqual(lines(page, page.tabs[0].tree), [
    '0 all 0 20', '1 main 1 20', '2 a 2 9', '3 a 3 7', '4 leaf 4 4', '2 b 0 10', '3 leaf 10 10',
  ]);
});

test('multiplies by the scale, also above 32 bits', () => {
  const page = decode([[0, 'main', 3]], {scale: 4e12});
  assert.equal(page.tabs[0].tree.total[0], 12e12);
});

test('places children side by side from the start of their caller', () => {
  const {tree} = decode(NODES).tabs[0];
  assert.deepEqual([...tree.start], [0, 0, 0, 0, 0, 9, 9]);
  assert.deepEqual([...tree.end], [7, 7, 5, 5, 5, 7, 7]);
});

test('refuses data that is cut anywhere', () => {
  const bytes = encode(NODES);
  for (let size = 0; size < bytes.length; ++size) {
    assert.throws(() => FlameTree.decode(bytes.subarray(0, size)), /data of the page/);
  }
});

test('refuses or reads data with any byte replaced', () => {
  const bytes = encode(NODES, {
    before: BEFORE, first: [0, 0, 5, 0, 20, 0], others: [BEFORE, BEFORE],
  });
  for (let at = 0; at < bytes.length; ++at) {
    for (const value of [0, 127, 255]) {
      const damaged = Uint8Array.from(bytes);
      damaged[at] = value;
      try {
        FlameTree.decode(damaged);
      } catch (error) {
        assert.match(error.message, /data of the page/);
      }
    }
  }
});

test('reads the other numbers of samples, as columns or as multiples', () => {
  const times = [400, 0, 100, 7, 8, 9];
  const [tab] = decode(NODES, {others: [times]}).tabs;
  assert.equal(tab.others.unit, 'nanoseconds');
  assert.deepEqual([...tab.others.tree.self], [0, ...times]);
  assert.deepEqual([...tab.others.tree.total], [524, 524, 107, 107, 7, 17, 9]);
  assert.deepEqual([...tab.tree.total], [20, 20, 9, 7, 4, 10, 10]);
  assert.equal(tab.others.others, tab);
  const [multiple] = decode(NODES, {others: 1000}).tabs;
  assert.deepEqual([...multiple.others.tree.total], [20, 20, 9, 7, 4, 10, 10].map((n) => n * 1000));
  const [pair] = decode(NODES, {before: BEFORE, others: [times, BEFORE]}).tabs;
  assert.deepEqual([...pair.others.tree.other], [0, ...BEFORE]);
  assert.equal(decode(NODES).tabs[0].others, null);
});

test('sorts calls by weight', () => {
  const page = decode(NODES);
  assert.deepEqual(lines(page, FlameTree.byWeight(page.tabs[0].tree)), [
    '0 all 0 20', '1 main 1 20', '2 b 0 10', '3 leaf 10 10', '2 a 2 9', '3 a 3 7', '4 leaf 4 4',
  ]);
});

test('cuts out the calls of one node', () => {
  const page = decode(NODES);
  assert.deepEqual(lines(page, FlameTree.subtree(page.tabs[0].tree, 2)),
    ['0 a 2 9', '1 a 3 7', '2 leaf 4 4']);
});

test('counts a recursive function once', () => {
  const page = decode(NODES);
  const found = Array.from(FlameTree.functions(page.tabs[0].tree, page.frames, 0))
    .map(({name, self, total}) => `${page.texts[name]} ${self} ${total}`).sort();
  assert.deepEqual(found, ['a 5 9', 'b 0 10', 'leaf 14 14', 'main 1 20']);
});

test('adds a match below a match only once', () => {
  const page = decode(NODES);
  const matches = page.frames.name.map((name) => /^(a|leaf)$/.test(page.texts[name]));
  assert.equal(FlameTree.matchedTotal(page.tabs[0].tree, matches, 0), 19);
  assert.equal(FlameTree.matchedTotal(page.tabs[0].tree, matches, 5), 10);
});

test('joins the callers of a function', () => {
  const page = decode(NODES);
  const {callers} = sandwichOf(page, 'leaf');
  assert.deepEqual(lines(page, callers), [
    '0 leaf 0 14', '1 a 0 4', '2 a 0 4', '3 main 4 4', '1 b 0 10', '2 main 10 10',
  ]);
});

test('joins the callees of a function, and keeps its recursion', () => {
  const page = decode(NODES);
  const {callees} = sandwichOf(page, 'a');
  assert.deepEqual(lines(page, callees), ['0 a 2 9', '1 a 3 7', '2 leaf 4 4']);
});

test('inverts a tree', () => {
  const page = decode(NODES);
  assert.deepEqual(lines(page, DerivedTrees.inverted(page, page.tabs[0].tree, 'weight')), [
    '0 all 0 20', '1 leaf 0 14', '2 b 0 10', '3 main 10 10', '2 a 0 4', '3 a 0 4', '4 main 4 4',
    '1 a 0 5', '2 a 0 3', '3 main 3 3', '2 main 2 2', '1 main 1 1',
  ]);
});

test('folds callers that are too small into their callee', () => {
  const page = decode([
    [0, 'main', 0], [1, 'a', 0], [2, 'leaf', 100000], [1, 'b', 0], [2, 'leaf', 1],
  ]);
  const {callers} = sandwichOf(page, 'leaf');
  assert.deepEqual(lines(page, callers),
    ['0 leaf 1 100001', '1 a 0 100000', '2 main 100000 100000']);
  assert.deepEqual([...callers.folded], [1, 0, 0]);
});

test('reads the numbers of the other side, and swaps the sides', () => {
  const {tree} = decode(NODES, {before: BEFORE}).tabs[0];
  assert.deepEqual([...tree.otherTotal], [40, 40, 9, 7, 0, 30, 25]);
  const swapped = FlameTree.swapped(tree);
  assert.deepEqual([...swapped.total], [40, 40, 9, 7, 0, 30, 25]);
  assert.deepEqual([...swapped.otherTotal], [...tree.total]);
  assert.deepEqual([...FlameTree.subtree(tree, 5).otherTotal], [30, 25]);
  assert.equal(decode(NODES).tabs[0].tree.other, null);
});

test('compares shares, not numbers', () => {
  const tab = decode(NODES, {before: BEFORE}).tabs[0];
  const {tree} = tab;
  const sums = Differences.measure(tree, 'new', tab);
  assert.deepEqual({...sums}, {widths: 'new', new: 20, old: 40, largest: 25, tab});
  assert.deepEqual({...Differences.of(tree, 5, sums)},
    {new: 10, old: 30, newShare: 50, oldShare: 75, change: -25});
  const swapped = FlameTree.swapped(tree);
  assert.deepEqual({...Differences.of(swapped, 5, Differences.measure(swapped, 'old', tab))},
    {...Differences.of(tree, 5, sums)});
});

test('compares the numbers of average windows', () => {
  const page = decode(NODES, {before: BEFORE, isPerWindow: true});
  const [tab] = page.tabs;
  const {tree} = tab;
  const sums = Differences.measure(tree, 'new', tab);
  assert.equal(sums.largest, 20);
  assert.equal(Differences.of(tree, 5, sums).change, -20);
  assert.equal(Differences.of(tree, 0, sums).change, -20, 'all changed, too');
  const swapped = FlameTree.swapped(tree);
  assert.equal(Differences.of(swapped, 5, Differences.measure(swapped, 'old', tab)).change, -20);
  assert.deepEqual([-20, 0, 3].map((change) => Differences.textOf(change, sums)),
    ['−20 samples', '±0', '+3 samples']);
});

test('counts what has no width', () => {
  const {tree} = decode([[0, 'main', 5], [1, 'gone', 0], [2, 'deeper', 0]], {before: [1, 2, 3]})
    .tabs[0];
  assert.equal(Differences.invisible(tree, 0), 5);
  assert.equal(Differences.invisible(FlameTree.swapped(tree), 0), 0);
});

test('colours less, equal and more', () => {
  assert.equal(Differences.colour('light', 0, 5, false), 'rgb(222 225 231)');
  assert.equal(Differences.colour('light', 5, 5, false), 'rgb(232 78 64)');
  assert.equal(Differences.colour('light', -5, 5, false), 'rgb(70 130 226)');
  assert.equal(Differences.colour('dark', 0, 0, false), 'rgb(66 70 79)');
  assert.deepEqual([12.345, -1.234, 0.00321, 0].map(Differences.points),
    ['+12.3', '−1.23', '+0.0032', '±0']);
});

test('keeps both sides in callers, callees and the inverted tree', () => {
  const page = decode(NODES, {before: BEFORE});
  const {callers, callees} = sandwichOf(page, 'leaf');
  assert.deepEqual([...callers.otherTotal], [25, 0, 0, 0, 25, 25]);
  assert.deepEqual([...callees.otherTotal], [25]);
  const inverted = DerivedTrees.inverted(page, page.tabs[0].tree, 'name');
  assert.equal(inverted.otherTotal[0], 40);
});

test('describes both sides of a function', () => {
  const page = decode(NODES, {before: BEFORE});
  const {tree} = page.tabs[0];
  const pairs = Descriptions.of({pane: {tree, isUp: true}, node: 5}, {
    page, tab: page.tabs[0], tree: 'calls', sums: Differences.measure(tree, 'new', page.tabs[0]),
    threadTotal: 20, total: 20, nameOf: (frame) => page.texts[page.frames.name[frame]],
  });
  assert.deepEqual(Array.from(pairs).slice(0, 4).map((pair) => [...pair]), [
    ['', 'b'], ['New', '50.0 %, 10 samples'], ['Old', '75.0 %, 30 samples'],
    ['Change', '−25.0 points'],
  ]);
});

test('sorts calls by the time of their first sample', () => {
  const page = decode(NODES, {first: [10, 20, 0, 5, 0, 30]});
  const {tree} = page.tabs[0];
  assert.deepEqual([...tree.first], [0, 10, 30, 30, 35, 10, 40]);
  assert.deepEqual(lines(page, FlameTree.byTime(tree)), [
    '0 all 0 20', '1 main 1 20', '2 b 0 10', '3 leaf 10 10', '2 a 2 9', '3 a 3 7', '4 leaf 4 4',
  ]);
  const {callers} = DerivedTrees.sandwich(page, tree, page.texts.indexOf('leaf'), 'time');
  assert.deepEqual([...callers.first], [35, 35, 35, 35, 40, 40]);
});

test('survives a stack of 100,000 frames', () => {
  const nodes = Array.from({length: 100000}, (_, i) => [i, 'f', i === 99999 ? 1 : 0]);
  const page = decode(nodes);
  const {tree} = page.tabs[0];
  assert.equal(FlameTree.deepest(tree, 0), 100000);
  assert.equal(FlameTree.byWeight(tree).total[0], 1);
  assert.equal(DerivedTrees.inverted(page, tree, 'name').depth.length, 100001);
});

test('writes amounts with their unit', () => {
  const tab = (unit, decimals = 0) => ({name: 'cycles', unit, decimals});
  assert.equal(Controls.amount(1, tab('samples')), '1 sample');
  assert.equal(Controls.amount(12345, tab('samples')), '12,345 samples');
  assert.equal(Controls.amount(12345, tab('count')), '12,345 cycles');
  assert.equal(Controls.amount(125, tab('bytes', 1)), '12.5 bytes');
  assert.equal(Controls.amount(1234567, tab('nanoseconds')), '1.235 ms');
  assert.equal(Controls.percent(1, 3), '33.3 %');
  assert.equal(Controls.percent(0, 0), '0 %');
});

test('searches without regard to case unless the pattern has capitals', () => {
  assert.ok(Controls.compile('malloc').expression.test('MyMalloc'));
  assert.ok(!Controls.compile('Malloc').expression.test('malloc'));
  assert.equal(Controls.compile('(').expression, null);
  assert.notEqual(Controls.compile('(').problem, '');
});

test('shortens names: template arguments first, then the middle', () => {
  const within = (size) => (form) => [...form].length <= size;
  assert.equal(Names.shorten('std::_Compiler<regex<char> >::_M_term()', within(40)),
    'std::_Compiler<regex<char> >::_M_term()');
  assert.equal(Names.shorten('std::_Compiler<regex<char> >::_M_term()', within(28)),
    'std::_Compiler<…>::_M_term()');
  assert.equal(Names.shorten('f<int>(long, long)', within(10)), 'f<…>(…)');
  assert.equal(Names.shorten('f<int, int>()', within(8)), 'f<…>()');
  assert.equal(Names.shorten('abcdefghijklmnopqrstuvwxyz', within(10)), 'abc…uvwxyz');
  assert.equal(Names.shorten('Pointer<Object>::operator->() const', within(30)),
    'Pointer<…>::operator->() const');
  assert.equal(Names.shorten('a < b, and no template', within(9)), 'a <…plate');
  assert.equal(Names.shorten('name', within(1)), '');
});

test('names the profile by its facts', () => {
  const facts = (start) => [
    `${start}hostname: box`, `${start}command line: perftape-record -q -o x -- ./app --fast`,
    `${start}recorded: 2026-11-25 09:06:18 UTC`, `${start}duration: 2.03 s`,
    `${start}losses: 12 samples`,
  ];
  const copy = (value) => JSON.parse(JSON.stringify(value));  // into this realm
  assert.deepEqual(copy(ProfileFacts.heading(facts(''))), {
    title: './app --fast – flame graph', heading: './app --fast',
    details: ['box · 2026-11-25 09:06:18 UTC · 2.03 s · 12 samples lost'],
  });
  const two = ProfileFacts.heading(['command line: perf record ls', 'command line: perf a']);
  assert.equal(two.heading, '2 commands');
  assert.equal(ProfileFacts.heading([]).title, 'Flame graph');
  const both = ProfileFacts.heading([
    ...facts('after: '), 'before: command line: perf record ./old', 'before: hostname: other',
  ]);
  assert.equal(both.heading, 'Difference: perf record ./old → ./app --fast');
  assert.deepEqual([...both.details], [
    'new: ./app --fast · box · 2026-11-25 09:06:18 UTC · 2.03 s · 12 samples lost',
    'old: perf record ./old · other',
  ]);
});

test('names a recording of the system by its host and time', () => {
  const headingOf = (command) => ProfileFacts.heading([
    'hostname: box', 'recorded: 2026-11-25 09:06:18 UTC', `command line: ${command}`,
  ]).heading;
  const system = 'box, 2026-11-25 09:06:18 UTC';
  assert.equal(headingOf('perftape-record -q -a --duration 5'), system);
  assert.equal(headingOf('perf record -F 99 -ag -o x.data'), system);
  assert.equal(headingOf('perftape record --all-cpus -- sleep 5'), system);
  assert.equal(headingOf('perf record -g ls -a'), 'perf record -g ls -a');
  assert.equal(headingOf('perf record -F 99 -g -- ls -la'), 'ls -la');
  assert.equal(headingOf('perftape-record -p 7'), 'perftape-record -p 7');
  assert.equal(headingOf('/usr/bin/perf record -- /opt/a/b/app /x'), 'app /x');
  assert.equal(ProfileFacts.heading(['command line: perf record -a']).heading, 'perf record -a');
});

test('reads what was compared, and the reasons', () => {
  assert.equal(decode(NODES).comparison, null);
  const {comparison} = decode(NODES, {comparison: [[0, 30, 10], [1, 5, 7]]});
  assert.equal(comparison.caption, 'main');
  assert.deepEqual(JSON.parse(JSON.stringify(comparison.rows)), [
    {depth: 0, ofNew: 30, ofOld: 10, text: 'main'}, {depth: 1, ofNew: 5, ofOld: 7, text: 'main'},
  ]);
});

test('joins threads whose names differ only in numbers', () => {
  assert.equal(Names.kindOfThread('worker-12/345'), 'worker');
  assert.equal(Names.kindOfThread('pool-3-thread-7'), Names.kindOfThread('pool-4-thread-11'));
  const threads = {'worker-1': 0, 'worker-2': 0, 'main': 0};
  const page = decode([
    [0, 'main', 1], [0, 'worker-1', 0], [1, 'f', 2], [2, 'g', 3], [0, 'worker-2', 0], [1, 'f', 4],
  ], {types: threads});
  const joined = DerivedTrees.withJoinedThreads(page, page.tabs[0].tree, (names) => {
    assert.deepEqual([...names], ['worker-1', 'worker-2']);
    page.texts.push('worker');
    page.frames.name.push(page.texts.length - 1);
    return page.frames.name.length - 1;
  });
  assert.deepEqual(lines(page, joined),
    ['0 all 0 10', '1 main 1 1', '1 worker 0 9', '2 f 6 9', '3 g 3 3']);
});
