// SPDX-License-Identifier: Apache-2.0
'use strict';

// Mouse, keyboard, window and printer: which event calls what of the application.
const PageEvents = (() => {
  const {byId} = Controls;

  function listen(application) {
    listenToPointer(application);
    listenToKeys(application);
    listenToWindow(application);
  }

  function listenToPointer(application) {
    const {view} = application;
    const canvas = byId('graph');
    canvas.addEventListener('mousemove', (event) => {
      const box = view.boxAt(event.clientX, event.clientY);
      const hover = box !== null && box.calls === undefined ? box : null;
      if ((hover && hover.node) !== (view.hover && view.hover.node) || hover === null) {
        view.hover = hover;
        view.draw();
      }
      application.showTip(box, event);
    });
    canvas.addEventListener('mouseleave', () => {
      view.hover = null;
      view.draw();
      application.showTip(null);
    });
    canvas.addEventListener('click', (event) => {
      const box = view.boxAt(event.clientX, event.clientY);
      if (box === null) return;
      application.showTip(null);
      if (box.calls !== undefined) {
        application.zoom(box.pane, Math.max(box.pane.tree.parent[box.node], 0));
      } else if (event.shiftKey) {
        application.sandwich(application.nameOf(box.pane.tree.frame[box.node]));
      } else {
        application.zoom(box.pane, box.node);
      }
    });
    byId('scroller').addEventListener('scroll', () => {
      view.draw();
      application.showTip(null);
    });
  }

  // Returns the node to which an arrow moves, or nothing.
  function neighbour(application, key) {
    const {view} = application;
    if (view.focus === null) {
      const pane = view.panes[view.panes.length - 1];
      return {pane, node: pane.zoom};
    }
    const {pane, node} = view.focus;
    const {tree} = pane;
    if (key === (pane.isUp ? 'ArrowDown' : 'ArrowUp')) {
      const parent = tree.parent[node];
      if (parent >= 0) return {pane, node: parent};
      const other = view.panes.find((each) => each !== pane);
      return other === undefined ? undefined : {pane: other, node: 0};
    }
    if (key === (pane.isUp ? 'ArrowUp' : 'ArrowDown')) {
      const children = FlameTree.childrenOf(tree, node);
      if (children.length === 0) return undefined;
      const largest = children.reduce((a, b) => (tree.total[b] > tree.total[a] ? b : a));
      return {pane, node: largest};
    }
    if (tree.parent[node] < 0) return undefined;
    const siblings = FlameTree.childrenOf(tree, tree.parent[node]);
    const at = siblings.indexOf(node) + (key === 'ArrowRight' ? 1 : -1);
    return siblings[at] === undefined ? undefined : {pane, node: siblings[at]};
  }

  function move(application, key) {
    const next = neighbour(application, key);
    if (next === undefined) return;
    const {pane, node} = next;
    const {tree} = pane;
    const isInZoom = node >= pane.zoom && node < tree.end[pane.zoom];
    let isAbove = false;
    for (let i = pane.zoom; i >= 0; i = tree.parent[i]) isAbove ||= i === node;
    if (!isInZoom && !isAbove) application.zoom(pane, Math.max(tree.parent[node], 0));
    application.select(pane, node);
  }

  function escape(application) {
    if (application.state.search !== '') {
      byId('search').value = '';
      application.search('');
    } else {
      application.change(application.state.tree === 'sandwich' ? {tree: 'calls'} : {});
    }
  }

  const KEYS = {
    '/': () => {
      byId('search').focus();
      byId('search').select();
    },
    'Escape': escape,
    'n': (application) => application.step(1),
    'N': (application) => application.step(-1),
    's': (application) => application.sandwich(application.chosenName()),
    'i': (application) => {
      application.change({view: application.state.view === 'flame' ? 'icicle' : 'flame'});
    },
    'w': (application) => application.swapWidths(),
    'v': (application) => application.swapValues(),
    't': (application) => application.toggleTable(),
    'l': (application) => application.times !== null && application.times.showNext(),
    '?': () => Toolbar.toggleSection('help'),
    'm': () => Toolbar.toggleMenu(),
    'c': (application) => {
      if (application.chosenName() !== '') application.copy(application.chosenName());
    },
    'C': (application) => {
      const {focus} = application.view;
      if (focus !== null) application.copy(Descriptions.stackOf(focus, application.shown()));
    },
  };

  function listenToKeys(application) {
    document.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target.matches('input, select, textarea')) return;
      if (!Object.hasOwn(KEYS, event.key)) return;
      event.preventDefault();
      KEYS[event.key](application);
    });
    byId('graph').addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key.startsWith('Arrow')) {
        event.preventDefault();
        move(application, event.key);
      } else if ((event.key === 'Enter' || event.key === ' ') && application.view.focus !== null) {
        event.preventDefault();
        const {pane, node} = application.view.focus;
        application.zoom(pane, node);
      }
    });
  }

  function listenToWindow(application) {
    window.addEventListener('resize', () => application.resize());
    // The header and the footer can change their heights, and the graph gets the rest.
    new ResizeObserver(() => application.resize()).observe(byId('scroller'));
    window.addEventListener('hashchange', () => {
      application.readAddress();
      application.refresh();
    });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      application.applyTheme();
      application.view.draw();
    });
    window.addEventListener('beforeprint', () => application.print(true));
    window.addEventListener('afterprint', () => application.print(false));
  }

  return {listen};
})();
