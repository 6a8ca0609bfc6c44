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
    const known = new Map();  // titles, by stack
    const titleOf = (tab, node) => {
      const key = `${tab} ${node}`;
      if (!known.has(key)) known.set(key, TimeTexts.titleOf(page, {tab, node}, true));
      return known.get(key);
    };
    const parts = TimePath.partsOf(path, (lane) => time.lanes[lane].comm,
      (step) => titlesOf(time, step, titleOf));
    byId('path-rows').replaceChildren(...parts.slice(0, MOST_ROWS)
      .map((part) => rowOf(time, part, length, choose)));
  }

  // Returns whose time the walks are: of a thread, or of several windows.
  function subjectOf(time, walks) {
    if (walks.length === 1) return TimeTexts.laneName(time.lanes[walks[0].lane]);
    return `${walks.length} windows`;
  }

  // Returns the functions of a step for TimePath.partsOf: of its samples, or of its wait.
  function titlesOf(time, {lane: index, from, to, reason, interval}, titleOf) {
    const lane = time.lanes[index];
    if (reason !== 'running' || time.onCpu < 0) {
      const node = interval < 0 ? 0 : time.intervals.node[interval];
      return [[node === 0 ? '' : titleOf(time.intervals.tab[interval], node), 1]];
    }
    const samples = time.samples[time.onCpu];
    const [first, end] = TimeData.samplesIn(samples, lane, from, to);
    const titles = new Map();
    for (let i = first; i < end; ++i) {
      const title = titleOf(time.onCpu, samples.node[i]);
      titles.set(title, (titles.get(title) || 0) + samples.counts(i));
    }
    return titles.size === 0 ? [['', 1]] : [...titles];
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

  return {fill};
})();
