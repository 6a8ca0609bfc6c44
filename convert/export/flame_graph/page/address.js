// SPDX-License-Identifier: Apache-2.0
'use strict';

// The state of the page, as the part of its address after #:
//   event    index of the tab                thread   name of the root frame, or ''
//   tree     calls, inverted or sandwich     name     of the function of a sandwich
//   view     flame or icicle                 sort     name, weight or time
//   widths   new or old, of a pair of events
//   values   samples or period: the numbers; '' for those that the profile has by default
//   threads  'joined' if threads of one kind (Names.kindOfThread) are one
//   search   a pattern                       zoom     a node of the shown tree
//   table    '1' if the table is shown
//   show, from, to, lanes, path, heat, span, others   of the timeline (time_panel.js)
const Address = (() => {
  const DEFAULTS = {
    event: 0, thread: '', tree: 'calls', name: '', view: 'flame', sort: 'name', search: '', zoom: 0,
    table: '', widths: 'new', values: '', threads: '', show: '', from: 0, to: 0, lanes: '',
    path: '', heat: '', span: '', others: '',
  };

  const WORDS = {
    tree: ['calls', 'inverted', 'sandwich'],
    view: ['flame', 'icicle'],
    sort: ['name', 'weight', 'time'],
    widths: ['new', 'old'],
    values: ['samples', 'period'],
    threads: ['joined'],
    show: TimePanel.VIEWS,
  };

  // Returns the state in the address, without what the page does not know.
  function read(page) {
    const found = Controls.stateOfAddress();
    const state = {...DEFAULTS};
    for (const key of Object.keys(DEFAULTS)) {
      if (!found.has(key)) continue;
      const number = Number(found.get(key));
      if (typeof DEFAULTS[key] !== 'number') state[key] = found.get(key);
      else if (Number.isSafeInteger(number) && number >= 0) state[key] = number;
    }
    if (state.event >= page.tabs.length) state.event = 0;
    for (const [key, words] of Object.entries(WORDS)) {
      if (!words.includes(state[key])) state[key] = DEFAULTS[key];
    }
    return state;
  }

  // Returns the new address.
  function write(state) {
    const changed = Object.entries(state).filter(([key, value]) => value !== DEFAULTS[key]);
    const address = Controls.addressOfState(changed.map(([key, value]) => [key, String(value)]));
    history.replaceState(null, '', address);
    return address;
  }

  return {read, write};
})();
