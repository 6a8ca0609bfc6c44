// SPDX-License-Identifier: Apache-2.0
'use strict';

// Draws a heat map (heat_map.js) on the canvas of the lanes, and finds what is under the pointer.
// `view` is that of time_view.js, and `map` of HeatMap.of.
const HeatView = (() => {
  const MARGIN = 8;
  const WIDEST_COLUMN = 40;

  // Where the map is: {left, top, height, column, row}, with the sizes of a cell.
  function boxOf(view, map) {
    const height = view.height - TimeView.HEAD - MARGIN;
    return {
      left: view.left + TimeView.GAP, top: TimeView.HEAD, height,
      column: Math.min(view.plot / map.columns, WIDEST_COLUMN), row: height / HeatMap.ROWS,
    };
  }

  // Returns the cell at a position in the window; -1 if none is there.
  function cellAt(view, clientX, clientY) {
    const bounds = view.canvas.getBoundingClientRect();
    const {left, top, column, row} = boxOf(view, view.heat);
    const x = Math.floor((clientX - bounds.left - left) / column);
    const y = Math.floor((clientY - bounds.top - top) / row);
    const isIn = x >= 0 && x < view.heat.columns && y >= 0 && y < HeatMap.ROWS;
    return isIn ? x * HeatMap.ROWS + (HeatMap.ROWS - 1 - y) : -1;
  }

  // Returns the colour of a count.
  function colourOf({heat: [none, most]}, count, largest) {
    const part = count === 0 ? 0 : 0.08 + 0.92 * (count / largest);
    return `rgb(${none.map((each, i) => Math.round(each + (most[i] - each) * part)).join(',')})`;
  }

  // The first part of a second is at the bottom.
  function draw(view, map) {
    const {context, colours, time, selection} = view;
    const {left, top, column, row} = boxOf(view, map);
    for (let cell = 0; cell < map.counts.length; ++cell) {
      const x = left + Math.floor(cell / HeatMap.ROWS) * column;
      const y = top + (HeatMap.ROWS - 1 - (cell % HeatMap.ROWS)) * row;
      const {from, to} = HeatMap.timeOf(map, cell);
      if (from > time.length) break;
      context.fillStyle = colourOf(colours, map.counts[cell], map.largest);
      context.fillRect(x, y, Math.max(column - (column > 4 ? 1 : 0), 1), row + 0.5);
      if (selection !== null && to > selection.from && from < selection.to) {
        context.fillStyle = colours.edge;
        context.fillRect(x, y, 4, row + 0.5);
      }
      if (cell === view.heatCell) {
        context.strokeStyle = colours.focus;
        context.lineWidth = 2;
        context.strokeRect(x, y, Math.max(column - 1, 2), row);
      }
    }
    drawAxes(view, map);
  }

  function drawAxes(view, map) {
    const {context, colours} = view;
    const {left, top, height, column} = boxOf(view, map);
    context.fillStyle = colours.soft;
    const every = Math.max(Math.ceil(60 / column), 1);
    for (let i = 0; i < map.columns; i += every) {
      context.fillText(`${i * map.seconds} s`, left + i * column, top - 10);
    }
    for (const part of [0, 0.25, 0.5, 0.75, 1]) {
      const y = top + height * (1 - part) + (part === 1 ? 6 : part === 0 ? -6 : 0);
      context.fillText(`${map.seconds * 1000 * part} ms`, Math.max(left - 62, 4), y);
    }
  }

  return {cellAt, draw};
})();
