// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the page says about the profile: the facts ("hostname: box") as a heading. The facts of a
// difference begin with the side, "before: " or "after: ". Nothing here knows the DOM.
const ProfileFacts = (() => {
  const SIDES = {'after: ': 'new', 'before: ': 'old'};
  const LONGEST_COMMAND = 80;
  // -a, also in -ag, and what else means all CPUs; options of one letter that have no value.
  const SYSTEM_WIDE = /^(-[gqsv]*a[gqsv]*|--all-cpus|--system-wide)$/;
  const WITHOUT_VALUE = /^-[gqsv]+$/;

  // Returns the values of a key, each once.
  function valuesOf(facts, key) {
    const start = `${key}: `;
    const found = facts.filter((fact) => fact.startsWith(start))
      .map((fact) => fact.slice(start.length));
    return [...new Set(found)];
  }

  // Returns "perf.data" of several values: their number.
  function oneOf(values, plural) {
    if (values.length === 0) return '';
    return values.length === 1 ? values[0] : `${values.length} ${plural}`;
  }

  // Returns what was recorded: the command after " -- ", or the whole command of the recorder.
  // The folder of the program would hide what follows it.
  function commandOf(command) {
    const at = command.indexOf(' -- ');
    const own = (at < 0 ? command : command.slice(at + 4)).replace(/^\/\S*\/(?=\S)/, '');
    return Names.cutMiddle(own, LONGEST_COMMAND);
  }

  // Whether a recorder recorded the system: only its own options count, which the recorded command
  // follows, with or without " -- ".
  function isOfSystem(command) {
    const [own] = command.split(' -- ');
    let isValue = true;  // the next word can be that of an option, or the verb "record"
    for (const word of own.split(/\s+/).slice(1)) {
      if (SYSTEM_WIDE.test(word)) return true;
      if (!word.startsWith('-') && !isValue) return false;
      isValue = word.startsWith('-') && !WITHOUT_VALUE.test(word) && !word.includes('=');
    }
    return false;
  }

  // Of a recording of the system, the host and the time are the name: the command of the recorder
  // says nothing about what ran.
  function describe(facts) {
    const lines = valuesOf(facts, 'command line');
    const known = describeAll(facts, lines);
    const {host, recorded, duration, losses, command} = known;
    const isNamed = lines.length > 0 && lines.every(isOfSystem) && (host !== '' || recorded !== '');
    const name = isNamed ? [host, recorded].filter((text) => text !== '').join(', ') : command;
    const details = isNamed ? [duration, losses] : [host, recorded, duration, losses];
    return {command: name, details: details.filter((text) => text !== '')};
  }

  function describeAll(facts, lines) {
    const losses = valuesOf(facts, 'losses').join(', ');
    return {
      command: oneOf([...new Set(lines.map(commandOf))], 'commands'),
      host: oneOf(valuesOf(facts, 'hostname'), 'hosts'),
      recorded: oneOf(valuesOf(facts, 'recorded'), 'recordings'),
      duration: oneOf(valuesOf(facts, 'duration'), 'recordings'),
      losses: losses === '' ? '' : `${losses} lost`,
    };
  }

  // Returns {title, heading, details}: `details` is a line for each side of a difference, or one.
  function heading(facts) {
    const sides = Object.entries(SIDES).map(([start, label]) => ({
      label,
      facts: facts.filter((fact) => fact.startsWith(start)).map((fact) => fact.slice(start.length)),
    })).filter((side) => side.facts.length > 0);
    if (sides.length === 0) {
      const {command, details} = describe(facts);
      const name = command === '' ? 'Flame graph' : command;
      return {
        title: command === '' ? name : `${command} – flame graph`, heading: name,
        details: details.length === 0 ? [] : [details.join(' · ')],
      };
    }
    const described = sides.map((side) => ({label: side.label, ...describe(side.facts)}));
    const commands = [...new Set(described.map(({command}) => command).filter(Boolean))];
    const name = commands.reverse().join(' → ');
    return {
      title: `${name}${name === '' ? 'Difference' : ' – difference'}`,
      heading: name === '' ? 'Difference' : `Difference: ${name}`,
      details: described.map(({label, command, details}) =>
        `${label}: ${[...(commands.length > 1 ? [command] : []), ...details].join(' · ')}`),
    };
  }

  return {heading};
})();
