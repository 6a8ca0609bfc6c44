// SPDX-License-Identifier: Apache-2.0
'use strict';

// The parts of a critical path as a table. Titles are names of functions, set as textContent.
const PathTable = (() => {
  const {byId, element, percent} = Controls;
  const MOST_ROWS = 200;

  // Fills the table with the parts of walks of TimePath. `choose(lane, at)` is called for the
  // chosen part.
  function fill(page, walks, choose) {
    const {time} = page;
    const path = {steps: walks.flatMap(({steps}) => steps)};
    const length = walks.reduce((sum, {from, to}) => sum + Math.max(to - from, 0), 0);
    const explained = percent(TimePath.explainedIn(path), length);
    byId('path-caption').textContent = `Why ${subjectOf(time, walks)} took ` +
        `${TimeTexts.duration(time, length)}: ${explained} explained` +
        (time.shortest === 0 ? '' : ', roughly, because short times are joined') +
        (time.hasWakeups ? '' : '. Who woke whom was not recorded: perftape-record --why');
    const parts = TimePath.partsOf(time, walks, textsOf(page));
    byId('path-note').textContent = TimeTexts.cpuWaitsText(time);
    byId('path-foot').hidden = time.cpuWaits.notRecorded === 0;
    byId('path-rows').replaceChildren(...parts.slice(0, MOST_ROWS)
      .map((part) => rowOf(time, part, length, choose)));
  }

  // Returns whose time the walks are: of a thread, or of several windows.
  function subjectOf(time, walks) {
    if (walks.length === 1) return TimeTexts.laneName(time.lanes[walks[0].lane]);
    return `${walks.length} windows`;
  }

  // Returns the texts for TimePath.partsOf.
  function textsOf(page) {
    const {time} = page;
    const known = new Map();  // titles, by stack
    const titleOf = (tab, node) => {
      const key = `${tab} ${node}`;
      if (!known.has(key)) known.set(key, TimeTexts.titleOf(page, {tab, node}, true));
      return known.get(key);
    };
    const {tab: tabs, node: nodes} = time.intervals;
    return {
      name: (lane) => time.lanes[lane].comm,
      waitOf: (interval) => `${tabs[interval]} ${nodes[interval]}`,
      titleOf: ({interval: i}) =>
        (i < 0 || nodes[i] === 0 ? '' : titleOf(tabs[i], nodes[i])),
      samplesOf: (step) => samplesOf(time, step, titleOf),
    };
  }

  function samplesOf(time, {lane, from, to}, titleOf) {
    if (time.onCpu < 0) return [];
    const samples = time.samples[time.onCpu];
    const [first, end] = TimeData.samplesIn(samples, time.lanes[lane], from, to);
    const found = [];
    for (let i = first; i < end; ++i) {
      found.push([titleOf(time.onCpu, samples.node[i]), samples.periods(i)]);
    }
    return found;
  }

  function rowOf(time, {name, reason, title, length, longest}, whole, choose) {
    const row = element('tr');
    const button = element('button', name);
    button.type = 'button';
    button.title = 'Show the longest part';
    button.addEventListener('click',
      () => choose(time.lanes[longest.lane], Math.floor((longest.from + longest.to) / 2)));
    const cell = element('td');
    cell.append(button, element('span', title === '' ? reason : `${reason}: ${title}`));
    row.append(element('td', percent(length, whole)),
      element('td', TimeTexts.duration(time, Math.round(length))), cell);
    return row;
  }

  return {fill, textsOf};
})();
