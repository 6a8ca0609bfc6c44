// SPDX-License-Identifier: Apache-2.0
'use strict';

// Draws trees on a canvas of the size of the window, and finds what is under the pointer. A redraw
// visits only boxes that are wide enough to see, whatever the size of the tree.
const Graph = (() => {
  const ROW = 20;
  const NARROW = 0.7;  // pixels: narrower boxes of one caller are drawn as one
  const TEXT_FROM = 22;
  const MOST_SEARCHED = 500;
  const MOST_PRINTED = 8000;
  const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

  // The text on each colour has a contrast of at least 4.5 (WCAG 2.1, level AA).
  // Hue, saturation and lightness of the types of frames, and how far names vary them.
  const COLOURS = {
    light: {
      thread: [220, 9, 84, 0], user: [36, 92, 72, 12], kernel: [206, 70, 76, 9],
      inlined: [276, 52, 83, 9], jit: [140, 44, 72, 12], root: [220, 12, 88, 0],
    },
    dark: {
      thread: [220, 8, 34, 0], user: [31, 62, 31, 9], kernel: [208, 48, 40, 8],
      inlined: [272, 32, 46, 8], jit: [145, 36, 30, 9], root: [220, 10, 28, 0],
    },
  };
  const INK = {
    light: {
      text: '#1d1a16', faint: 'rgba(80,84,92,.28)', match: '#d6247f', matchText: '#ffffff',
      focus: '#111111', back: '#ffffff', centre: '#1f5fbf', centreText: '#ffffff',
    },
    dark: {
      text: '#f6f2ea', faint: 'rgba(200,205,215,.22)', match: '#f062ab', matchText: '#1a0a12',
      focus: '#ffffff', back: '#16181d', centre: '#6ea8ff', centreText: '#0b1526',
    },
  };

  function hash(text) {
    let value = 2166136261;
    for (let i = 0; i < text.length; ++i) value = Math.imul(value ^ text.charCodeAt(i), 16777619);
    return ((value >>> 0) % 1000) / 1000;
  }

  function colour(theme, type, name, isDimmed) {
    const [hue, saturation, lightness, spread] = COLOURS[theme][type];
    const vary = (hash(name) - 0.5) * 2;
    const h = hue + vary * spread;
    const l = lightness + vary * spread * 0.35;
    if (isDimmed) return `hsl(${h} ${saturation * 0.25}% ${theme === 'dark' ? 26 : 92}%)`;
    return `hsl(${h} ${saturation}% ${l}%)`;
  }

  class View {
    // `scroller` contains `canvas` and `spacer`, which has the height of the whole graph.
    constructor({scroller, canvas, spacer, page}) {
      Object.assign(this, {scroller, canvas, spacer, page});
      this.context = canvas.getContext('2d');
      this.panes = [];
      this.theme = 'light';
      this.matches = null;  // by frame
      this.isSandwich = false;
      this.isPrinting = false;
      this.focus = null;    // {pane, node}
      this.hover = null;
      this.colours = new Map();
      this.sums = null;     // Differences.measure, if colours show changes
      this.widths = new Map();
      this.rows = 1;
      this.boxes = new Map();
      this.rootLabel = 'all';
    }

    // `panes` is one {tree, isUp, zoom}, or the callers and callees of a function.
    show(panes) {
      this.panes = panes;
      for (const pane of panes) pane.deepest = FlameTree.deepest(pane.tree, 0);
      this.focus = null;
      this.hover = null;
      this.layOut();
      const origin = panes[0].isUp ? this.spacer.offsetHeight : 0;
      this.scroller.scrollTop = panes.length > 1 ? panes[0].base * ROW - this.height / 2 : origin;
      this.draw();
    }

    // The part of the graph that is above the window, in pixels.
    get top() {
      return this.isPrinting ? 0 : this.scroller.scrollTop;
    }

    // Gives each pane the row of its root, which no zoom changes, and the graph its height.
    layOut() {
      this.rows = this.panes.reduce((sum, pane) => sum + pane.deepest, 1);
      this.width = this.scroller.clientWidth;
      this.height = this.scroller.clientHeight;
      if (this.isPrinting) this.height = Math.min(this.rows * ROW + 2, MOST_PRINTED);
      const [first] = this.panes;
      const isFlame = first.isUp && this.panes.length === 1 && !this.isPrinting;
      const spare = isFlame ? Math.max(Math.floor(this.height / ROW) - this.rows, 0) : 0;
      for (const pane of this.panes) pane.base = first.isUp ? first.deepest + spare : 0;
      this.spacer.style.height = `${Math.max(this.rows * ROW + 2, this.height)}px`;
      Controls.resize(this.canvas, this.context, this.width, this.height);
    }

    setTheme(theme) {
      this.theme = theme;
      this.colours.clear();
    }

    rowOf(pane, depth) {
      return pane.isUp ? pane.base - depth : pane.base + depth;
    }

    draw() {
      if (this.width <= 0) return;  // hidden
      const {context} = this;
      context.fillStyle = INK[this.theme].back;
      context.fillRect(0, 0, this.width, this.height);
      context.font = FONT;
      context.textBaseline = 'middle';
      this.boxes = new Map();
      this.firstRow = Math.floor(this.top / ROW) - 1;
      this.lastRow = this.firstRow + Math.ceil(this.height / ROW) + 2;
      for (const pane of this.panes) this.drawPane(pane);
      this.drawFocus();
    }

    drawPane(pane) {
      const {tree, zoom} = pane;
      for (let i = tree.parent[zoom]; i >= 0; i = tree.parent[i]) {
        this.addBox({pane, node: i, x: 0, width: this.width, isAbove: true});
      }
      const total = tree.total[zoom];
      if (total <= 0) return;
      const scale = this.width / total;
      const origin = tree.start[zoom];
      const end = tree.end[zoom];
      for (let i = zoom; i < end;) {
        const x = (tree.start[i] - origin) * scale;
        const width = tree.total[i] * scale;
        if (width >= NARROW) {
          this.addBox({pane, node: i, x, width});
          ++i;
        } else {
          i = this.addStrip(pane, i, x, scale);
        }
      }
    }

    // Adds the narrow siblings from `first` on as one box, and returns the node after them.
    addStrip(pane, first, x, scale) {
      const {tree} = pane;
      const end = tree.end[tree.parent[first]];
      let total = 0;
      let next = first;
      while (next < end && tree.total[next] * scale < NARROW) {
        total += tree.total[next];
        next = tree.end[next];
      }
      const width = total * scale;
      if (width >= NARROW) {
        this.addBox({pane, node: first, x, width, calls: next - first, total});
      }
      return next;
    }

    addBox(box) {
      const row = this.rowOf(box.pane, box.pane.tree.depth[box.node]);
      if (row < this.firstRow || row > this.lastRow) return;
      if (!this.boxes.has(row)) this.boxes.set(row, []);
      this.boxes.get(row).push(box);
      box.row = row;
      this.paint(box);
    }

    paint(box) {
      const {context} = this;
      const ink = INK[this.theme];
      const y = box.row * ROW - this.top;
      const gap = box.width > 4 ? 1 : 0;
      if (box.calls !== undefined) {
        context.fillStyle = this.hasMatch(box) ? ink.match : ink.faint;
        context.globalAlpha = this.matches !== null && !this.hasMatch(box) ? 0.35 : 1;
        context.fillRect(box.x, y + 1, Math.max(box.width - gap, 0.5), ROW - 2);
        context.globalAlpha = 1;
        return;
      }
      const frame = box.pane.tree.frame[box.node];
      const isMatch = this.matches !== null && frame >= 0 && this.matches[frame];
      const isCentre = this.isSandwich && box.node === 0;
      const isDimmed = this.matches !== null && !isMatch;
      context.globalAlpha = box.isAbove ? 0.55 : 1;
      context.fillStyle = isMatch ? ink.match : this.fillOf(box, isDimmed);
      if (isCentre) context.fillStyle = ink.centre;
      context.fillRect(box.x, y + 1, Math.max(box.width - gap, 0.5), ROW - 1);
      context.globalAlpha = 1;
      if (box.width >= TEXT_FROM) {
        context.fillStyle = isMatch ? ink.matchText : ink.text;
        if (isCentre) context.fillStyle = ink.centreText;
        this.paintText(frame, box.x, y, box.width);
      }
    }

    // Whether one of the first calls in a box of narrow ones matches.
    hasMatch({pane, node, calls}) {
      if (this.matches === null) return false;
      const end = node + Math.min(calls, MOST_SEARCHED);
      for (let i = node; i < end; ++i) if (this.matches[pane.tree.frame[i]]) return true;
      return false;
    }

    fillOf({pane, node}, isDimmed) {
      if (this.sums !== null) {
        const {change} = Differences.of(pane.tree, node, this.sums);
        return Differences.colour(this.theme, change, this.sums.largest, isDimmed);
      }
      const frame = pane.tree.frame[node];
      const key = frame * 2 + (isDimmed ? 1 : 0);
      let fill = this.colours.get(key);
      if (fill === undefined) {
        const {frames, texts} = this.page;
        const type = frame < 0 ? 'root' : FlameTree.TYPES[frames.type[frame]];
        fill = colour(this.theme, type, frame < 0 ? '' : texts[frames.name[frame]], isDimmed);
        this.colours.set(key, fill);
      }
      return fill;
    }

    labelOf(frame) {
      return frame < 0 ? this.rootLabel : this.page.texts[this.page.frames.name[frame]];
    }

    // Shortens a name that does not fit into its box.
    paintText(frame, x, y, width) {
      const room = width - 9;
      // No name has more letters than pixels.
      const text = Names.shorten(this.labelOf(frame),
        (form) => form.length <= room && this.widthOf(form) <= room);
      if (text !== '') this.context.fillText(text, Math.max(x, 0) + 4, y + ROW / 2 + 1);
    }

    widthOf(text) {
      let width = this.widths.get(text);
      if (width === undefined) {
        if (this.widths.size > 20000) this.widths.clear();
        width = this.context.measureText(text).width;
        this.widths.set(text, width);
      }
      return width;
    }

    drawFocus() {
      for (const [node, line] of [[this.hover, 1], [this.focus, 2]]) {
        if (node === null) continue;
        const box = this.boxOf(node);
        if (box === null) continue;
        const y = box.row * ROW - this.top;
        this.context.strokeStyle = INK[this.theme].focus;
        this.context.lineWidth = line;
        this.context.strokeRect(box.x + line / 2, y + 1 + line / 2,
          Math.max(box.width - 1 - line, 1), ROW - 1 - line);
      }
    }

    // Returns the drawn box of {pane, node}, or null.
    boxOf({pane, node}) {
      const row = this.boxes.get(this.rowOf(pane, pane.tree.depth[node])) || [];
      return row.find((box) => box.pane === pane && box.node === node) || null;
    }

    // Returns the box at a position in the window, or null.
    boxAt(clientX, clientY) {
      const bounds = this.canvas.getBoundingClientRect();
      const x = clientX - bounds.left;
      const row = Math.floor((clientY - bounds.top + this.top) / ROW);
      const boxes = this.boxes.get(row) || [];
      return boxes.find((box) => x >= box.x && x < box.x + Math.max(box.width, 1)) || null;
    }

    // Makes `node` as wide as the window.
    zoom(pane, node) {
      pane.zoom = node;
      this.layOut();
      this.reveal({pane, node});
    }

    // Scrolls so that the node is visible.
    reveal({pane, node}) {
      const y = this.rowOf(pane, pane.tree.depth[node]) * ROW;
      if (y < this.scroller.scrollTop + ROW) this.scroller.scrollTop = y - 2 * ROW;
      if (y > this.scroller.scrollTop + this.height - 2 * ROW) {
        this.scroller.scrollTop = y - this.height + 3 * ROW;
      }
      this.draw();
    }
  }

  return {View, ROW, colour};
})();
