// SPDX-License-Identifier: Apache-2.0
'use strict';

// Trees that are computed from a call tree: the callers and the callees of one function, and the
// callers of the innermost functions. Each node of such a tree joins nodes of the call tree.
const DerivedTrees = (() => {
  // A smaller share of the total is too narrow for any screen. It is folded into its caller.
  const SMALLEST_SHARE = 1 / 20000;

  // `group` is {nodes, weights}: nodes of the call tree, and how much of each belongs to the group.
  // `expand(group)` returns a Map from a frame's key to the next group.
  function build(tree, first, expand, order) {
    const columns = {frame: [], depth: [], self: [], folded: []};
    const total = sum(first.weights);
    const smallest = total * SMALLEST_SHARE;
    const open = [{group: first, frame: first.frame, depth: 0, weight: total}];
    while (open.length > 0) {
      const {group, frame, depth, weight} = open.pop();
      const children = [];
      let rest = weight;
      let folded = 0;
      for (const next of expand(group).values()) {
        const part = sum(next.weights);
        if (part < smallest) {
          ++folded;
          continue;
        }
        rest -= part;
        children.push({group: next, frame: next.frame, depth: depth + 1, weight: part});
      }
      columns.frame.push(frame);
      columns.depth.push(depth);
      columns.self.push(Math.max(rest, 0));
      columns.folded.push(folded);
      children.sort(order);
      while (children.length > 0) open.push(children.pop());
    }
    return toTree(columns);
  }

  function toTree(columns) {
    const tree = FlameTree.emptyTree(columns.frame.length);
    tree.frame.set(columns.frame);
    tree.depth.set(columns.depth);
    tree.self.set(columns.self);
    tree.folded.set(columns.folded);
    return FlameTree.finish(tree);
  }

  function sum(weights) {
    let total = 0;
    for (const weight of weights) total += weight;
    return total;
  }

  function add(groups, key, frame, node, weight) {
    let group = groups.get(key);
    if (group === undefined) {
      group = {nodes: [], weights: [], frame};
      groups.set(key, group);
    }
    group.nodes.push(node);
    group.weights.push(weight);
  }

  function callersIn(tree) {
    return (group) => {
      const groups = new Map();
      for (let i = 0; i < group.nodes.length; ++i) {
        const parent = tree.parent[group.nodes[i]];
        if (parent <= 0) continue;
        const frame = tree.frame[parent];
        add(groups, frame, frame, parent, group.weights[i]);
      }
      return groups;
    };
  }

  function calleesIn(tree) {
    return (group) => {
      const groups = new Map();
      for (const node of group.nodes) {
        for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) {
          add(groups, tree.frame[i], tree.frame[i], i, tree.total[i]);
        }
      }
      return groups;
    };
  }

  function orderOf(sort, texts, frames) {
    const name = (entry) => (entry.frame < 0 ? '' : texts[frames.name[entry.frame]]);
    const byName = (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a.frame - b.frame);
    return sort === 'weight' ? (a, b) => b.weight - a.weight || byName(a, b) : byName;
  }

  // Returns the outermost nodes with this name: a recursive call is a callee.
  function occurrences(tree, frames, name) {
    const group = {nodes: [], weights: [], frame: -1};
    let largest = -1;
    for (let i = 0; i < tree.end[0];) {
      if (tree.frame[i] < 0 || frames.name[tree.frame[i]] !== name) {
        ++i;
        continue;
      }
      group.nodes.push(i);
      group.weights.push(tree.total[i]);
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
    const group = {nodes: [], weights: [], frame: -1};
    for (let i = 1; i < tree.end[0]; ++i) {
      if (tree.self[i] <= 0) continue;
      group.nodes.push(i);
      group.weights.push(tree.self[i]);
    }
    const callers = callersIn(tree);
    const expand = (of) => {
      if (of !== group) return callers(of);
      const groups = new Map();
      for (let i = 0; i < group.nodes.length; ++i) {
        const frame = tree.frame[group.nodes[i]];
        add(groups, frame, frame, group.nodes[i], group.weights[i]);
      }
      return groups;
    };
    return build(tree, group, expand, order);
  }

  return {sandwich, inverted};
})();
