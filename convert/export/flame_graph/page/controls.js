// SPDX-License-Identifier: Apache-2.0
'use strict';

// What the page is made of besides the graph: numbers as text, the clipboard, and
// the state in the page's address. Names enter the document only as textContent.
const Controls = (() => {
  const byId = (id) => document.getElementById(id);

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  }

  function percent(part, whole) {
    if (!(whole > 0)) return '0 %';
    const value = (100 * part) / whole;
    const digits = value >= 10 || value === 0 ? 1 : value >= 0.1 ? 2 : 4;
    return `${value.toFixed(digits)} %`;
  }

  function nanoseconds(value) {
    for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
      if (value >= size) return `${Number((value / size).toPrecision(4))} ${unit}`;
    }
    return `${value} ns`;
  }

  function amount(value, tab, decimals = tab.decimals) {
    if (tab.unit === 'nanoseconds') return nanoseconds(value);
    const number = (value / 10 ** decimals).toLocaleString('en-US', {
      minimumFractionDigits: decimals, maximumFractionDigits: decimals,
    });
    const unit = tab.unit === '' || tab.unit === 'count' ? tab.name : tab.unit;
    return unit === 'samples' && value === 1 ? '1 sample' : `${number} ${unit}`;
  }

  // Returns a legend from the largest decrease to the largest increase.
  function scaleLegend(sums, theme) {
    if (sums.largest === 0) return element('li', 'no change', 'scale');
    const WIDTH = 140;
    const canvas = element('canvas');
    canvas.width = WIDTH;
    canvas.height = 1;
    const context = canvas.getContext('2d');
    for (let x = 0; x < WIDTH; ++x) {
      const change = ((2 * x) / (WIDTH - 1) - 1) * sums.largest;
      context.fillStyle = Differences.colour(theme, change, sums.largest, false);
      context.fillRect(x, 0, 1, 1);
    }
    const {isPerWindow} = sums.tab;
    const least =
        isPerWindow ? Differences.textOf(-sums.largest, sums) : Differences.points(-sums.largest);
    const item = element('li', undefined, 'scale');
    item.append(
        element('span', `less ${least}`), canvas,
        element('span', `more ${Differences.textOf(sums.largest, sums)}`));
    if (isPerWindow) item.append(element('span', 'per window'));
    return item;
  }

  // Returns the state in the page's address, a Map of texts.
  function stateOfAddress() {
    return new Map(new URLSearchParams(location.hash.slice(1)));
  }

  function addressOfState(state) {
    const text = new URLSearchParams([...state].filter(([, value]) => value !== '')).toString();
    return text === '' ? location.pathname + location.search : `#${text}`;
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      const area = element('textarea', text);
      document.body.append(area);
      area.select();
      const isCopied = document.execCommand('copy');
      area.remove();
      return isCopied;
    }
  }

  // Returns the entries of the table: `order` is self, total, change, amount, count
  // or name.
  function sortFunctions(functions, order, texts) {
    const byName = (a, b) => (texts[a.name] < texts[b.name] ? -1 : 1);
    if (order === 'amount') return sortFunctions(functions, 'total', texts);
    const size = order === 'change' ? (entry) => Math.abs(entry.change) : (entry) => entry[order];
    const compare = order === 'name' ? byName : (a, b) => size(b) - size(a) || byName(a, b);
    return functions.sort(compare);
  }

  // Returns a regular expression, or null with the reason in `problem`. A lower-case pattern
  // ignores case.
  function compile(pattern) {
    try {
      const flags = pattern === pattern.toLowerCase() ? 'iu' : 'u';
      return {expression: new RegExp(pattern, flags), problem: ''};
    } catch {
      try {
        return {expression: new RegExp(pattern, 'i'), problem: ''};
      } catch (error) {
        return {expression: null, problem: error.message};
      }
    }
  }

  // Gives a canvas a size in CSS pixels. It has as many pixels as the screen has there.
  function resize(canvas, context, width, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  return {
    byId, element, percent, nanoseconds, amount, scaleLegend, stateOfAddress,
    addressOfState, copy, sortFunctions, compile, resize,
  };
})();
