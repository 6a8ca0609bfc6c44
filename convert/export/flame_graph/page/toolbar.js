// SPDX-License-Identifier: Apache-2.0
'use strict';

// The row of controls above the graph, and the menu. What does not fit into the row is in the menu.
const Toolbar = (() => {
  const {byId, element} = Controls;
  // The first ones leave the row first.
  const MOVABLE =
      ['table-button', 'path-button', 'threads', 'total', 'reset', 'shows', 'events'];
  const NARROW = window.matchMedia('(max-width: 640px)');  // as in page.css

  // Gives the row what fits, and the menu the rest.
  function fit() {
    const bar = byId('bar');
    const {activeElement} = document;
    const items = MOVABLE.map(byId);
    const inOrder = [...items].sort((a, b) => orderOf(a) - orderOf(b));
    for (const item of inOrder) bar.insertBefore(item, bar.querySelector('.space'));
    const moved = [];
    for (const item of items) {
      if (bar.scrollWidth <= bar.clientWidth) break;
      if (item.hidden) continue;
      byId('moved').append(item);
      moved.push(item);
    }
    moved.sort((a, b) => orderOf(a) - orderOf(b)).forEach((item) => byId('moved').append(item));
    const actions = document.querySelector('.actions');
    if (NARROW.matches) byId('moved').append(actions);
    else byId('legend').before(actions);
    if (document.activeElement !== activeElement) activeElement.focus();
  }

  // The order of the row, which is that of the document at first.
  const ORDER = ['total', 'events', 'threads', 'shows', 'path-button', 'table-button', 'reset'];
  const orderOf = ({id}) => ORDER.indexOf(id);

  // Fills a select with [value, text] of each entry. Hides it if there is no choice.
  function fillSelect(select, entries, chosen) {
    select.hidden = entries.length < 2;
    select.replaceChildren(...entries.map(([value, text]) => {
      const option = element('option', text);
      option.value = value;
      return option;
    }));
    select.value = String(chosen);
  }

  const isOpen = () => !byId('menu').hidden;

  function setOpen(opens) {
    byId('menu').hidden = !opens;
    byId('menu-button').setAttribute('aria-expanded', String(opens));
  }

  function toggleMenu() {
    setOpen(!isOpen());
  }

  function toggleSection(name) {
    if (!isOpen()) byId(name).hidden = true;
    setOpen(true);
    const isHidden = !byId(name).hidden;
    byId(name).hidden = isHidden;
    byId(`${name}-button`).setAttribute('aria-expanded', String(!isHidden));
  }

  // A click beside the menu and Escape close it.
  function listen() {
    byId('menu-button').addEventListener('click', toggleMenu);
    document.addEventListener('pointerdown', (event) => {
      const isInside = byId('menu').contains(event.target) ||
        byId('menu-button').contains(event.target);
      if (isOpen() && !isInside) setOpen(false);
    });
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !isOpen()) return;
      event.stopPropagation();
      event.preventDefault();
      setOpen(false);
      byId('menu-button').focus();
    }, {capture: true});
  }

  return {fit, fillSelect, toggleMenu, toggleSection, listen};
})();
