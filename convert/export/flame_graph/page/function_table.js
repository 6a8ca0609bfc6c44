// SPDX-License-Identifier: Apache-2.0
'use strict';

// The table of functions: DOM elements, for screen readers, print and copying.
const FunctionTable = (() => {
  const {byId, element, percent, amount} = Controls;
  const MOST_ROWS = 500;
  const PRINTED_ROWS = 60;

  const MOST_LETTERS = 120;

  // Fills the table with the functions of `entries` (FlameTree.functions). Their `count` is the
  // total in the other numbers of the tab, if it has any. `shown` is as in Descriptions; `order` is
  // self, total, change, amount, count or name; `choose(name)` is called for the chosen function.
  function fill(entries, shown, {order, isPrinting, choose}) {
    const {sums, tab} = shown;
    const isDifferential = sums !== null;
    for (const entry of entries) {
      entry.change = isDifferential
        ? Differences.compare(entry.total, entry.otherTotal, sums).change : 0;
    }
    const {texts} = shown.page;
    const limit = isPrinting ? PRINTED_ROWS : MOST_ROWS;
    const sorted = Controls.sortFunctions(entries, order, texts);
    const count = sorted.length.toLocaleString('en-US');
    byId('caption').textContent = sorted.length > limit
      ? `The first ${limit} of ${count} functions` : `${count} functions`;
    byId('change-heading').hidden = !isDifferential;
    byId('amount-heading').firstElementChild.textContent = unitTitle(tab);
    byId('count-heading').hidden = tab.others === null;
    if (tab.others !== null) {
      byId('count-heading').firstElementChild.textContent = unitTitle(tab.others);
    }
    byId('rows').replaceChildren(
      ...sorted.slice(0, limit).map((entry) => rowOf(entry, shown, choose)));
    for (const button of document.querySelectorAll('th button')) {
      const heading = button.parentElement;
      if (button.dataset.sort !== order) heading.removeAttribute('aria-sort');
      else heading.setAttribute('aria-sort', order === 'name' ? 'ascending' : 'descending');
    }
  }

  function unitTitle({unit}) {
    if (unit === 'samples') return 'Samples';
    return unit === 'nanoseconds' ? 'Time' : 'Count';
  }

  // A number without the unit that the heading names.
  function cellText(value, tab) {
    return tab.unit === 'nanoseconds' ? amount(value, tab) : amount(value, tab).split(' ')[0];
  }

  function rowOf(entry, shown, choose) {
    const row = element('tr');
    for (const order of ['self', 'total']) {
      const cell = element('td', percent(entry[order], shown.threadTotal));
      cell.title = amount(entry[order], shown.tab);
      row.append(cell);
    }
    if (shown.sums !== null) row.append(changeCell(entry, shown));
    const {tab} = shown;
    row.append(element('td', cellText(entry.total, tab)));
    if (tab.others !== null) row.append(element('td', cellText(entry.count, tab.others)));
    const cell = element('td');
    const name = shown.page.texts[entry.name];
    const button = element('button', Names.shorten(name, (form) => form.length <= MOST_LETTERS));
    button.type = 'button';
    button.title = `${name}: callers and callees`;
    button.addEventListener('click', () => choose(name));
    cell.append(button);
    row.append(cell);
    return row;
  }

  function changeCell(entry, {tab, sums}) {
    const sides = Differences.compare(entry.total, entry.otherTotal, sums);
    const cell = element(
        'td',
        tab.isPerWindow ? Differences.textOf(sides.change, sums) :
                          Differences.points(sides.change));
    const old = amount(sides.old, tab, tab.otherDecimals);
    cell.title = `${percent(sides.old, sums.old)} (${old}) → ` +
      `${percent(sides.new, sums.new)} (${amount(sides.new, tab)})`;
    return cell;
  }

  return {fill};
})();
