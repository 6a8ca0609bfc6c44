// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the page says about the profile: the facts ("hostname: box") as a heading. The facts of a
// difference begin with the side, "before: " or "after: ". Nothing here knows the DOM.
const ProfileFacts = (() => {
  const SIDES = {'after: ': 'new', 'before: ': 'old'};
  const LONGEST_COMMAND = 80;

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
  function commandOf(command) {
    const at = command.indexOf(' -- ');
    return Names.cutMiddle(at < 0 ? command : command.slice(at + 4), LONGEST_COMMAND);
  }

  function describe(facts) {
    const commands = [...new Set(valuesOf(facts, 'command line').map(commandOf))];
    const host = oneOf(valuesOf(facts, 'hostname'), 'hosts');
    const recorded = oneOf(valuesOf(facts, 'recorded'), 'recordings');
    const duration = oneOf(valuesOf(facts, 'duration'), 'recordings');
    const losses = valuesOf(facts, 'losses').join(', ');
    return {
      command: oneOf(commands, 'commands'),
      details: [host, recorded, duration, losses && `${losses} lost`].filter((text) => text !== ''),
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
