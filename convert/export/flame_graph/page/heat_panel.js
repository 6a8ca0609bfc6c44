// SPDX-License-Identifier: Apache-2.0
'use strict';

// The heat map of the timeline: what is told about its cells, and how ranges of them are selected.
const HeatPanel = (() => {
  function hover(panel, event) {
    const {view, application} = panel;
    const cell = HeatView.cellAt(view, event.clientX, event.clientY);
    view.heatCell = cell;
    application.showTipOf(cell < 0 ? null : pairsOf(panel, cell), event);
    view.canvas.style.cursor = 'crosshair';
    panel.redraw();
  }

  function pairsOf({view, time}, cell) {
    const {from, to} = HeatMap.timeOf(view.heat, cell);
    const count = view.heat.counts[cell];
    return [['', count === 1 ? '1 sample' : `${count.toLocaleString('en-US')} samples`],
      ['From', TimeTexts.clock(time, from, to - from)],
      ['To', TimeTexts.clock(time, to, to - from)]];
  }

  function rangeOf({view, time}, a, b) {
    if (a < 0 || b < 0) return null;
    const {from} = HeatMap.timeOf(view.heat, Math.min(a, b));
    const {to} = HeatMap.timeOf(view.heat, Math.max(a, b));
    return {from, to: Math.min(to, time.length)};
  }

  // Shows what a drag will select.
  function select(panel, a, b) {
    const range = rangeOf(panel, a, b);
    if (range !== null) panel.showRange(range.from, range.to);
  }

  function finish(panel, a, b) {
    const range = rangeOf(panel, a, b);
    if (range !== null && range.from < range.to) panel.selectRange(range.from, range.to);
  }

  function move(panel, step) {
    const {view, application} = panel;
    const {columns} = view.heat;
    const cell = Math.max(view.heatCell, 0) + step;
    if (cell >= 0 && cell < columns * HeatMap.ROWS) view.heatCell = cell;
    application.showPairs(pairsOf(panel, Math.max(view.heatCell, 0)));
  }

  // The first Enter begins the selection, the second one ends it.
  function enter(panel) {
    const {view} = panel;
    if (panel.firstCell === undefined) {
      panel.firstCell = view.heatCell;
      return;
    }
    finish(panel, panel.firstCell, view.heatCell);
    panel.firstCell = undefined;
  }

  return {hover, select, finish, move, enter};
})();
