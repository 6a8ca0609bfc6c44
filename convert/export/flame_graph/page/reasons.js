// SPDX-License-Identifier: Apache-2.0
'use strict';

// What is compared by --against, and the reasons of the difference, the largest first. Texts have
// names of functions and threads; they are set as textContent.
const Reasons = (() => {
  const {byId, element, nanoseconds} = Controls;
  const INDENT = 14;  // pixels

  // `comparison` is of FlameTree.decode, or null.
  function fill(comparison) {
    byId('reasons').hidden = comparison === null;
    if (comparison === null) return;
    byId('reasons-caption').textContent = comparison.caption;
    byId('reason-rows').replaceChildren(...comparison.rows.map(rowOf));
    byId('reasons').querySelector('thead').hidden = comparison.rows.length === 0;
  }

  function rowOf({depth, ofNew, ofOld, text}) {
    const row = element('tr');
    const difference = ofNew - ofOld;
    const sign = difference < 0 ? '−' : '+';
    const size = Math.abs(difference);
    const cell = element('td', text);
    cell.style.paddingLeft = `${10 + INDENT * Math.min(depth, 20)}px`;
    row.append(element('td', size === 0 ? '±0' : sign + nanoseconds(size)),
      element('td', nanoseconds(ofNew)), element('td', nanoseconds(ofOld)), cell);
    return row;
  }

  return {fill};
})();
