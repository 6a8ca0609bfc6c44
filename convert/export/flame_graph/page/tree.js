// SPDX-License-Identifier: Apache-2.0
'use strict';

// Reads the data of the page (page_data.h) and lays out trees. Nothing here knows the DOM.
//
// A tree consists of columns in preorder. Node 0 is the root, which stands for all samples:
//   frame[i]    index in the frames; -1 for the root
//   depth[i]    0 for the root
//   parent[i]   -1 for the root
//   end[i]      the first node after those below i
//   self[i]     the number of samples that end in the node
//   total[i]    with those of all calls below it
//   start[i]    where the node's box begins, from 0 to total[0]
//   folded[i]   how many calls below it are too small for the data
// The tree of a pair of events also has columns for the other side than that of `self`, and the
// tree of a recording has a column of times. Other trees have null instead.
//   other[i], otherTotal[i]   as self and total
//   first[i]    when the first sample below the node was taken, in ms since the recording's first
const FlameTree = (() => {
  const VERSION = 6;
  const TYPES = ['thread', 'user', 'kernel', 'inlined', 'jit'];
  const BEFORE_COLUMN = 1;
  const FIRST_COLUMN = 2;
  const OTHER_NUMBERS = 4;
  const PER_WINDOW = 8;

  class Reader {
    constructor(bytes) {
      this.bytes = bytes;
      this.at = 0;
    }

    // A number up to 2^53 is exact.
    number() {
      let value = 0;
      let factor = 1;
      for (let i = 0; i < 10; ++i) {
        if (this.at >= this.bytes.length) throw new Error('the data of the page ends too early');
        const byte = this.bytes[this.at++];
        value += (byte & 127) * factor;
        if (byte < 128) return value;
        factor *= 128;
      }
      throw new Error('a number in the data of the page is too long');
    }

    // Each entry takes at least `columns` bytes, so absurd counts are refused.
    count(columns) {
      const count = this.number();
      if (count * columns > this.bytes.length - this.at) {
        throw new Error('a count in the data of the page is too large');
      }
      return count;
    }

    index(limit) {
      const index = this.number();
      if (index >= limit) throw new Error('an index in the data of the page is too large');
      return index;
    }

    text() {
      const size = this.count(1);
      this.at += size;
      return new TextDecoder().decode(this.bytes.subarray(this.at - size, this.at));
    }
  }

  function readFrames(reader, texts) {
    const count = reader.count(6);
    const column = (limit) =>
      Array.from({length: count}, () => reader.index(limit));
    const frames = {
      name: column(texts.length),
      type: column(TYPES.length),
      dso: column(texts.length),
      source: column(texts.length),
      firstLine: column(Infinity),
      lastLine: column(Infinity),
    };
    for (let i = 0; i < count; ++i) frames.lastLine[i] += frames.firstLine[i];
    return frames;
  }

  // Returns a tree with the columns that `like` has.
  function emptyTree(size, like) {
    return {
      other: like.other === null ? null : new Float64Array(size),
      otherTotal: like.other === null ? null : new Float64Array(size),
      first: like.first === null ? null : new Float64Array(size),
      frame: new Int32Array(size).fill(-1),
      depth: new Int32Array(size),
      parent: new Int32Array(size).fill(-1),
      end: new Int32Array(size),
      self: new Float64Array(size),
      total: new Float64Array(size),
      start: new Float64Array(size),
      folded: new Float64Array(size),
    };
  }

  function readTab(reader, texts, frameCount) {
    const tab = {
      name: texts[reader.index(texts.length)],
      unit: texts[reader.index(texts.length)],
    };
    const columns = reader.index((BEFORE_COLUMN | FIRST_COLUMN | OTHER_NUMBERS | PER_WINDOW) + 1);
    tab.isPerWindow = (columns & PER_WINDOW) !== 0;
    const hasBefore = (columns & BEFORE_COLUMN) !== 0;
    const hasFirst = (columns & FIRST_COLUMN) !== 0;
    const hasOther = (columns & OTHER_NUMBERS) !== 0;
    tab.decimals = reader.index(20);
    const scale = reader.number();
    tab.otherDecimals = hasBefore ? reader.index(20) : tab.decimals;
    const otherScale = hasBefore ? reader.number() : 1;
    const otherUnit = hasOther ? texts[reader.index(texts.length)] : '';
    const factor = hasOther ? reader.number() : 1;
    const hasColumns = factor === 0;
    const scales = [hasColumns, hasColumns && hasBefore].map((has) => (has ? reader.number() : 1));
    const count = reader.count(4);
    const tree = emptyTree(count + 1, {other: hasBefore || null, first: hasFirst || null});
    for (let i = 1; i <= count; ++i) {
      const depth = tree.depth[i - 1] + 1 - reader.number();
      if (depth < 1) throw new Error('a depth in the data of the page is wrong');
      tree.depth[i] = depth;
    }
    for (let i = 1; i <= count; ++i) tree.frame[i] = reader.index(frameCount);
    for (let i = 1; i <= count; ++i) tree.self[i] = reader.number() * scale;
    for (let i = 1; i <= count; ++i) tree.folded[i] = reader.number();
    for (let i = 1; hasBefore && i <= count; ++i) tree.other[i] = reader.number() * otherScale;
    const others = likeTree(tree);
    if (hasOther) readOthers(reader, {tree, others, factor, scales});
    tab.tree = finish(tree);
    for (let i = 1; hasFirst && i <= count; ++i) {
      tree.first[i] = tree.first[tree.parent[i]] + reader.number();
    }
    // The same calls with the other numbers of their samples: a tab like this one, or null.
    tab.others = !hasOther ? null : {
      name: tab.name, unit: otherUnit, decimals: 0, otherDecimals: 0, tree: finish(others),
    };
    if (hasOther) tab.others.others = tab;
    return tab;
  }

  // Returns a tree with the nodes of `tree` and numbers of its own, which are 0.
  function likeTree(tree) {
    const size = tree.depth.length;
    return {
      ...emptyTree(size, tree), frame: tree.frame, depth: tree.depth, folded: tree.folded,
      first: tree.first,
    };
  }

  // Returns the same tree with other numbers for the samples that end in each node.
  function withNumbers(tree, self) {
    return finish({...likeTree(tree), self});
  }

  // Fills the numbers of `others`: columns if `factor` is 0, else multiples of those of `tree`.
  function readOthers(reader, {tree, others, factor, scales}) {
    for (const [i, name] of ['self', 'other'].entries()) {
      if (tree[name] === null) continue;
      for (let node = 1; node < tree.depth.length; ++node) {
        others[name][node] = factor === 0 ? reader.number() * scales[i] : tree[name][node] * factor;
      }
    }
  }

  // Returns {caption, rows} of a comparison of windows, or null. Rows are {depth, ofNew, ofOld,
  // text}, the first two with nanoseconds.
  function readComparison(reader, texts) {
    const caption = texts[reader.index(texts.length)];
    if (caption === '') return null;
    const count = reader.count(4);
    const column = (limit) => Array.from({length: count}, () => reader.index(limit));
    const [depths, ofNew, ofOld] = [column(Infinity), column(Infinity), column(Infinity)];
    return {
      caption,
      rows: column(texts.length).map((text, i) => (
        {depth: depths[i], ofNew: ofNew[i], ofOld: ofOld[i], text: texts[text]})),
    };
  }

  // Returns {texts, facts, frames, tabs, comparison, time}. Throws an Error if the data is damaged.
  function decode(bytes) {
    const reader = new Reader(bytes);
    if (reader.number() !== VERSION) throw new Error('the data of the page has another version');
    const texts = reader.text().split('\n');
    texts.pop();
    const facts = Array.from({length: reader.count(1)}, () => texts[reader.index(texts.length)]);
    const frames = readFrames(reader, texts);
    const tabs = Array.from({length: reader.count(6)},
      () => readTab(reader, texts, frames.name.length));
    const comparison = readComparison(reader, texts);
    return {
      texts, facts, frames, tabs, comparison, time: TimeData.decode(reader, texts, tabs),
    };
  }

  // Computes all columns from depth, self and other.
  function finish(tree) {
    const {depth, parent, end, self, total, other, otherTotal, start} = tree;
    const size = depth.length;
    const open = [0];  // the last node of each depth
    for (let i = 1; i < size; ++i) {
      parent[i] = open[depth[i] - 1];
      open[depth[i]] = i;
    }
    for (let i = size - 1; i >= 0; --i) {
      total[i] += self[i];
      if (other !== null) otherTotal[i] += other[i];
      if (end[i] === 0) end[i] = i + 1;
      if (i === 0) break;
      const above = parent[i];
      total[above] += total[i];
      if (other !== null) otherTotal[above] += otherTotal[i];
      if (end[above] < end[i]) end[above] = end[i];
    }
    const next = new Float64Array(size);  // where the next child begins
    for (let i = 1; i < size; ++i) {
      start[i] = next[parent[i]];
      next[i] = start[i];
      next[parent[i]] += total[i];
    }
    return tree;
  }

  // Returns the tree whose root is `node`.
  function subtree(tree, node) {
    const result = emptyTree(tree.end[node] - node, tree);
    for (const column of ['frame', 'depth', 'self', 'folded', 'other', 'first']) {
      if (tree[column] === null) continue;
      result[column].set(tree[column].subarray(node, tree.end[node]));
    }
    result.depth.forEach((depth, i) => (result.depth[i] = depth - tree.depth[node]));
    return finish(result);
  }

  // Returns the same tree of a pair of events with the widths of the other side.
  function swapped(tree) {
    const result = emptyTree(tree.depth.length, tree);
    for (const column of ['frame', 'depth', 'folded', 'first']) {
      if (tree[column] !== null) result[column].set(tree[column]);
    }
    result.self.set(tree.other);
    result.other.set(tree.self);
    return finish(result);
  }

  // Returns the nodes whose parent is `node`.
  function childrenOf(tree, node) {
    const children = [];
    for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) children.push(i);
    return children;
  }

  // Returns a tree with the same nodes whose children are sorted by `order`, which compares nodes.
  function sorted(tree, order) {
    const size = tree.depth.length;
    const result = emptyTree(size, tree);
    const open = [0];
    for (let count = 0; open.length > 0; ++count) {
      const node = open.pop();
      result.frame[count] = tree.frame[node];
      result.depth[count] = tree.depth[node];
      result.self[count] = tree.self[node];
      result.folded[count] = tree.folded[node];
      if (tree.other !== null) result.other[count] = tree.other[node];
      if (tree.first !== null) result.first[count] = tree.first[node];
      const next = node + 1;
      if (next < tree.end[node] && tree.end[next] === tree.end[node]) {
        open.push(next);  // most nodes have one child
        continue;
      }
      const children = childrenOf(tree, node).sort(order);
      while (children.length > 0) open.push(children.pop());
    }
    return finish(result);
  }

  function byWeight(tree) {
    return sorted(tree, (a, b) => tree.total[b] - tree.total[a] || a - b);
  }

  function byTime(tree) {
    return sorted(tree, (a, b) => tree.first[a] - tree.first[b] || a - b);
  }

  function deepest(tree, node) {
    let depth = tree.depth[node];
    for (let i = node + 1; i < tree.end[node]; ++i) {
      if (tree.depth[i] > depth) depth = tree.depth[i];
    }
    return depth;
  }

  // Returns the sum of the totals of nodes with a matching frame. A match below another match is
  // not added again. `matches` is indexed by frame.
  function matchedTotal(tree, matches, node) {
    let sum = 0;
    for (let i = node; i < tree.end[node];) {
      if (tree.frame[i] >= 0 && matches[tree.frame[i]]) {
        sum += tree.total[i];
        i = tree.end[i];
      } else {
        ++i;
      }
    }
    return sum;
  }

  // Returns for each name of a function below `node` {name, frame, self, total, otherTotal}. A
  // recursive call adds nothing to the totals. `frame` is the one of the largest total.
  function functions(tree, frames, node) {
    const of = new Map();
    const open = [];  // the entries of the path, with the ends of their nodes
    for (let i = node; i < tree.end[node]; ++i) {
      while (open.length > 0 && open[open.length - 1].end <= i) open.pop().entry.isOpen = false;
      const frame = tree.frame[i];
      if (frame < 0) continue;
      const name = frames.name[frame];
      let entry = of.get(name);
      if (entry === undefined) {
        entry = {name, frame, self: 0, total: 0, otherTotal: 0, largest: 0, isOpen: false};
        of.set(name, entry);
      }
      entry.self += tree.self[i];
      if (entry.isOpen) continue;
      entry.total += tree.total[i];
      if (tree.other !== null) entry.otherTotal += tree.otherTotal[i];
      if (tree.total[i] > entry.largest) {
        entry.largest = tree.total[i];
        entry.frame = frame;
      }
      entry.isOpen = true;
      open.push({entry, end: tree.end[i]});
    }
    return [...of.values()];
  }

  return {
    TYPES, decode, emptyTree, finish, withNumbers, subtree, swapped, childrenOf, byWeight, byTime,
    deepest, matchedTotal, functions,
  };
})();
