// SPDX-License-Identifier: Apache-2.0
// A page in Chromium for each test. flame_graph_test.py makes the pages. A test fails if its page
// has an error, prints anything, asks anything, or requests anything but pages.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import path from 'node:path';
import {after, before, beforeEach, afterEach} from 'node:test';
import {pathToFileURL} from 'node:url';

export const setting = JSON.parse(process.env.PERFTAPE_BROWSER_TEST);
const {chromium} = createRequire(import.meta.url)(setting.playwright);
let browser;
let context;
export let page;
let surprises;

before(async () => {
  browser = await chromium.launch({
    executablePath: setting.chromium, args: ['--no-sandbox', '--disable-gpu'],
  });
});
after(() => browser.close());

beforeEach(async () => {
  context = await browser.newContext({viewport: {width: 1400, height: 850}, colorScheme: 'light'});
  page = await context.newPage();
  surprises = [];
  page.on('pageerror', (error) => surprises.push(`error: ${error.message}`));
  page.on('console', (message) => surprises.push(`console: ${message.text()}`));
  page.on('dialog', (dialog) => {
    surprises.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(pathToFileURL(setting.pages).href)) {
      surprises.push(`request: ${request.url()}`);
    }
  });
});
afterEach(async () => {
  await context.close();
  assert.deepEqual(surprises, []);
});

export const urlOf = (name) => pathToFileURL(path.join(setting.pages, name)).href;

export async function open(name, state = '') {
  await page.goto('about:blank');
  await page.goto(urlOf(name) + state);
  await page.waitForSelector('html[data-ready]');
}

// Clicks a control, in the menu if it is there.
export async function press(selector) {
  const isInMenu = await page.locator(`#menu ${selector}`).count() > 0;
  if (isInMenu && !await page.isVisible('#menu')) await page.click('#menu-button');
  await page.click(selector);
  if (isInMenu) await page.click('#menu-button');
}

// Chooses an event or a thread by its name, which begins the text of an entry.
export async function choose(select, name) {
  const value = await page.locator(`${select} option`).evaluateAll((options, wanted) =>
    options.find((each) => each.textContent.startsWith(wanted)).value, name);
  if (!await page.isVisible(select)) await page.click('#menu-button');
  await page.selectOption(select, value);
}

export const screenshot = (name) =>
  page.screenshot({path: path.join(setting.screenshots, `${name}.png`)});
export const textOf = (selector) => page.textContent(selector);

export const fragment = () => page.evaluate(() => location.hash);
