// SPDX-License-Identifier: Apache-2.0
'use strict';

// The colours of lanes, which page.css repeats for the legend.
const TimeColours = (() => {
  // Those of states are of Okabe and Ito: colour-blind people can tell them apart; and states have
  // different heights. Texts on them have a contrast of at least 4.5 (WCAG 2.1, level AA).
  // Of each state: colour, colour of its text, part of the row's height.
  const STATES = {
    light: [
      ['#35b08a', '#06251b', 1], ['#e9a820', '#2b1d00', 0.8], ['#56b4e9', '#06202f', 0.8],
      ['#d48ab2', '#300e20', 0.8], ['#d3dae4', '#2a3038', 0.4], ['#e9e2c8', '#2a3038', 0.4],
      ['#c3c8d0', '#2a3038', 0.1],
    ],
    dark: [
      ['#1f9a74', '#001510', 1], ['#c58a10', '#1a1100', 0.8], ['#3f9fd6', '#00141f', 0.8],
      ['#c0709d', '#22000f', 0.8], ['#434c5a', '#eef1f5', 0.4], ['#5b553c', '#f5f2e6', 0.4],
      ['#596170', '#eef1f5', 0.1],
    ],
  };
  // `heat` is the colour of no samples, and that of the most.
  const OTHERS = {
    light: {
      back: '#ffffff',
      ink: '#1b1e24',
      soft: '#5a6270',
      line: '#e4e7ec',
      process: '#f3f5f8',
      band: 'rgba(31,95,191,.14)',
      edge: '#1f5fbf',
      veil: 'rgba(255,255,255,.62)',
      window: '#cfdff7',
      windowInk: '#12294d',
      path: '#b3105a',
      focus: '#111111',
      mark: '#7a2fb5',
      loss: '#c02626',
      heat: [[255, 255, 255], [163, 29, 35]],
    },
    dark: {
      back: '#16181d',
      ink: '#e9eaee',
      soft: '#a2a9b6',
      line: '#282c34',
      process: '#1d2026',
      band: 'rgba(110,168,255,.2)',
      edge: '#6ea8ff',
      veil: 'rgba(22,24,29,.66)',
      window: '#28456f',
      windowInk: '#e8f0ff',
      path: '#ff7abf',
      focus: '#ffffff',
      mark: '#c79bf2',
      loss: '#ff7b72',
      heat: [[22, 24, 29], [255, 176, 92]],
    },
  };

  function of(theme) {
    return {states: STATES[theme], ...OTHERS[theme]};
  }

  return {of};
})();
