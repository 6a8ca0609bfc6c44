// SPDX-License-Identifier: Apache-2.0
'use strict';

// Finds windows of the critical path: {lane, from, to} of TimeData. Nothing here knows the DOM.
const TimeWindows = (() => {
  const lengthOf = ({from, to}) => to - from;

  function longest(windows) {
    return windows.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  }

  // Returns the window that is nearest to a time.
  function nearest(windows, at) {
    const distance = ({from, to}) => Math.max(from - at, at - to, 0);
    return windows.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  }

  // Returns the window that is `step` windows of its lane behind one, or undefined.
  function neighbour(windows, window, step) {
    const ofLane = windows.filter(({lane}) => lane === window.lane);
    return ofLane[ofLane.indexOf(window) + step];
  }

  return {longest, nearest, neighbour};
})();
