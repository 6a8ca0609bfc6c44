// SPDX-License-Identifier: Apache-2.0
'use strict';

// The page: what is shown, and what changes it. The state is a plain object, so that an address
// can contain it:
//   event    index of the tab                thread   name of the root frame, or ''
//   tree     calls, inverted or sandwich     name     of the function of a sandwich
//   view     flame or icicle                 sort     name or weight
//   search   a pattern                       zoom     a node of the shown tree
//   table    '1' if the table is shown
const Page = (() => {
  const {byId, element, percent, amount} = Controls;
  const DEFAULTS = {
    event: 0, thread: '', tree: 'calls', name: '', view: 'flame', sort: 'name', search: '', zoom: 0,
    table: '',
  };
  const MOST_TABS = 9;
  const MOST_ROWS = 500;
  const PRINTED_ROWS = 60;

  class Application {
    constructor(page) {
      this.page = page;
      this.state = {...DEFAULTS};
      this.cache = new Map();  // computed trees, by what they depend on
      this.tableOrder = 'total';
      this.rowLimit = MOST_ROWS;
      this.view = new Graph.View({
        scroller: byId('scroller'), canvas: byId('graph'), spacer: byId('spacer'), page,
      });
      this.fillFacts();
      this.listen();
      this.readAddress();
      this.applyTheme();
      this.refresh();
    }

    get tab() {
      return this.page.tabs[this.state.event];
    }

    // ---- trees ----

    cached(key, make) {
      if (!this.cache.has(key)) {
        if (this.cache.size > 12) this.cache.clear();
        this.cache.set(key, make());
      }
      return this.cache.get(key);
    }

    // The nodes of the threads of the tab, the largest first.
    threads() {
      const {tree} = this.tab;
      const {type} = this.page.frames;
      return FlameTree.childrenOf(tree, 0)
        .filter((node) => FlameTree.TYPES[type[tree.frame[node]]] === 'thread')
        .sort((a, b) => tree.total[b] - tree.total[a]);
    }

    // The calls of the chosen thread, sorted by name.
    baseTree() {
      const {event, thread} = this.state;
      const {tree} = this.tab;
      if (thread === '') return tree;
      const node = this.threads().find((i) => this.nameOf(tree.frame[i]) === thread);
      if (node === undefined) return tree;
      return this.cached(`base ${event} ${thread}`, () => FlameTree.subtree(tree, node));
    }

    shownPanes() {
      const {event, thread, tree, name, sort, view} = this.state;
      const base = this.baseTree();
      const key = `${event} ${sort} ${thread}`;
      if (tree === 'sandwich') {
        const text = this.page.texts.indexOf(name);
        const both = this.cached(`sandwich ${key} ${name}`,
          () => DerivedTrees.sandwich(this.page, base, text, sort));
        return [
          {tree: both.callers, isUp: true, zoom: 0}, {tree: both.callees, isUp: false, zoom: 0},
        ];
      }
      let shown = base;
      if (tree === 'inverted') {
        shown = this.cached(`inverted ${key}`, () => DerivedTrees.inverted(this.page, base, sort));
      } else if (sort === 'weight') {
        shown = this.cached(`weight ${key}`, () => FlameTree.byWeight(base));
      }
      return [{tree: shown, isUp: view === 'flame', zoom: 0}];
    }

    nameOf(frame) {
      if (frame < 0) return this.view.rootLabel;
      return this.page.texts[this.page.frames.name[frame]];
    }

    // ---- what is shown ----

    // Shows the state after any change but that of the zoom and the search.
    refresh() {
      if (this.state.tree === 'sandwich' && !this.page.texts.includes(this.state.name)) {
        this.state.tree = 'calls';
      }
      this.view.rootLabel = this.state.tree === 'inverted' ? 'all, by innermost function' : 'all';
      this.view.isSandwich = this.state.tree === 'sandwich';
      const panes = this.shownPanes();
      const pane = panes[panes.length - 1];
      pane.zoom = Math.min(this.state.zoom, pane.tree.depth.length - 1);
      byId('functions').hidden = this.state.table === '';
      this.find();
      this.view.show(panes);
      this.showSelected(null);
      this.fillControls();
      this.fillTable();
      this.writeAddress();
    }

    change(changes) {
      Object.assign(this.state, {zoom: 0}, changes);
      this.refresh();
    }

    fillFacts() {
      byId('facts').textContent = this.page.facts.join('\n');
      byId('facts-button').hidden = this.page.facts.length === 0;
      const used = new Set(this.page.frames.type);
      const labels = {
        thread: 'thread', user: 'user', kernel: 'kernel', inlined: 'inlined', jit: 'JIT',
      };
      byId('legend').replaceChildren(...FlameTree.TYPES.filter((_, i) => used.has(i))
        .map((type) => element('li', labels[type], type)));
    }

    fillControls() {
      const {state} = this;
      const press = (id, isPressed) => byId(id).setAttribute('aria-pressed', String(isPressed));
      for (const id of ['calls', 'inverted', 'sandwich']) press(id, state.tree === id);
      for (const id of ['flame', 'icicle']) {
        press(id, state.view === id);
        byId(id).disabled = state.tree === 'sandwich';
      }
      press('table-button', state.table !== '');
      byId('sort').value = state.sort;
      byId('sandwich').disabled = state.tree !== 'sandwich' && this.chosenName() === '';
      byId('search').value = state.search;
      byId('reset').disabled = this.view.panes.every((pane) => pane.zoom === 0);
      byId('total').textContent = state.tree === 'sandwich'
        ? `${state.name}: ${amount(this.total(), this.tab)}, ` +
          `${percent(this.total(), this.tab.tree.total[0])} of all`
        : amount(this.baseTree().total[0], this.tab);
      this.fillEvents();
      this.fillThreads();
    }

    fillEvents() {
      const {tabs} = this.page;
      byId('events').hidden = tabs.length < 2;
      Controls.fillTabs(byId('events'), tabs.map((tab) => ({label: tab.name})), this.state.event,
        (event) => this.change({event, thread: '', tree: 'calls'}));
    }

    fillThreads() {
      const {tree} = this.tab;
      const threads = this.threads();
      const entry = (node) => ({
        label: this.nameOf(tree.frame[node]), note: percent(tree.total[node], tree.total[0]),
      });
      byId('threads-line').hidden = threads.length < 2;
      const shown = threads.slice(0, MOST_TABS);
      const names = shown.map((node) => entry(node).label);
      Controls.fillTabs(byId('threads'), [{label: 'All threads'}, ...shown.map(entry)],
        this.state.thread === '' ? 0 : names.indexOf(this.state.thread) + 1 || -1,
        (i) => this.change({thread: i === 0 ? '' : names[i - 1]}));
      const more = threads.slice(MOST_TABS).map(entry);
      const select = byId('more-threads');
      select.hidden = more.length === 0;
      const first = element('option', `${more.length} more…`);
      first.value = '';
      select.replaceChildren(first, ...more.map(({label, note}) => {
        const option = element('option', `${label}  ${note}`);
        option.value = label;
        return option;
      }));
      select.value = names.includes(this.state.thread) ? '' : this.state.thread;
    }

    // ---- the selected function ----

    chosenName() {
      const {focus} = this.view;
      if (focus === null) return this.state.tree === 'sandwich' ? this.state.name : '';
      const frame = focus.pane.tree.frame[focus.node];
      return frame < 0 ? '' : this.nameOf(frame);
    }

    // The number that a percentage of the tree refers to.
    total() {
      return this.view.panes[0].tree.total[0];
    }

    // Returns the facts about {pane, node, calls, total} as pairs.
    describe(box) {
      const {tree} = box.pane;
      const all = this.tab.tree.total[0];
      if (box.calls !== undefined) {
        return [['', `${counted(box.calls)}, too narrow to show`],
          ['Value', amount(box.total, this.tab)], ['Of all', percent(box.total, all)]];
      }
      const node = box.node;
      const frame = tree.frame[node];
      const pairs = [['', this.nameOf(frame)], ['Value', amount(tree.total[node], this.tab)],
        ['Of all', percent(tree.total[node], all)]];
      if (this.baseTree().total[0] !== all) {
        pairs.push(['Of thread', percent(tree.total[node], this.baseTree().total[0])]);
      }
      const parent = tree.parent[node];
      if (parent >= 0) {
        const isBelowCallers = this.state.tree === 'inverted' || box.pane.isUp &&
          this.state.tree === 'sandwich';
        pairs.push([isBelowCallers ? 'Of callee' : 'Of caller',
          percent(tree.total[node], tree.total[parent])]);
      }
      if (this.state.tree === 'calls' && tree.self[node] > 0) {
        const self = tree.self[node];
        pairs.push(['Self', `${amount(self, this.tab)} (${percent(self, all)})`]);
      }
      pairs.push(...this.describeFrame(frame));
      if (tree.folded[node] > 0) {
        pairs.push(['Folded', `${counted(tree.folded[node])} too small to show`]);
      }
      return pairs;
    }

    describeFrame(frame) {
      if (frame < 0) return [];
      const {frames, texts} = this.page;
      const pairs = [];
      if (texts[frames.dso[frame]] !== '') pairs.push(['Binary', texts[frames.dso[frame]]]);
      const source = texts[frames.source[frame]];
      const [first, last] = [frames.firstLine[frame], frames.lastLine[frame]];
      const lines = first === 0 ? '' : last > first ? `:${first}–${last}` : `:${first}`;
      if (source !== '') pairs.push(['Source', source + lines]);
      const type = FlameTree.TYPES[frames.type[frame]];
      if (type !== 'user') pairs.push(['Kind', type === 'jit' ? 'JIT' : type]);
      return pairs;
    }

    select(pane, node) {
      this.view.focus = {pane, node};
      this.view.reveal({pane, node});
      this.showSelected({pane, node});
    }

    showSelected(box) {
      const isFunction = box !== null && box.pane.tree.frame[box.node] >= 0;
      for (const id of ['copy-name', 'copy-stack', 'show-sandwich']) {
        byId(id).disabled = !isFunction;
      }
      byId('sandwich').disabled = this.state.tree !== 'sandwich' && !isFunction;
      const parts = [];
      if (box === null) {
        parts.push(element('span', 'Click a function to zoom. Hover to see its numbers.'));
      } else {
        for (const [label, text] of this.describe(box)) {
          parts.push(label === '' ? element('b', text) : element('span', `${label}: ${text}`));
        }
      }
      byId('selected').replaceChildren(...parts);
    }

    showTip(box, event) {
      const tip = byId('tip');
      tip.hidden = box === null;
      if (box === null) return;
      const list = element('dl');
      const [[, title], ...pairs] = this.describe(box);
      for (const [label, text] of pairs) list.append(element('dt', label), element('dd', text));
      tip.replaceChildren(element('b', title), list);
      const {offsetWidth, offsetHeight} = tip;
      const x = Math.min(event.clientX + 14, window.innerWidth - offsetWidth - 8);
      const y = event.clientY + 18 + offsetHeight > window.innerHeight
        ? event.clientY - offsetHeight - 12 : event.clientY + 18;
      tip.style.left = `${Math.max(x, 4)}px`;
      tip.style.top = `${Math.max(y, 4)}px`;
    }

    zoom(pane, node) {
      this.view.zoom(pane, node);
      this.view.focus = {pane, node};
      this.view.draw();
      const panes = this.view.panes;
      if (pane === panes[panes.length - 1]) this.state.zoom = node;
      this.showSelected({pane, node});
      byId('reset').disabled = panes.every((each) => each.zoom === 0);
      this.showMatched();
      this.writeAddress();
    }

    sandwich(name) {
      if (name !== '') this.change({tree: 'sandwich', name});
    }

    // Returns the names from the outermost function to the node, one in each line.
    stackOf({pane, node}) {
      const names = [];
      for (let i = node; i >= 0 && pane.tree.frame[i] >= 0; i = pane.tree.parent[i]) {
        names.push(this.nameOf(pane.tree.frame[i]));
      }
      const isCallersFirst = this.state.tree === 'calls' || !pane.isUp &&
        this.state.tree === 'sandwich';
      return (isCallersFirst ? names.reverse() : names).join('\n');
    }

    async copy(text) {
      const isCopied = await Controls.copy(text);
      byId('selected').replaceChildren(
        element('b', isCopied ? 'Copied: ' : 'The browser did not allow to copy. '),
        element('span', text.split('\n').join(' › ')));
    }

    // ---- search ----

    find() {
      const {search} = this.state;
      this.view.matches = null;
      byId('search').setAttribute('aria-invalid', 'false');
      byId('search').title = '';
      if (search === '') return;
      const {expression, problem} = Controls.compile(search);
      if (expression === null) {
        byId('search').setAttribute('aria-invalid', 'true');
        byId('search').title = problem;
        return;
      }
      const {texts, frames} = this.page;
      const ofTexts = texts.map((text) => expression.test(text));
      this.view.matches = frames.name.map((name) => ofTexts[name]);
    }

    showMatched() {
      const {matches, panes} = this.view;
      const hasSearch = this.state.search !== '';
      for (const id of ['previous', 'next']) byId(id).hidden = matches === null;
      if (matches === null) {
        byId('matched').textContent = hasSearch ? 'no regular expression' : '';
        return;
      }
      const pane = panes[panes.length - 1];
      const sum = FlameTree.matchedTotal(pane.tree, matches, pane.zoom);
      const of = pane.zoom === 0 ? '' : ' of zoom';
      byId('matched').textContent = `${percent(sum, pane.tree.total[pane.zoom])} matched${of}`;
    }

    search(pattern) {
      this.state.search = pattern;
      this.find();
      this.view.draw();
      this.showMatched();
      this.fillTable();
      this.writeAddress();
    }

    // Selects the next or previous matching box that is wide enough to see.
    step(direction) {
      const {matches, panes, focus} = this.view;
      if (matches === null) return;
      const pane = panes[panes.length - 1];
      const {tree, zoom} = pane;
      const narrow = tree.total[zoom] / this.view.width;
      const from = focus !== null && focus.pane === pane ? focus.node : zoom;
      const [begin, size] = [zoom, tree.end[zoom] - zoom];
      for (let k = 1; k <= size; ++k) {
        const i = begin + (((from - begin + direction * k) % size) + size) % size;
        if (tree.frame[i] < 0 || !matches[tree.frame[i]] || tree.total[i] < narrow) continue;
        this.select(pane, i);
        return;
      }
    }

    // ---- the table ----

    // The functions of the chosen thread, which `search` selects.
    fillTable() {
      this.showMatched();
      if (byId('functions').hidden && !this.isPrinting) return;
      const {event, thread} = this.state;
      const base = this.baseTree();
      const all = this.cached(`functions ${event} ${thread}`,
        () => FlameTree.functions(base, this.page.frames, 0));
      const {matches} = this.view;
      const matching = matches === null ? all : all.filter(({frame}) => matches[frame]);
      const sorted = Controls.sortFunctions([...matching], this.tableOrder, this.page.texts);
      const whole = base.total[0];
      byId('caption').textContent = sorted.length > this.rowLimit
        ? `The first ${this.rowLimit} of ${sorted.length.toLocaleString('en-US')} functions`
        : `${sorted.length.toLocaleString('en-US')} functions`;
      byId('rows').replaceChildren(...sorted.slice(0, this.rowLimit).map((entry) => {
        const row = element('tr');
        for (const order of ['self', 'total']) {
          const cell = element('td', percent(entry[order], whole));
          cell.title = amount(entry[order], this.tab);
          row.append(cell);
        }
        const name = element('td');
        const button = element('button', this.page.texts[entry.name]);
        button.type = 'button';
        button.title = `${this.page.texts[entry.name]}: callers and callees`;
        button.addEventListener('click', () => this.sandwich(this.page.texts[entry.name]));
        name.append(button);
        row.append(name);
        return row;
      }));
      for (const button of document.querySelectorAll('th button')) {
        const order = button.dataset.sort;
        const heading = button.parentElement;
        if (order !== this.tableOrder) heading.removeAttribute('aria-sort');
        else heading.setAttribute('aria-sort', order === 'name' ? 'ascending' : 'descending');
      }
    }

    // ---- the address ----

    readAddress() {
      const read = Controls.stateOfAddress();
      const state = {...DEFAULTS};
      for (const key of Object.keys(DEFAULTS)) {
        if (!read.has(key)) continue;
        const number = Number(read.get(key));
        if (typeof DEFAULTS[key] !== 'number') state[key] = read.get(key);
        else if (Number.isSafeInteger(number) && number >= 0) state[key] = number;
      }
      if (state.event >= this.page.tabs.length) state.event = 0;
      const oneOf = (key, ...words) => {
        if (!words.includes(state[key])) state[key] = DEFAULTS[key];
      };
      oneOf('tree', 'calls', 'inverted', 'sandwich');
      oneOf('view', 'flame', 'icicle');
      oneOf('sort', 'name', 'weight');
      this.state = state;
    }

    writeAddress() {
      const changed = Object.entries(this.state).filter(([key, value]) => value !== DEFAULTS[key]);
      const address = Controls.addressOfState(changed.map(([key, value]) => [key, String(value)]));
      this.ownAddress = address;
      history.replaceState(null, '', address);
    }

    // ---- what people do ----

    applyTheme() {
      const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches;
      let theme = this.theme || (isDark ? 'dark' : 'light');
      if (this.isPrinting) theme = 'light';
      document.documentElement.dataset.theme = theme;
      byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
      this.view.setTheme(theme);
    }

    listen() {
      const on = (id, type, react) => byId(id).addEventListener(type, react);
      on('calls', 'click', () => this.change({tree: 'calls'}));
      on('inverted', 'click', () => this.change({tree: 'inverted'}));
      on('sandwich', 'click', () => this.sandwich(this.chosenName()));
      on('flame', 'click', () => this.change({view: 'flame'}));
      on('icicle', 'click', () => this.change({view: 'icicle'}));
      on('sort', 'change', () => this.change({sort: byId('sort').value}));
      on('more-threads', 'change', () => this.change({thread: byId('more-threads').value}));
      on('reset', 'click', () => this.change({}));
      on('table-button', 'click', () => this.toggleTable());
      on('search', 'input', () => this.search(byId('search').value));
      on('search', 'keydown', (event) => {
        if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        this.search('');
        byId('search').value = '';
        byId('graph').focus();
      });
      on('next', 'click', () => this.step(1));
      on('previous', 'click', () => this.step(-1));
      on('copy-name', 'click', () => this.copy(this.chosenName()));
      on('copy-stack', 'click', () => this.copy(this.stackOf(this.view.focus)));
      on('show-sandwich', 'click', () => this.sandwich(this.chosenName()));
      on('theme', 'click', () => {
        this.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
        this.applyTheme();
        this.view.draw();
      });
      for (const name of ['help', 'facts']) {
        on(`${name}-button`, 'click', () => this.toggle(name));
      }
      for (const button of document.querySelectorAll('th button')) {
        button.addEventListener('click', () => {
          this.tableOrder = button.dataset.sort;
          this.fillTable();
        });
      }
      PageEvents.listen(this);
    }

    toggle(name) {
      const isHidden = !byId(name).hidden;
      byId(name).hidden = isHidden;
      byId(`${name}-button`).setAttribute('aria-expanded', String(!isHidden));
      this.resize();
    }

    toggleTable() {
      this.state.table = this.state.table === '' ? '1' : '';
      byId('functions').hidden = this.state.table === '';
      byId('table-button').setAttribute('aria-pressed', String(this.state.table !== ''));
      this.resize();
      this.fillTable();
      this.writeAddress();
    }

    resize() {
      this.view.layOut();
      this.view.draw();
    }

    // Prints everything that is shown, without the part outside of the window.
    print(isPrinting) {
      this.isPrinting = isPrinting;
      this.view.isPrinting = isPrinting;
      this.rowLimit = isPrinting ? PRINTED_ROWS : MOST_ROWS;
      this.applyTheme();
      this.fillTable();
      this.resize();
    }
  }

  function counted(calls) {
    return calls === 1 ? '1 call' : `${calls.toLocaleString('en-US')} calls`;
  }

  async function unpack(text) {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  async function start() {
    try {
      const page = FlameTree.decode(await unpack(byId('data').textContent.trim()));
      byId('data').remove();
      if (page.tabs.length === 0) throw new Error('the profile has no samples');
      Page.application = new Application(page);
      document.documentElement.dataset.ready = 'true';
    } catch (error) {
      byId('failure').textContent = `This flame graph cannot be shown: ${error.message}.`;
      byId('failure').hidden = false;
      document.querySelector('main').hidden = true;
    }
  }

  return {start, PRINTED_ROWS};
})();
