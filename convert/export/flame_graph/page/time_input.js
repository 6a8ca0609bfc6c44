// SPDX-License-Identifier: Apache-2.0
'use strict';

// Mouse, wheel, touch and keys of the lanes and of the heat map: which event calls what of the
// panel.
const TimeInput = (() => {
  const CLICK = 4;  // pixels: what moves less is a click
  const ZOOM = 1.25;
  const PAN = 1 / 8;

  function listen(panel) {
    const {canvas} = panel.view;
    listenToPointers(panel, canvas);
    canvas.addEventListener('wheel', (event) => turn(panel, event), {passive: false});
    canvas.addEventListener('keydown', (event) => press(panel, event));
    panel.view.scroller.addEventListener('scroll', () => panel.redraw());
  }

  // ---- mouse and touch ----

  function listenToPointers(panel, canvas) {
    const pointers = new Map();  // that are down, by id
    let drag = null;
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button > 1) return;
      canvas.setPointerCapture(event.pointerId);
      pointers.set(event.pointerId, event);
      drag = pointers.size === 1 ? beginDrag(panel, event) : null;
      panel.hideTip();
    });
    canvas.addEventListener('pointermove', (event) => {
      if (pointers.size === 2 && pointers.has(event.pointerId)) {
        pinch(panel, pointers, event);
      } else if (drag !== null) {
        moveDrag(panel, drag, event);
      } else if (event.pointerType !== 'touch') {
        panel.hover(event);
      }
    });
    const end = (event) => {
      const isDone = pointers.delete(event.pointerId) && drag !== null;
      if (isDone && event.type === 'pointerup') endDrag(panel, drag, event);
      drag = null;
    };
    canvas.addEventListener('pointerup', end);
    canvas.addEventListener('pointercancel', end);
    canvas.addEventListener('pointerleave', () => panel.hideTip());
  }

  // A drag selects a range with the mouse, also on the axis. It pans with a finger and with Shift.
  function beginDrag(panel, event) {
    const {view} = panel;
    const place = view.placeAt(event.clientX, event.clientY);
    const pans = event.pointerType === 'touch' || event.shiftKey || event.button === 1;
    return {
      pans, place, x: event.clientX, last: event.clientX, hasMoved: false,
      cell: view.heat === null ? -1 : HeatView.cellAt(view, event.clientX, event.clientY),
    };
  }

  function moveDrag(panel, drag, event) {
    const {view} = panel;
    if (Math.abs(event.clientX - drag.x) > CLICK) drag.hasMoved = true;
    if (!drag.hasMoved || (drag.place.isName && !drag.pans)) return;
    if (view.heat !== null) {
      HeatPanel.select(panel, drag.cell, HeatView.cellAt(view, event.clientX, event.clientY));
    } else if (drag.pans) {
      view.pan((drag.last - event.clientX) * view.step);
      drag.last = event.clientX;
      panel.redraw();
    } else {
      panel.showRange(drag.place.at, view.placeAt(event.clientX, event.clientY).at);
    }
  }

  function endDrag(panel, drag, event) {
    const {view} = panel;
    if (view.heat !== null) {
      HeatPanel.finish(panel, drag.cell, HeatView.cellAt(view, event.clientX, event.clientY));
    } else if (!drag.hasMoved) {
      panel.click(drag.place, event);
    } else if (!drag.pans && !drag.place.isName) {
      panel.selectRange(drag.place.at, view.placeAt(event.clientX, event.clientY).at);
    }
  }

  // Two fingers: the times below them stay below them.
  function pinch(panel, pointers, event) {
    const {view} = panel;
    const left = view.canvas.getBoundingClientRect().left;
    const xs = () => [...pointers.values()].map(({clientX}) => clientX - left);
    const before = xs();
    pointers.set(event.pointerId, event);
    const after = xs();
    const apart = Math.abs(before[0] - before[1]);
    if (apart < 10 || Math.abs(after[0] - after[1]) < 10) return;
    const middle = view.timeAt((before[0] + before[1]) / 2);
    view.zoom(apart / Math.abs(after[0] - after[1]), middle);
    view.pan(((before[0] + before[1]) / 2 - (after[0] + after[1]) / 2) * view.step);
    panel.redraw();
  }

  // ---- wheel ----

  // The wheel zooms, with Ctrl or if all lanes are visible; with Shift it pans; else it scrolls.
  function turn(panel, event) {
    const {view} = panel;
    if (view.heat !== null) return;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? view.height : 1;
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    const amount = (isAcross && event.deltaX !== 0 ? event.deltaX : event.deltaY) * unit;
    const place = view.placeAt(event.clientX, event.clientY);
    const zooms = event.ctrlKey || event.metaKey ||
      ((!view.isScrollable || place.isHead) && !place.isName);
    if (isAcross) view.pan(amount * view.step);
    else if (zooms) view.zoom(1.0025 ** Math.max(Math.min(amount, 300), -300), place.at);
    else return;
    event.preventDefault();
    panel.redraw();
  }

  // ---- keys ----

  const KEYS = {
    'ArrowLeft': ({view}) => view.pan((view.from - view.to) * PAN),
    'ArrowRight': ({view}) => view.pan((view.to - view.from) * PAN),
    'ArrowUp': (panel) => panel.moveRow(-1),
    'ArrowDown': (panel) => panel.moveRow(1),
    '+': ({view}) => view.zoom(1 / ZOOM, panelCentre(view)),
    '=': ({view}) => view.zoom(1 / ZOOM, panelCentre(view)),
    '-': ({view}) => view.zoom(ZOOM, panelCentre(view)),
    '0': ({view}) => view.show(0, view.time.length),
    'Home': ({view}) => view.show(0, view.to - view.from),
    'End': ({view}) => view.show(view.time.length - view.to + view.from, view.time.length),
    'Enter': (panel) => panel.enter(),
    ' ': (panel) => panel.enter(),
    'r': (panel) => panel.selectShown(),
    'z': (panel) => panel.zoomToSelection(),
    '[': (panel) => panel.moveInterval(-1),
    ']': (panel) => panel.moveInterval(1),
    'g': (panel) => panel.jump(),
    'b': (panel) => panel.back(),
    'p': (panel) => panel.togglePath(),
    'Escape': (panel) => panel.escape(),
  };
  const HEAT_KEYS = {
    'ArrowLeft': (panel) => HeatPanel.move(panel, -HeatMap.ROWS),
    'ArrowRight': (panel) => HeatPanel.move(panel, HeatMap.ROWS),
    'ArrowUp': (panel) => HeatPanel.move(panel, 1),
    'ArrowDown': (panel) => HeatPanel.move(panel, -1),
    'Enter': (panel) => HeatPanel.enter(panel),
    ' ': (panel) => HeatPanel.enter(panel),
    'Escape': (panel) => panel.escape(),
  };

  // The chosen time if it is visible, else the middle.
  function panelCentre({focus, from, to}) {
    return focus !== null && focus.at >= from && focus.at <= to ? focus.at : (from + to) / 2;
  }

  function press(panel, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = panel.view.heat === null ? KEYS : HEAT_KEYS;
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    keys[event.key](panel);
    panel.redraw();
  }

  return {listen};
})();
