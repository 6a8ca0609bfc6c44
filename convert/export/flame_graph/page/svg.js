// SPDX-License-Identifier: Apache-2.0
'use strict';

// Zoom and search of a flame graph in an SVG: click a frame, "Search" or Ctrl+F, "Reset Zoom".
(() => {
  const SIDE = 10;
  const LETTER = 12 * 0.59;
  const MATCH = 'rgb(230,0,230)';
  let frames = [];
  let zoomed = null;
  let pattern = '';

  const byId = (id) => document.getElementById(id);

  function read(group) {
    const [title, rect, text] = group.children;
    const facts = title.textContent;
    return {
      group, rect, text, facts,
      name: facts.split('\n')[0].replace(/ \([^()]*\)$/, ''),
      x: Number(rect.getAttribute('x')),
      y: Number(rect.getAttribute('y')),
      width: Number(rect.getAttribute('width')),
      fill: rect.getAttribute('fill'),
    };
  }

  function place(frame, x, width) {
    frame.rect.setAttribute('x', x.toFixed(1));
    frame.rect.setAttribute('width', width.toFixed(1));
    frame.text.setAttribute('x', (x + 3).toFixed(1));
    const letters = Math.floor((width - 6) / LETTER);
    const name = [...frame.name];
    if (letters < 3) frame.text.textContent = '';
    else if (name.length <= letters) frame.text.textContent = frame.name;
    else frame.text.textContent = `${name.slice(0, letters - 2).join('')}..`;
  }

  function zoom(target) {
    zoomed = target;
    const scale = (frames[0].width) / target.width;
    for (const frame of frames) {
      const isBelow = frame.y > target.y;  // towards the root
      const covers = frame.x <= target.x + 0.05 &&
        frame.x + frame.width >= target.x + target.width - 0.05;
      const isInside = !isBelow && frame.x >= target.x - 0.05 &&
        frame.x + frame.width <= target.x + target.width + 0.05;
      const isShown = isInside || (isBelow && covers);
      frame.group.classList.toggle('hidden', !isShown);
      frame.group.classList.toggle('above', isShown && isBelow);
      if (!isShown) continue;
      if (isBelow) place(frame, SIDE, frames[0].width);
      else place(frame, SIDE + (frame.x - target.x) * scale, frame.width * scale);
    }
    byId('reset').classList.toggle('hidden', target === frames[0]);
    if (pattern !== '') search(pattern);
  }

  // Marks what matches. Of matches above each other, the widest counts.
  function search(text) {
    pattern = text;
    let expression = null;
    try {
      expression = text === '' ? null : new RegExp(text);
    } catch (error) {
      byId('matched').textContent = error.message;
      return;
    }
    const matched = [];
    for (const frame of frames) {
      const isMatch = expression !== null && expression.test(frame.name);
      frame.rect.setAttribute('fill', isMatch ? MATCH : frame.fill);
      if (isMatch && !frame.group.classList.contains('hidden')) matched.push(frame);
    }
    matched.sort((a, b) => a.x - b.x || b.width - a.width);
    let sum = 0;
    let end = 0;
    for (const frame of matched) {
      const from = Math.max(frame.x, end, zoomed.x);
      const to = Math.min(frame.x + frame.width, zoomed.x + zoomed.width);
      sum += Math.max(to - from, 0);
      end = Math.max(end, to);
    }
    byId('search').textContent = text === '' ? 'Search' : 'Reset Search';
    byId('search').classList.toggle('on', text !== '');
    byId('matched').textContent = text === '' ? ' '
      : `Matched: ${((100 * sum) / zoomed.width).toFixed(1)}%`;
  }

  function ask() {
    if (pattern !== '') {
      search('');
      return;
    }
    const answer = window.prompt('Enter a search term (regexp allowed, eg: ^ext4_)', '');
    if (answer !== null) search(answer);
  }

  window.addEventListener('DOMContentLoaded', () => {
    frames = [...byId('frames').children].map(read);
    zoomed = frames[0];
    const frameOf = (event) => {
      const group = event.target.closest('#frames g');
      return group === null ? undefined : frames.find((frame) => frame.group === group);
    };
    byId('frames').addEventListener('click', (event) => {
      const frame = frameOf(event);
      if (frame !== undefined) zoom(frame);
    });
    byId('frames').addEventListener('mouseover', (event) => {
      const frame = frameOf(event);
      if (frame === undefined) return;
      byId('details').textContent = `Function: ${frame.facts.split('\n')[0]}`;
    });
    byId('frames').addEventListener('mouseout', () => (byId('details').textContent = ' '));
    byId('reset').addEventListener('click', () => zoom(frames[0]));
    byId('search').addEventListener('click', ask);
    window.addEventListener('keydown', (event) => {
      if (event.key !== 'F3' && !(event.ctrlKey && event.key === 'f')) return;
      event.preventDefault();
      ask();
    });
  });
})();
