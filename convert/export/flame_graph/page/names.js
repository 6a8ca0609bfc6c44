// SPDX-License-Identifier: Apache-2.0
'use strict';

// Names that fit: the arguments of templates and the parameters are left out first, then the
// middle, as in the tables of perftape-report. And names of threads without their numbers. Nothing
// here knows the DOM.
const Names = (() => {
  const LEFT_OUT = '…';

  // Returns `text` without what is between brackets, at the outermost level, if they match.
  function withoutContents(text, open, close) {
    let shorter = '';
    let depth = 0;
    for (let i = 0; i < text.length; ++i) {
      const letter = text[i];
      if (depth === 0 && shorter.endsWith('operator') && (letter === open || letter === close)) {
        const [symbol] = /^(<=>|<<|<=?|>>|>=?|\(\))?/.exec(text.slice(i));
        shorter += symbol || letter;
        i += Math.max(symbol.length, 1) - 1;
        continue;
      }
      if (letter === close && text[i - 1] !== '-') {
        if (depth === 0) return text;  // no brackets
        --depth;
        if (depth === 0 && text[i - 1] !== open) shorter += LEFT_OUT;
      }
      if (depth === 0) shorter += letter;
      if (letter === open) ++depth;
    }
    return depth === 0 ? shorter : text;
  }

  // Leaves out the middle of a text. A third of `size` stays at the beginning: the end of a name
  // tells more than its namespaces.
  function cutMiddle(text, size) {
    const letters = [...text];
    if (letters.length <= size) return text;
    const head = Math.floor(size / 3);
    const tail = Math.max(size - head - 1, 0);
    const end = letters.slice(letters.length - tail);
    return `${letters.slice(0, head).join('')}${LEFT_OUT}${end.join('')}`.replace(/…+/g, LEFT_OUT);
  }

  // Returns the longest of the forms of a name for which `fits(form)` holds; '' if none does.
  function shorten(name, fits) {
    if (fits(name)) return name;
    const plain = withoutContents(name, '<', '>');
    if (plain !== name && fits(plain)) return plain;
    const bare = withoutContents(plain, '(', ')');
    if (bare !== plain && fits(bare)) return bare;
    let [least, most] = [2, [...bare].length - 1];  // the sizes that may fit
    if (most < 3 || !fits(cutMiddle(bare, 3))) return '';
    while (least < most) {
      const middle = Math.ceil((least + most) / 2);
      if (fits(cutMiddle(bare, middle))) least = middle;
      else most = middle - 1;
    }
    return cutMiddle(bare, least);
  }

  // Returns the name of a thread without pid and tid, and with # for each number in it: threads
  // with equal results are of one kind.
  function kindOfThread(name) {
    return name.replace(/-(\d+|\?)(\/(\d+|\?))?$/, '').replace(/\d+/g, '#');
  }

  return {shorten, cutMiddle, withoutContents, kindOfThread};
})();
