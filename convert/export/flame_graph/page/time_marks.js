// SPDX-License-Identifier: Apache-2.0
'use strict';

// Draws what is above the lanes: events, the critical path, what is selected. `view` is that of
// time_view.js; only the rows from `first` to `last` are visible.
const TimeMarks = (() => {
  function drawMarks(view, row) {
    const {lane, windows} = view.rows[row];
    if (lane === null || windows !== null) return;
    const y = view.yOf(row);
    view.context.fillStyle = view.colours.mark;
    for (const tab of view.happened) drawTicks(view, view.time.samples[tab], lane, y);
    for (const marker of view.markersOf.get(lane.index) || []) {
      if (marker.time < view.from || marker.time > view.to) continue;
      drawMarker(view, marker, view.xOf(marker.time), y);
    }
  }

  // A tick for each time at which an event happened; one for each pixel at most.
  function drawTicks(view, samples, lane, y) {
    const {from, to, step, context} = view;
    const [first, last] = TimeData.samplesIn(samples, lane, from, to);
    for (let i = first; i < last;) {
      const x = Math.floor((samples.time[i] - from) / step);
      context.fillRect(view.left + TimeView.GAP + x, y, 1.5, 6);
      i = TimeData.firstAbove(samples.time, from + (x + 1) * step, i + 1, last);
    }
  }

  function drawMarker(view, marker, x, y) {
    const {context, colours} = view;
    const isOfAll = marker.type === 'loss' || marker.type === 'trigger';
    context.fillStyle = isOfAll ? colours.loss : colours.mark;
    if (marker.type === 'fork' || marker.type === 'exit') {
      context.fillRect(x, y + 1, 1.5, TimeView.ROW - 3);
      return;
    }
    context.beginPath();
    context.moveTo(x - 4, y);
    context.lineTo(x + 4, y);
    context.lineTo(x, y + 6);
    context.fill();
  }

  // The windows of a row, from their begins to their ends, with their lengths.
  function drawWindows(view, row) {
    const {windows} = view.rows[row];
    if (windows === null) return;
    const {context, colours, selection} = view;
    const [top, height] = [view.yOf(row) + 2, TimeView.ROW - 5];
    view.inPlot(() => {
      for (const window of windows) {
        if (window.to < view.from || window.from > view.to) continue;
        const [x, next] = [view.xOf(window.from), view.xOf(window.to)];
        const width = Math.max(next - x, 2);
        context.fillStyle = colours.window;
        context.fillRect(x, top, width, height);
        context.fillStyle = isChosen(window, selection) ? colours.path : colours.edge;
        context.fillRect(x, top, 1, height);
        context.fillRect(x + width - 1, top, 1, height);
        if (isChosen(window, selection)) context.fillRect(x, top + height - 2, width, 2);
        drawLength(view, window, x, next, top + height / 2);
      }
    });
  }

  // Whether the path of the window is what is selected.
  function isChosen({lane, from, to}, selection) {
    return selection !== null && selection.path === lane && selection.from === from &&
        selection.to === to;
  }

  function drawLength(view, {from, to}, x, next, middle) {
    const left = Math.max(x, view.left + TimeView.GAP);
    const room = Math.min(next, view.width) - left - 8;
    if (room < TimeView.TEXT_FROM) return;
    const text = view.fitted(TimeTexts.duration(view.time, to - from), room);
    view.context.fillStyle = view.colours.windowInk;
    view.context.fillText(text, left + 4, middle);
  }

  function drawPath(view, first, last) {
    if (view.walks === null) return;
    const {context, colours} = view;
    view.inPlot(() => {
      context.fillStyle = colours.veil;
      context.fillRect(view.left, TimeView.HEAD, view.width, view.height);
      for (const {from, to, hops} of view.walks) {
        if (to > view.from && from < view.to) drawHops(view, hops, first, last);
      }
    });
  }

  // Hops on the same pixel are one.
  function drawHops(view, hops, first, last) {
    let before = {row: -1, right: -1};
    for (let i = firstVisible(hops, view.from); i < hops.length; ++i) {
      const {from, to, lane, reason, interval} = hops[i];
      if (from > view.to) break;
      const row = view.rowOfLane.get(lane);
      const [x, right] = [view.xOf(from), Math.max(view.xOf(to), view.xOf(from) + 1)];
      if (row === before.row && right < before.right + 0.5) continue;
      if (row >= first && row < last) {
        drawStep(view, reason, x, right, view.yOf(row));
        drawName(view, {from, to, lane, reason, interval}, x, right, view.yOf(row));
      }
      if (i > 0 && hops[i - 1].lane !== lane && view.rowOfLane.has(hops[i - 1].lane) &&
          row !== undefined) {
        drawHandover(view, view.rowOfLane.get(hops[i - 1].lane), row, x);
      }
      before = {row, right};
    }
  }

  function drawName(view, {from, to, lane, reason, interval}, x, right, y) {
    if (right - Math.max(x, view.left) < TimeView.TEXT_FROM) return;
    const left = view.left + TimeView.GAP;
    if (reason === 'running') {
      view.drawSamples(view.time.lanes[lane], from, to, y);
    } else if (interval >= 0) {
      const state = view.time.intervals.state[interval];
      view.drawText(view.titleOfInterval(interval), x - left, right - left, y, state);
    }
  }

  function firstVisible(hops, from) {
    let [low, high] = [0, hops.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (hops[middle].to > from)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  function drawHandover(view, row, other, x) {
    const top = view.yOf(Math.min(row, other)) + TimeView.ROW - 2;
    const bottom = view.yOf(Math.max(row, other)) + TimeView.ROW;
    view.context.fillStyle = view.colours.path;
    view.context.fillRect(x - 0.75, top, 1.5, Math.max(bottom - top, 2));
  }

  // A step is a box of the colour of its state, with a line below it.
  function drawStep(view, reason, x, next, y) {
    const {context, colours} = view;
    const named = {timer: 4, network: 4, interrupt: 4}[reason];
    const state = named === undefined ? TimeData.STATES.indexOf(reason) : named;
    const [colour, , part] = colours.states[state];
    const height = Math.max(Math.round((TimeView.ROW - 3) * part), 1);
    const width = Math.max(next - x, 1);
    context.fillStyle = colour;
    context.fillRect(x, y + TimeView.ROW - 2 - height, width, height);
    context.fillStyle = colours.path;
    context.fillRect(x, y + TimeView.ROW - 3, width, 3);
  }

  function drawSelection(view, first, last) {
    const {selection, context, colours} = view;
    if (selection === null) return;
    view.inPlot(() => {
      const [x, next] = [view.xOf(selection.from), view.xOf(selection.to)];
      if (selection.from !== 0 || selection.to !== view.time.length) {
        context.fillStyle = colours.band;
        context.fillRect(x, 0, next - x, view.height);
        context.fillStyle = colours.edge;
        context.fillRect(x - 1, 0, 2, view.height);
        context.fillRect(next - 1, 0, 2, view.height);
      }
      context.fillStyle = colours.veil;
      const isDimmed = selection.lanes !== null && view.walks === null;
      for (let row = first; isDimmed && row < last; ++row) {
        const {lane, windows} = view.rows[row];
        if (lane === null || windows !== null || selection.lanes.has(lane.index)) continue;
        context.fillRect(view.left + TimeView.GAP, view.yOf(row), view.plot, TimeView.ROW);
      }
    });
  }

  // From a wait to its waker.
  function drawLink(view) {
    if (view.link === null) return;
    const {context, colours} = view;
    const [y, end] = [view.link.from, view.link.to]
      .map((lane) => view.yOf(view.rowOfLane.get(lane)) + TimeView.ROW / 2);
    const x = view.xOf(view.link.at);
    if (x < view.left + TimeView.GAP) return;
    const side = end > y ? 1 : -1;
    context.strokeStyle = context.fillStyle = colours.focus;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x, end - side * 6);
    context.stroke();
    context.beginPath();
    context.moveTo(x - 4, end - side * 7);
    context.lineTo(x + 4, end - side * 7);
    context.lineTo(x, end);
    context.fill();
  }

  function drawFocus(view) {
    if (view.focus === null) return;
    const {context, colours, time} = view;
    const {lane, at, window} = view.focus;
    const y = view.yOf(view.rowOf(view.focus));
    context.strokeStyle = colours.focus;
    context.lineWidth = 2;
    const i = TimeData.intervalAt(time, lane, at);
    const [start, end] = window !== null ? [window.from, window.to] :
        i < 0                            ? [at, at] :
                                           [time.intervals.start[i], time.intervals.end[i]];
    view.inPlot(() => {
      const x = Math.max(view.xOf(start), view.left - 4);
      const width = Math.min(view.xOf(end), view.width + 4) - x;
      context.strokeRect(x, y + 0.5, Math.max(width, 3), TimeView.ROW - 2);
      context.fillStyle = colours.focus;
      context.fillRect(view.xOf(at) - 0.5, y - 2, 1, TimeView.ROW + 3);
    });
  }

  return {drawMarks, drawMarker, drawWindows, drawPath, drawSelection, drawLink, drawFocus};
})();
