// SPDX-License-Identifier: Apache-2.0
'use strict';

// Trees that are computed from a call tree: the callers and the callees of one function, and the
// callers of the innermost functions. Each node of such a tree joins nodes of the call tree.
const DerivedTrees = (() => {
  // A smaller share of the total is too narrow for any screen. It is folded into its caller.
  const SMALLEST_SHARE = 1 / 20000;

  // A group has nodes of the call tree. `weights` and `others` are how much of each belongs to the
  // group, of `self` and of `other`; `firsts` are the times of the first of these samples.
  function emptyGroup(frame) {
    return {nodes: [], weights: [], others: [], firsts: [], frame};
  }

  // `expand(group)` returns a Map from a frame's key to the next group. Groups below `share` of all
  // are folded.
  function build(tree, first, expand, order, share = SMALLEST_SHARE) {
    const columns = {frame: [], depth: [], self: [], folded: [], other: [], first: []};
    const smallest = sum(first.weights) * share;
    const open = [entryOf(first, 0)];
    while (open.length > 0) {
      const entry = open.pop();
      const children = [];
      let [rest, otherRest, folded] = [entry.weight, entry.other, 0];
      for (const next of expand(entry.group).values()) {
        const child = entryOf(next, entry.depth + 1);
        if (child.weight < smallest) {
          ++folded;
          continue;
        }
        rest -= child.weight;
        otherRest -= child.other;
        children.push(child);
      }
      columns.frame.push(entry.frame);
      columns.depth.push(entry.depth);
      columns.self.push(Math.max(rest, 0));
      columns.folded.push(folded);
      columns.other.push(Math.max(otherRest, 0));
      columns.first.push(entry.first);
      children.sort(order);
      while (children.length > 0) open.push(children.pop());
    }
    return toTree(columns, tree);
  }

  function entryOf(group, depth) {
    const first = group.firsts.reduce((a, b) => Math.min(a, b), Infinity);
    const {frame} = group;
    return {group, frame, depth, weight: sum(group.weights), other: sum(group.others), first};
  }

  function toTree(columns, like) {
    const tree = FlameTree.emptyTree(columns.frame.length, like);
    for (const [name, column] of Object.entries(columns)) {
      if (tree[name] !== null) tree[name].set(column);
    }
    return FlameTree.finish(tree);
  }

  function sum(weights) {
    let total = 0;
    for (const weight of weights) total += weight;
    return total;
  }

  // Adds a node with the numbers of the i-th node of `from`.
  function add(groups, frame, node, from, i) {
    let group = groups.get(frame);
    if (group === undefined) {
      group = emptyGroup(frame);
      groups.set(frame, group);
    }
    group.nodes.push(node);
    group.weights.push(from.weights[i]);
    if (from.others.length > 0) group.others.push(from.others[i]);
    if (from.firsts.length > 0) group.firsts.push(from.firsts[i]);
  }

  // Adds a node with its own numbers.
  function addNode(group, tree, node, weights, others) {
    group.nodes.push(node);
    group.weights.push(weights[node]);
    if (others !== null) group.others.push(others[node]);
    if (tree.first !== null) group.firsts.push(tree.first[node]);
  }

  function callersIn(tree) {
    return (group) => {
      const groups = new Map();
      for (let i = 0; i < group.nodes.length; ++i) {
        const parent = tree.parent[group.nodes[i]];
        if (parent > 0) add(groups, tree.frame[parent], parent, group, i);
      }
      return groups;
    };
  }

  function calleesIn(tree) {
    return (group) => {
      const groups = new Map();
      for (const node of group.nodes) {
        for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) {
          const frame = tree.frame[i];
          if (!groups.has(frame)) groups.set(frame, emptyGroup(frame));
          addNode(groups.get(frame), tree, i, tree.total, tree.otherTotal);
        }
      }
      return groups;
    };
  }

  function orderOf(sort, texts, frames) {
    const name = (entry) => (entry.frame < 0 ? '' : texts[frames.name[entry.frame]]);
    const byName = (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a.frame - b.frame);
    if (sort === 'weight') return (a, b) => b.weight - a.weight || byName(a, b);
    if (sort === 'time') return (a, b) => a.first - b.first || byName(a, b);
    return byName;
  }

  // Returns the outermost nodes with this name: a recursive call is a callee.
  function occurrences(tree, frames, name) {
    const group = emptyGroup(-1);
    let largest = -1;
    for (let i = 0; i < tree.end[0];) {
      if (tree.frame[i] < 0 || frames.name[tree.frame[i]] !== name) {
        ++i;
        continue;
      }
      addNode(group, tree, i, tree.total, tree.otherTotal);
      if (tree.total[i] > largest) {
        largest = tree.total[i];
        group.frame = tree.frame[i];
      }
      i = tree.end[i];
    }
    return group;
  }

  // Returns {callers, callees} of all functions with this name, which is an index of a text. The
  // root of both is the function itself.
  function sandwich(page, tree, name, sort) {
    const order = orderOf(sort, page.texts, page.frames);
    const group = occurrences(tree, page.frames, name);
    return {
      callers: build(tree, group, callersIn(tree), order),
      callees: build(tree, group, calleesIn(tree), order),
    };
  }

  // Returns the tree of the innermost functions, whose children are their callers.
  function inverted(page, tree, sort) {
    const order = orderOf(sort, page.texts, page.frames);
    const group = emptyGroup(-1);
    for (let i = 1; i < tree.end[0]; ++i) {
      const isEmpty = tree.self[i] <= 0 && (tree.other === null || tree.other[i] <= 0);
      if (!isEmpty) addNode(group, tree, i, tree.self, tree.other);
    }
    const callers = callersIn(tree);
    const expand = (of) => {
      if (of !== group) return callers(of);
      const groups = new Map();
      for (let i = 0; i < group.nodes.length; ++i) {
        add(groups, tree.frame[group.nodes[i]], group.nodes[i], group, i);
      }
      return groups;
    };
    return build(tree, group, expand, order);
  }

  // Returns the tree in which threads of one kind (Names.kindOfThread) are one. `frameOf(names)`
  // returns the frame for the threads of these names.
  function withJoinedThreads(page, tree, frameOf) {
    const {frames, texts} = page;
    const isThread = (node) => FlameTree.TYPES[frames.type[tree.frame[node]]] === 'thread';
    const callees = calleesIn(tree);
    const all = emptyGroup(-1);
    addNode(all, tree, 0, tree.total, tree.otherTotal);
    const expand = (group) => {
      if (group !== all) return callees(group);
      const groups = new Map();
      for (const node of FlameTree.childrenOf(tree, 0)) {
        const name = texts[frames.name[tree.frame[node]]];
        const key = isThread(node) ? Names.kindOfThread(name) : tree.frame[node];
        if (!groups.has(key)) groups.set(key, emptyGroup(tree.frame[node]));
        addNode(groups.get(key), tree, node, tree.total, tree.otherTotal);
      }
      for (const group of groups.values()) {
        if (group.nodes.length < 2) continue;
        group.frame = frameOf(group.nodes.map((node) => texts[frames.name[tree.frame[node]]]));
      }
      return groups;
    };
    return build(tree, all, expand, orderOf('name', texts, frames), 0);
  }

  return {sandwich, inverted, withJoinedThreads};
})();
