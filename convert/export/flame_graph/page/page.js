// SPDX-License-Identifier: Apache-2.0
'use strict';

// The page: what is shown, and what changes it. `state` is that of Address.
const Page = (() => {
  const {byId, element, percent, amount} = Controls;

  class Application {
    constructor(page) {
      this.page = page;
      this.cache = new Map();  // computed trees, by what they depend on
      this.tableOrder = '';      // the one of the reader: total, or change for a pair of events
      this.joinedFrames = new Map();  // frames of joined threads, by name
      this.view = new Graph.View({
        scroller: byId('scroller'), canvas: byId('graph'), spacer: byId('spacer'), page,
      });
      this.times = page.time === null ? null : new TimePanel.Panel(this);
      this.fillFacts();
      this.listen();
      this.readAddress();
      this.applyTheme();
      this.refresh();
    }

    // The chosen event with the chosen numbers.
    get tab() {
      const {event, values} = this.state;
      const tab = this.times === null ? this.page.tabs[event] : this.times.tabAt(event);
      if (values === '' || tab.others === null) return tab;
      return (tab.unit === 'samples') === (values === 'samples') ? tab : tab.others;
    }

    // What the trees of the tab depend on.
    get tabKey() {
      const selected = this.times === null ? '' : this.times.key;
      return `${this.state.event} ${this.tab.unit} ${this.state.threads} ${selected}`;
    }

    // ---- trees ----

    cached(key, make) {
      if (!this.cache.has(key)) {
        if (this.cache.size > 12) this.cache.clear();
        this.cache.set(key, make());
      }
      return this.cache.get(key);
    }

    // Whether the tree has nodes of which nothing is selected.
    get isSelection() {
      return this.times !== null && this.times.selection !== null;
    }

    // The nodes of the threads of the tab, the largest first.
    threads(tree = this.wholeTree()) {
      const {type} = this.page.frames;
      return FlameTree.childrenOf(tree, 0)
        .filter((node) => FlameTree.TYPES[type[tree.frame[node]]] === 'thread' &&
          (tree.total[node] > 0 || !this.isSelection))
        .sort((a, b) => tree.total[b] - tree.total[a]);
    }

    // The calls of all threads of a tab, which are joined or not.
    treeOf(tab) {
      if (this.state.threads !== 'joined') return tab.tree;
      return this.cached(`joined ${tab.unit} ${this.tabKey}`, () =>
        DerivedTrees.withJoinedThreads(this.page, tab.tree,
          (names) => Threads.frameOf(names, this.page, this.joinedFrames)));
    }

    // The same with the chosen widths.
    wholeTree(tab = this.tab) {
      const tree = this.treeOf(tab);
      if (this.state.widths === 'new' || tree.other === null) return tree;
      return this.cached(`old ${tab.unit} ${this.tabKey}`, () => FlameTree.swapped(tree));
    }

    // The calls of the chosen thread, sorted by name.
    baseTree(tab = this.tab) {
      const {thread, widths} = this.state;
      const tree = this.wholeTree(tab);
      if (thread === '') return tree;
      const node = this.threads(tree).find((i) => this.nameOf(tree.frame[i]) === thread);
      if (node === undefined) return tree;
      return this.cached(`base ${tab.unit} ${this.tabKey} ${widths} ${thread}`,
        () => FlameTree.subtree(tree, node));
    }

    // What the changes of a pair of events refer to; null for a single event.
    sums() {
      const {widths} = this.state;
      if (this.tab.tree.other === null) return null;
      return this.cached(
          `sums ${this.tabKey} ${widths}`,
          () => Differences.measure(this.wholeTree(), widths, this.tab));
    }

    // What descriptions refer to.
    shown() {
      return {
        page: this.page, tab: this.tab, tree: this.state.tree, sums: this.sums(),
        threadTotal: this.baseTree().total[0], total: this.wholeTree().total[0],
        nameOf: (frame) => this.nameOf(frame),
      };
    }

    shownPanes() {
      const {thread, tree, name, sort, view, widths} = this.state;
      const base = this.baseTree();
      const key = `${this.tabKey} ${widths} ${sort} ${thread}`;
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
      } else if (sort === 'time' && base.first !== null) {
        shown = this.cached(`time ${key}`, () => FlameTree.byTime(base));
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
      this.view.sums = this.sums();
      const panes = this.shownPanes();
      const pane = panes[panes.length - 1];
      pane.zoom = Math.min(this.state.zoom, pane.tree.depth.length - 1);
      byId('functions').hidden = this.state.table === '';
      this.find();
      if (this.times !== null) this.times.refresh();
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
      const {title, heading, details} = ProfileFacts.heading(this.page.facts);
      document.title = title;
      byId('heading').textContent = heading;
      byId('heading').title = [heading, ...details].join('\n');
      byId('facts').textContent = this.page.facts.join('\n');
      byId('facts-button').hidden = this.page.facts.length === 0;
      Reasons.fill(this.page.comparison);
    }

    fillLegend() {
      const sums = this.sums();
      if (sums !== null) {
        byId('legend').replaceChildren(Controls.scaleLegend(sums, this.view.theme));
        return;
      }
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
      this.showReset();
      byId('total').textContent = byId('total').title = this.totalText();
      const isDifferential = this.tab.tree.other !== null;
      byId('widths').hidden = byId('widths-key').hidden = !isDifferential;
      for (const id of ['new', 'old']) press(id, state.widths === id);
      const {others, unit} = this.tab;
      byId('values').hidden = byId('values-key').hidden = others === null;
      press('values-samples', unit === 'samples');
      press('values-period', unit !== 'samples');
      const period = others !== null && unit === 'samples' ? others.unit : unit;
      byId('values-period').textContent = period === 'nanoseconds' ? 'Time' : 'Count';
      byId('sort').querySelector('[value=time]').hidden = this.tab.tree.first === null;
      this.fillLegend();
      this.fillEvents();
      this.fillThreads();
      Toolbar.fit();
    }

    totalText() {
      const {tree, name} = this.state;
      const shown = this.shown();
      const {tab, sums} = shown;
      const start = (this.isSelection ? 'selected: ' : '') +
        (tree === 'sandwich' ? `${name}: ` : '');
      const root = this.view.panes[0].tree;
      if (sums === null) {
        const whole = this.isSelection ? this.times.totalOfAll(tab) : shown.total;
        const end = start === '' ? '' : `, ${percent(root.total[0], whole)} of all`;
        const others = start !== '' || tab.others === null ? ''
          : `, ${amount(this.baseTree(tab.others).total[0], tab.others)}`;
        return start + amount(root.total[0], tab) + others + end;
      }
      const sides = Differences.of(root, 0, sums);
      const old = (value) => amount(value, tab, tab.otherDecimals);
      const both = `${start}new: ${amount(sides.new, tab)}, old: ${old(sides.old)}`;
      const gone = start === '' ? Differences.invisible(this.tab.tree, 0) : 0;
      return gone === 0 ? both
        : `${both}; only old: ${old(gone)} (${percent(gone, sums.old)})`;
    }

    fillEvents() {
      Toolbar.fillSelect(byId('events'), this.page.tabs.map(({name}, i) => [i, name]),
        this.state.event);
    }

    fillThreads() {
      const tree = this.wholeTree();
      const namesIn = (of) => this.threads(of).map((node) => this.nameOf(of.frame[node]));
      const entries = this.threads(tree)
        .map((node) => Threads.entryOf(tree, node, this.nameOf(tree.frame[node])));
      Threads.fill(entries, this.state.thread, {
        isJoined: this.state.threads === 'joined',
        isJoinable: Threads.canJoin(namesIn(this.tab.tree)),
      });
    }

    // ---- the selected function ----

    chosenName() {
      const {focus} = this.view;
      if (focus === null) return this.state.tree === 'sandwich' ? this.state.name : '';
      const frame = focus.pane.tree.frame[focus.node];
      return frame < 0 ? '' : this.nameOf(frame);
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
      this.showPairs(box === null ? null : Descriptions.of(box, this.shown()));
    }

    showPairs(described) {
      const hint = [element('span', 'Click a function to zoom. Hover to see its numbers.')];
      byId('selected').replaceChildren(...described === null ? hint
        : described.map(([label, text]) => (label === '' ? element('b', text)
          : element('span', `${label}: ${text.split('\n').join(' ‹ ')}`))));
    }

    showTip(box, event) {
      this.showTipOf(box === null ? null : Descriptions.of(box, this.shown()), event);
    }

    // `described` are pairs as in Descriptions, or null.
    showTipOf(described, event) {
      const tip = byId('tip');
      tip.hidden = described === null;
      if (tip.hidden) return;
      const list = element('dl');
      const [[, title], ...pairs] = described;
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
      this.showReset();
      this.showMatched();
      this.writeAddress();
    }

    showReset() {
      byId('reset').hidden = this.view.panes.every((pane) => pane.zoom === 0);
      Toolbar.fit();
    }

    sandwich(name) {
      if (name !== '') this.change({tree: 'sandwich', name});
    }

    copyStack() {
      return this.copy(Descriptions.stackOf(this.view.focus, this.shown()));
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
      this.tellMatched();
      Toolbar.fit();
    }

    tellMatched() {
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
      const {thread, widths} = this.state;
      const base = this.baseTree();
      const all = this.cached(`functions ${this.tabKey} ${widths} ${thread}`,
        () => FlameTree.functions(base, this.page.frames, 0));
      const {matches} = this.view;
      const found = all.filter(({frame, total}) =>
        (matches === null || matches[frame]) && (total > 0 || !this.isSelection));
      this.addCounts(all);
      FunctionTable.fill(found, this.shown(), {
        order: this.tableOrder || (this.sums() === null ? 'total' : 'change'),
        isPrinting: this.isPrinting,
        choose: (name) => this.sandwich(name),
      });
    }

    // Gives the functions their totals in the other numbers of the tab.
    addCounts(functions) {
      const {tab, page} = this;
      const isDone = functions.length === 0 || functions[0].count !== undefined;
      if (tab.others === null || isDone) return;
      const counted = FlameTree.functions(this.baseTree(tab.others), page.frames, 0);
      const totals = new Map(counted.map(({name, total}) => [name, total]));
      for (const entry of functions) entry.count = totals.get(entry.name) || 0;
    }

    // ---- the address ----

    readAddress() {
      this.state = Address.read(this.page);
    }

    writeAddress() {
      this.ownAddress = Address.write(this.state);
    }

    // ---- what people do ----

    applyTheme() {
      const isDark = window.matchMedia('(prefers-color-scheme: dark)').matches;
      let theme = this.theme || (isDark ? 'dark' : 'light');
      if (this.isPrinting) theme = 'light';
      document.documentElement.dataset.theme = theme;
      byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
      this.view.setTheme(theme);
      if (this.times !== null) this.times.setTheme(theme);
      this.fillLegend();
    }

    listen() {
      const on = (id, type, react) => byId(id).addEventListener(type, react);
      on('calls', 'click', () => this.change({tree: 'calls'}));
      on('inverted', 'click', () => this.change({tree: 'inverted'}));
      on('sandwich', 'click', () => this.sandwich(this.chosenName()));
      on('flame', 'click', () => this.change({view: 'flame'}));
      on('icicle', 'click', () => this.change({view: 'icicle'}));
      on('new', 'click', () => this.change({widths: 'new'}));
      on('old', 'click', () => this.change({widths: 'old'}));
      on('join-threads', 'click', () => this.change(
        {thread: '', tree: 'calls', threads: this.state.threads === '' ? 'joined' : ''}));
      on('values-samples', 'click', () => this.change({values: 'samples'}));
      on('values-period', 'click', () => this.change({values: 'period'}));
      on('sort', 'change', () => this.change({sort: byId('sort').value}));
      on('events', 'change', () => this.change(
        {event: Number(byId('events').value), thread: '', tree: 'calls'}));
      on('threads', 'change', () => this.change({thread: byId('threads').value}));
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
      on('copy-stack', 'click', () => this.copyStack());
      on('show-sandwich', 'click', () => this.sandwich(this.chosenName()));
      on('theme', 'click', () => {
        this.theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
        this.applyTheme();
        this.view.draw();
      });
      for (const name of ['help', 'facts']) {
        on(`${name}-button`, 'click', () => Toolbar.toggleSection(name));
      }
      for (const button of document.querySelectorAll('th button')) {
        button.addEventListener('click', () => {
          this.tableOrder = button.dataset.sort;
          this.fillTable();
        });
      }
      Toolbar.listen();
      PageEvents.listen(this);
    }

    swapWidths() {
      if (this.sums() !== null) this.change({widths: this.state.widths === 'new' ? 'old' : 'new'});
    }

    swapValues() {
      const {others, unit} = this.tab;
      if (others !== null) this.change({values: unit === 'samples' ? 'period' : 'samples'});
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
      Toolbar.fit();
      if (this.times !== null) this.times.resize();
      this.view.layOut();
      this.view.draw();
    }

    // Prints everything that is shown, without the part outside of the window.
    print(isPrinting) {
      this.isPrinting = isPrinting;
      this.view.isPrinting = isPrinting;
      this.applyTheme();
      this.fillTable();
      this.resize();
      if (this.times !== null) this.times.view.draw();
    }
  }

  async function unpack(text) {
    const letters = atob(text);
    const packed = new Uint8Array(letters.length);
    for (let i = 0; i < packed.length; ++i) packed[i] = letters.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // The timeline is drawn with the next picture of the window.
  function afterDrawing() {
    return new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(done));
    });
  }

  async function start() {
    try {
      const page = FlameTree.decode(await unpack(byId('data').textContent.trim()));
      byId('data').remove();
      if (page.tabs.length === 0) throw new Error('the profile has no samples');
      Page.application = new Application(page);
      document.documentElement.dataset.ready = 'true';
      await afterDrawing();
      document.documentElement.dataset.drawn = 'true';
    } catch (error) {
      byId('failure').textContent = `This flame graph cannot be shown: ${error.message}.`;
      byId('failure').hidden = false;
      document.querySelector('main').hidden = true;
    }
  }

  return {start};
})();
