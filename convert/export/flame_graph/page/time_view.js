// SPDX-License-Identifier: Apache-2.0
'use strict';

// Draws the lanes of threads on a canvas of the size of the window, and finds what is under the
// pointer. A redraw takes as long as there are pixels, whatever the number of intervals.
const TimeView = (() => {
  const ROW = 18;
  const HEAD = 36;  // the axis and the marks of all lanes
  const GAP = 6;    // between names and lanes
  const TEXT_FROM = 34;
  const FEWEST_LETTERS = 5;
  const SMALLEST_RANGE = 10;  // units
  const MOST_LOOKED_AT = 64;  // samples, for the name of an interval
  const MOST_MIXED = 64;      // lanes of a folded process
  const FONT = '11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

  class View {
    // `scroller` contains `canvas` and `spacer`, which has the height of all rows.
    constructor({scroller, canvas, spacer, page}) {
      Object.assign(this, {scroller, canvas, spacer, page, time: page.time});
      this.context = canvas.getContext('2d');
      this.theme = 'light';
      [this.from, this.to] = [0, this.time.length];  // what is shown
      this.selection = null;  // of TimePanel
      this.focus = null;      // {lane, at, window}; window is null, or one of TimeData
      this.link = null;       // {from, to, at}: lanes, of a wait and of its waker
      this.walks = null;      // the critical path: walks of TimePath, with `hops`
      this.heat = null;       // of HeatMap, if it is shown instead of the lanes
      this.heatCell = -1;
      const all = TimeRows.processesOf(this.time);
      this.ofCommand = all.filter((process) => TimeRows.isOfCommand(this.time, process));
      this.all = all;
      this.processes = this.ofCommand;
      this.others = false;    // whether all processes are shown
      this.windowRows = TimeRows.windowRowsOf(this.time.windows);
      this.folded = TimeRows.foldedAtFirst(this.processes, this.windowRows);
      this.markersOf = new Map();  // by lane
      for (const marker of this.time.markers) {
        if (!this.markersOf.has(marker.lane)) this.markersOf.set(marker.lane, []);
        this.markersOf.get(marker.lane).push(marker);
      }
      this.happened = this.time.kinds.flatMap((kind, tab) => (kind === 'happened' ? [tab] : []));
      this.totals = new Float64Array(TimeData.STATES.length);
      this.names = new Map();
      this.findRows();
    }

    get hasOthers() {
      return this.ofCommand.length < this.all.length;
    }

    // Shows all processes, or only those of the command that was recorded.
    showOthers(others) {
      if (others === this.others) return;
      this.others = others;
      this.processes = others ? this.all : this.ofCommand;
      this.findRows();
    }

    // The height of all rows.
    get rowsHeight() {
      return this.rows.length * ROW + HEAD + 4;
    }

    // A lane in a folded process has the row of the process.
    findRows() {
      this.rows = TimeRows.rowsOf(this.processes, this.folded, this.windowRows);
      this.rowOfLane = new Map();
      this.rowOfWindow = new Map();
      this.rows.forEach(({process, lane, windows}, row) => {
        if (windows !== null) {
          for (const window of windows) this.rowOfWindow.set(window, row);
          return;
        }
        const lanes = lane !== null ? [lane] : this.folded.has(process) ? process.lanes : [];
        for (const {index} of lanes) this.rowOfLane.set(index, row);
      });
    }

    layOut() {
      this.width = this.scroller.clientWidth;
      this.height = this.scroller.clientHeight;
      this.names = new Map();
      this.left = Math.min(Math.max(Math.floor(this.width * 0.18), 104), 230);
      this.plot = Math.max(this.width - this.left - GAP, 1);
      const rows = this.heat === null ? this.rowsHeight : 0;
      this.spacer.style.height = `${Math.max(rows, this.height)}px`;
      Controls.resize(this.canvas, this.context, this.width, this.height);
    }

    get isScrollable() {
      return this.spacer.offsetHeight > this.height;
    }

    // ---- places ----

    get step() {
      return (this.to - this.from) / this.plot;
    }

    xOf(at) {
      return this.left + GAP + (at - this.from) / this.step;
    }

    timeAt(x) {
      const at = this.from + (x - this.left - GAP) * this.step;
      return Math.min(Math.max(at, 0), this.time.length);
    }

    yOf(row) {
      return HEAD + row * ROW - this.scroller.scrollTop;
    }

    // The row of a focus.
    rowOf({lane, window}) {
      return window === null || !this.rowOfWindow.has(window) ? this.rowOfLane.get(lane.index) :
                                                                this.rowOfWindow.get(window);
    }

    // Returns {row, process, lane, windows, window, isName, isHead, at, x} at a position in the
    // window of the browser.
    placeAt(clientX, clientY) {
      const bounds = this.canvas.getBoundingClientRect();
      const [x, y] = [clientX - bounds.left, clientY - bounds.top];
      const isHead = y < HEAD;
      const row = isHead ? -1 : Math.floor((y - HEAD + this.scroller.scrollTop) / ROW);
      const entry = this.rows[row];
      const {process, lane, windows} =
          entry === undefined ? {process: null, lane: null, windows: null} : entry;
      const window = windows === null ? null : this.windowAt(windows, x);
      return {
        row,
        process,
        lane,
        windows,
        window,
        isName: x < this.left,
        isHead,
        at: this.timeAt(x),
        x,
        y,
      };
    }

    // Returns the window of a row at a position, or null. Short ones are as wide as they are drawn.
    windowAt(windows, x) {
      return windows.find(
                 ({from, to}) => x >= this.xOf(from) - 1 &&
                     x < Math.max(this.xOf(to), this.xOf(from) + 2) + 1) ||
          null;
    }

    // ---- what is shown ----

    // Shows a range of time, as far as it exists.
    show(from, to) {
      const {length} = this.time;
      const range = Math.min(Math.max(to - from, SMALLEST_RANGE), length);
      this.from = Math.min(Math.max(from, 0), length - range);
      this.to = this.from + range;
    }

    zoom(factor, at = (this.from + this.to) / 2) {
      const range = Math.max((this.to - this.from) * factor, SMALLEST_RANGE);
      const from = at - (at - this.from) * (range / (this.to - this.from));
      this.show(from, from + range);
    }

    pan(units) {
      this.show(this.from + units, this.to + units);
    }

    // Shows a lane, or a window above it, at a time, in the middle if it was not visible.
    reveal(lane, at, window = null) {
      const process = this.all.find(({lanes}) => lanes.includes(lane));
      const isHidden = !this.processes.includes(process);
      if (isHidden) this.showOthers(true);
      if (this.folded.delete(process) || isHidden) {
        this.findRows();
        this.layOut();
      }
      if (at < this.from || at > this.to) this.pan(at - (this.from + this.to) / 2);
      const top = this.rowOf({lane, window}) * ROW;
      const {scrollTop} = this.scroller;
      if (top < scrollTop || top + HEAD + ROW > scrollTop + this.height) {
        this.scroller.scrollTop = Math.max(top - (this.height - HEAD) / 2, 0);
      }
    }

    toggleFold(process) {
      if (!this.folded.delete(process)) this.folded.add(process);
      this.findRows();
      this.layOut();
    }

    // ---- drawing ----

    draw() {
      const {context} = this;
      this.colours = TimeColours.of(this.theme);
      context.fillStyle = this.colours.back;
      context.fillRect(0, 0, this.width, this.height);
      context.font = FONT;
      context.textBaseline = 'middle';
      if (this.heat !== null) {
        HeatView.draw(this, this.heat);
        return;
      }
      this.batches = this.colours.states.map(() => []);
      this.labels = [];
      const first = Math.max(Math.floor(this.scroller.scrollTop / ROW), 0);
      const last = Math.min(first + Math.ceil((this.height - HEAD) / ROW) + 1, this.rows.length);
      this.drawBack(first, last);
      for (let row = first; row < last; ++row) this.addRow(row);
      this.drawBatches();
      if (this.walks === null) this.drawLabels();
      for (let row = first; row < last; ++row) TimeMarks.drawMarks(this, row);
      TimeMarks.drawPath(this, first, last);
      for (let row = first; row < last; ++row) TimeMarks.drawWindows(this, row);
      TimeMarks.drawSelection(this, first, last);
      for (let row = first; row < last; ++row) this.drawName(row);
      TimeMarks.drawLink(this);
      TimeMarks.drawFocus(this);
      this.drawHead();
    }

    drawBack(first, last) {
      const {context, colours} = this;
      for (let row = first; row < last; ++row) {
        context.fillStyle = this.rows[row].lane === null ? colours.process : colours.line;
        if (this.rows[row].windows !== null) continue;
        const isProcess = this.rows[row].lane === null;
        context.fillRect(0, this.yOf(row) + (isProcess ? 0 : ROW - 1), this.width,
          isProcess ? ROW : 1);
      }
    }

    addRow(row) {
      const {lane, process, windows} = this.rows[row];
      const y = this.yOf(row);
      if (windows !== null) return;
      if (lane !== null) this.addLane(lane, y);
      else if (this.folded.has(process)) this.addProcess(process, y);
    }

    // Adds the boxes of a lane: runs of pixels with one state.
    addLane(lane, y) {
      const {time, from, step, plot} = this;
      const {start, end, state} = time.intervals;
      let i = TimeData.firstIntervalAfter(time, lane, from);
      for (let x = 0; x < plot && i < lane.end;) {
        const [begin, stop] = [from + x * step, from + (x + 1) * step];
        if (start[i] >= stop) {  // not born yet
          x = Math.max(Math.floor((start[i] - from) / step), x + 1);
          continue;
        }
        let next = x + 1;
        if (end[i] >= stop) {
          const isWhole = start[i] <= begin;
          next = Math.max(Math.min(Math.floor((end[i] - from) / step), plot), x + 1);
          if (isWhole || next > x + 1) this.addBox(state[i], x, next, y, {lane, interval: i});
          else this.addMix(lane, i, x, y);
        } else {
          this.addMix(lane, i, x, y);
        }
        x = next;
        const at = from + x * step;
        if (end[i] <= at) i = this.advance(lane, i, at);
      }
    }

    // Returns the first interval that ends after `at`, which is near: searches in growing steps.
    advance(lane, i, at) {
      const {end} = this.time.intervals;
      let [low, size] = [i, 1];
      while (low + size < lane.end && end[low + size] <= at) {
        low += size;
        size *= 2;
      }
      return TimeData.firstAbove(end, at, low, Math.min(low + size + 1, lane.end));
    }

    // Adds one pixel with the state that takes most of it.
    addMix(lane, first, x, y) {
      this.totals.fill(0);
      const from = this.from + x * this.step;
      TimeData.addStates(this.time, lane, {first, from, to: from + this.step}, this.totals);
      this.addBox(this.largest(), x, x + 1, y, null);
    }

    largest() {
      let most = 0;
      for (let i = 1; i < this.totals.length; ++i) if (this.totals[i] > this.totals[most]) most = i;
      return most;
    }

    addBox(state, x, next, y, of) {
      const batch = this.batches[state];
      const size = batch.length;
      const isSame = of === null && size > 0 && batch[size - 1] === y && batch[size - 2] === x;
      if (isSame) batch[size - 2] = next;
      else batch.push(x, next, y);
      if (of !== null && next - x >= TEXT_FROM) this.labels.push({state, x, next, y, ...of});
    }

    // A folded process shows for each pixel what most of its threads that do not sleep do.
    addProcess(process, y) {
      const {time, from, plot} = this;
      const lanes = process.lanes.slice(0, MOST_MIXED);
      const width = Math.max(Math.ceil((lanes.length * plot) / 40000), 1);
      const firsts = lanes.map((lane) => TimeData.firstIntervalAfter(time, lane, from));
      for (let x = 0; x < plot; x += width) {
        this.totals.fill(0);
        const begin = from + x * this.step;
        const stop = begin + width * this.step;
        lanes.forEach((lane, k) => {
          firsts[k] = firsts[k] < lane.end ? this.advance(lane, firsts[k], begin) : lane.end;
          if (firsts[k] >= lane.end) return;
          TimeData.addStates(time, lane, {first: firsts[k], from: begin, to: stop}, this.totals);
        });
        const sum = this.totals.reduce((a, b) => a + b, 0);
        if (sum === 0) continue;
        const busy = this.totals.slice(0, 4);  // running, runnable, disk, lock
        const most = busy.indexOf(Math.max(...busy));
        this.addBox(busy[most] > 0 ? most : this.largest(), x, Math.min(x + width, plot), y, null);
      }
    }

    drawBatches() {
      const {context} = this;
      const left = this.left + GAP;
      this.batches.forEach((batch, state) => {
        const [colour, , part] = this.colours.states[state];
        const height = Math.max(Math.round((ROW - 3) * part), 1);
        const top = ROW - 2 - height;
        context.fillStyle = colour;
        for (let i = 0; i < batch.length; i += 3) {
          const width = batch[i + 1] - batch[i];
          context.fillRect(left + batch[i], batch[i + 2] + top, width > 5 ? width - 1 : width,
            height);
        }
      });
    }

    drawLabels() {
      for (const {state, x, next, y, lane, interval} of this.labels) {
        if (state === TimeData.NOT_RECORDED) continue;
        const {start, end} = this.time.intervals;
        if (state === TimeData.RUNNING) this.drawSamples(lane, start[interval], end[interval], y);
        else this.drawText(this.titleOfInterval(interval), x, next, y, state);
      }
    }

    titleOfInterval(i) {
      const {node, tab} = this.time.intervals;
      return node[i] === 0 ? '' : this.titleOf(tab[i], node[i]);
    }

    titleOf(tab, node) {
      const key = tab * 4194304 + node;
      if (!this.names.has(key)) {
        this.names.set(key, TimeTexts.titleOf(this.page, {tab, node}));
      }
      return this.names.get(key);
    }

    // The name of each sample of a lane between two times, if there is room; else that of most.
    drawSamples(lane, start, end, y) {
      const {time, from, to, step} = this;
      if (time.onCpu < 0) return;
      const samples = time.samples[time.onCpu];
      const [first, last] = TimeData.samplesIn(samples, lane, Math.max(start, from),
        Math.min(end, to));
      if (first === last) return;
      const xOf = (at) => Math.max((at - from) / step, 0);
      const room = (xOf(Math.min(end, to)) - xOf(start)) / (last - first);
      if (room >= TEXT_FROM) {
        let x = xOf(start);
        for (let k = first; k < last; ++k) {
          const next = k + 1 < last ? xOf(samples.time[k]) : xOf(Math.min(end, to));
          this.drawText(this.titleOf(time.onCpu, samples.node[k]), x, next, y, 0);
          x = next;
        }
        return;
      }
      const counts = new Map();
      for (let k = first; k < last; k += Math.max(Math.floor((last - first) / MOST_LOOKED_AT), 1)) {
        const title = this.titleOf(time.onCpu, samples.node[k]);
        counts.set(title, (counts.get(title) || 0) + 1);
      }
      const [[title]] = [...counts].sort((a, b) => b[1] - a[1]);
      this.drawText(title, xOf(start), xOf(Math.min(end, to)), y, 0);
    }

    // Low boxes have no room for a text: it is above them.
    drawText(text, x, next, y, state) {
      const room = next - Math.max(x, 0) - 6;
      if (text === '' || room < TEXT_FROM - 6) return;
      const [, ink, part] = this.colours.states[state];
      this.context.fillStyle = part < 0.6 ? this.colours.soft : ink;
      const shown = this.fitted(text, room);
      const middle = part < 0.6 ? y + 5 : y + ROW - 2 - ((ROW - 3) * part) / 2;
      this.context.fillText(shown, this.left + GAP + Math.max(x, 0) + 3, middle);
    }

    // A few letters of a long name tell nothing.
    fitted(text, room) {
      const form = Names.shorten(text, (each) => each.length * 3 <= room &&
        this.context.measureText(each).width <= room);
      return form.length < Math.min(text.length, FEWEST_LETTERS) ? '' : form;
    }

    // Draws nothing over the names.
    inPlot(draw) {
      this.context.save();
      this.context.beginPath();
      this.context.rect(this.left + GAP, 0, this.plot, this.height);
      this.context.clip();
      draw();
      this.context.restore();
    }

    drawName(row) {
      const {context, colours, selection} = this;
      const {process, lane, windows} = this.rows[row];
      const y = this.yOf(row);
      if (windows !== null) {
        this.drawWindowName(lane, windows, y);
        return;
      }
      const isChosen = (each) => selection !== null && selection.lanes !== null &&
        selection.lanes.has(each.index);
      context.fillStyle = lane === null ? colours.process : colours.back;
      context.fillRect(0, y, this.left, ROW - 1);
      if (lane === null ? process.lanes.every(isChosen) : isChosen(lane)) {
        context.fillStyle = colours.edge;
        context.fillRect(0, y, 3, ROW - 1);
      }
      context.fillStyle = colours.ink;
      if (lane === null) {
        const sign = this.folded.has(process) ? '▸' : '▾';
        const id = TimeTexts.idText(process.pid);
        const text = `${process.name} ${id} · ${process.lanes.length} threads`;
        context.fillText(sign, 6, y + ROW / 2);
        context.fillText(this.fitted(text, this.left - 22), 18, y + ROW / 2);
        return;
      }
      const indent = process.lanes.length > 1 ? 18 : 6;
      const name = `${lane.comm} ${TimeTexts.idText(lane.tid)}`;
      context.fillText(this.fitted(name, this.left - indent - 4), indent, y + ROW / 2);
    }

    // Only the first of the rows has the name.
    drawWindowName(lane, windows, y) {
      const {context, colours} = this;
      context.fillStyle = colours.back;
      context.fillRect(0, y, this.left, ROW);
      if (this.windowRows.get(lane.index)[0] !== windows) return;
      context.fillStyle = colours.soft;
      context.fillText(this.fitted(this.time.windows.name, this.left - 22), 18, y + ROW / 2);
    }

    // The axis, the events of all lanes, and which part of the time is shown.
    drawHead() {
      const {context, colours, time} = this;
      context.fillStyle = colours.back;
      context.fillRect(0, 0, this.width, HEAD - 1);
      context.fillStyle = colours.line;
      context.fillRect(0, HEAD - 1, this.width, 1);
      if (this.selection !== null) {
        const [x, next] = [this.xOf(this.selection.from), this.xOf(this.selection.to)];
        this.inPlot(() => {
          context.fillStyle = colours.edge;
          context.fillRect(x, HEAD - 4, Math.max(next - x, 2), 3);
        });
      }
      context.fillStyle = colours.soft;
      const shown = (this.to - this.from) / time.length;
      if (shown < 1) {
        context.fillRect(this.left + GAP + (this.from / time.length) * this.plot, 0,
          Math.max(shown * this.plot, 4), 3);
      }
      context.fillText(this.fitted(TimeTexts.duration(time, this.to - this.from), this.left - 12),
        6, 12);
      this.drawTimes();
      for (const marker of this.markersOf.get(-1) || []) {
        if (marker.time < this.from || marker.time > this.to) continue;
        const x = this.xOf(marker.time);
        TimeMarks.drawMarker(this, marker, x, HEAD - 10);
        for (let y = HEAD; y < this.height; y += 8) context.fillRect(x, y, 1, 4);
      }
    }

    drawTimes() {
      const {context, colours, time} = this;
      const room = this.plot / Math.max(Math.floor(this.plot / 110), 1);
      const wanted = room * this.step;
      const power = 10 ** Math.floor(Math.log10(wanted));
      const tick = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= wanted);
      for (let at = Math.ceil(this.from / tick) * tick; at <= this.to; at += tick) {
        const x = this.xOf(at);
        context.fillStyle = colours.line;
        context.fillRect(x, 20, 1, HEAD - 20);
        context.fillStyle = colours.soft;
        const text = TimeTexts.clock(time, at, tick * 10);
        if (x + context.measureText(text).width < this.width) context.fillText(text, x + 2, 12);
      }
    }
  }

  return {View, ROW, HEAD, GAP, TEXT_FROM};
})();
