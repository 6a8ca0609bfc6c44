// SPDX-License-Identifier: Apache-2.0
'use strict';

// The timeline: the lanes or the heat map with their buttons, and what is selected in them. The
// selected range and lanes are parts of the state of the page (page.js):
//   show    graph, both or time; '' for what is shown at first
//   from, to     the selected time; both 0 for all
//   lanes   the selected lanes: "PID/TID,…"; '' for all
//   path    the lane of which the critical path is shown: "PID/TID"; only what is on it is
//           selected. '' for that of the windows of the page, if it has any; 'none' for none
//   heat    '1' if the heat map is shown
//   span    the time that is shown: "FROM-TO"; '' for all
//   others  '1' if processes are shown that only woke those of the command
const TimePanel = (() => {
  const {byId, element} = Controls;
  const VIEWS = ['graph', 'both', 'time'];
  const SETTLED_MS = 300;  // after the last change of what is shown, the address gets it
  const HEAT_HEIGHT = 330;
  const PATH_HEIGHT = 190;  // at most, if the rows are lower

  class Panel {
    constructor(application) {
      this.application = application;
      this.time = application.page.time;
      this.view = new TimeView.View({
        scroller: byId('time-scroller'), canvas: byId('lanes'), spacer: byId('time-spacer'),
        page: application.page,
      });
      this.tabs = new Map();  // of the selection, by event
      this.shownKey = null;   // of the state that was read
      this.visited = [];      // where jumps began
      this.ofWindows = null;  // the walks of all windows of the page
      this.hasRevealed = false;  // the thread of a window
      this.row = -1;          // chosen by keys
      this.isDrawing = false;
      this.span = '';         // of the address
      this.settling = 0;
      this.ownHeight = '';    // what fitHeight gave
      byId('shows').hidden = byId('shows-key').hidden = false;
      byId('time-kinds').hidden = !HeatMap.isUseful(this.time);
      byId('others-button').hidden = !this.view.hasOthers;
      this.listen();
      TimeInput.listen(this);
    }

    listen() {
      const on = (id, react) => byId(id).addEventListener('click', () => {
        react();
        this.redraw();
      });
      for (const show of VIEWS) on(`show-${show}`, () => this.application.change({show}));
      on('lanes-button', () => this.application.change({heat: ''}));
      on('heat-button', () => this.application.change({heat: '1'}));
      on('others-button', () => this.application.change({others: this.view.others ? '' : '1'}));
      on('time-out', () => this.view.zoom(2));
      on('time-in', () => this.view.zoom(0.5));
      on('time-all', () => this.view.show(0, this.time.length));
      on('select-shown', () => this.selectShown());
      on('path-button', () => this.togglePath());
      on('clear-selection', () => this.clearSelection());
      new ResizeObserver(() => this.resize()).observe(byId('time-scroller'));
    }

    // ---- the state of the page ----

    get show() {
      const {show} = this.application.state;
      return VIEWS.includes(show) ? show : this.time.hasIntervals ? 'both' : 'graph';
    }

    showNext() {
      const next = (VIEWS.indexOf(this.show) + 1) % VIEWS.length;
      this.application.change({show: VIEWS[next]});
    }

    // What the trees of a selection depend on.
    get key() {
      const {from, to, lanes, path} = this.application.state;
      return `${from} ${to} ${lanes} ${path}`;
    }

    // Returns {from, to, lanes, path} of the state, or null for everything: `lanes` is a Set of
    // indexes, or null for all; `path` is an index, or -1.
    readSelection() {
      const {from, to, lanes, path} = this.application.state;
      const {time} = this;
      const wanted = new Set(lanes.split(',').filter((text) => text !== ''));
      const nameOf = ({pid, tid}) => `${pid}/${tid}`;
      const found = time.lanes.filter((lane) => wanted.has(nameOf(lane)));
      const isRange = from < to && from < time.length;
      const onPath = time.hasIntervals ? time.lanes.findIndex((lane) => nameOf(lane) === path) : -1;
      if (!isRange && found.length === 0 && onPath < 0) return null;
      return {
        from: isRange ? from : 0, to: isRange ? Math.min(to, time.length) : time.length,
        lanes: found.length === 0 ? null : new Set(found.map(({index}) => index)), path: onPath,
      };
    }

    // Returns the tab of an event with the numbers of the selection.
    tabAt(event) {
      if (this.shownKey !== this.key) this.readState();
      const {page} = this.application;
      if (this.selection === null) return page.tabs[event];
      if (!this.tabs.has(event)) {
        this.tabs.set(event, TimeSelection.tabOf(page, event, this.ranges(event)));
      }
      return this.tabs.get(event);
    }

    // Of a selected path, what is on it counts; of the tab that has critical paths, all that is of
    // its lane.
    ranges(event) {
      const {selection, time} = this;
      if (selection.path < 0) return TimeSelection.rangesOf(time, selection);
      if (time.kinds[event] !== 'path') return this.view.walks[0].steps;
      return TimeSelection.rangesOf(time, {...selection, lanes: new Set([selection.path])});
    }

    readState() {
      this.shownKey = this.key;
      this.selection = this.readSelection();
      this.tabs.clear();
      const walks = this.findWalks();
      this.view.walks =
          walks === null ? null : walks.map((walk) => ({...walk, hops: TimePath.hopsOf(walk)}));
      this.fillPath();
    }

    // Returns the walks of the critical path that is shown, or null.
    findWalks() {
      const {selection, time} = this;
      if (selection !== null && selection.path >= 0) return [this.walkPath(selection)];
      if (this.application.state.path === 'none' || !this.hasWindows) return null;
      if (this.ofWindows === null) this.ofWindows = TimePath.walkAll(time, time.windows.shown);
      return selection === null ? this.ofWindows :
                                  TimePath.cut(this.ofWindows, selection.from, selection.to);
    }

    get hasWindows() { return this.time.hasIntervals && this.time.windows.shown.length > 0; }

    // Shows the state of the page.
    refresh() {
      const {state} = this.application;
      this.tabAt(state.event);
      const {show, view} = this;
      for (const each of VIEWS) {
        byId(`show-${each}`).setAttribute('aria-pressed', String(each === show));
      }
      byId('time').hidden = show === 'graph';
      byId('time-controls').hidden = show === 'graph';
      byId('path-button').hidden = show === 'graph' || !this.time.hasIntervals;
      byId('graph-controls').hidden = show === 'time';
      byId('lower').hidden = show === 'time';
      byId('time').classList.toggle('whole', show === 'time');
      view.selection = this.selection;
      view.showOthers(state.others !== '');
      byId('others-button').setAttribute('aria-pressed', String(view.others));
      this.readSpan();
      const isHeat = state.heat !== '' && HeatMap.isUseful(this.time);
      const lanes = this.selection === null ? null : this.selection.lanes;
      view.heat = isHeat ? HeatMap.of(this.time, state.event, lanes) : null;
      byId('lanes-button').setAttribute('aria-pressed', String(!isHeat));
      byId('heat-button').setAttribute('aria-pressed', String(isHeat));
      for (const id of ['time-out', 'time-in', 'time-all', 'select-shown', 'path-button']) {
        byId(id).disabled = isHeat;
      }
      byId('clear-selection').hidden = this.selection === null;
      byId('time-range').textContent = byId('time-range').title = this.rangeText();
      this.fillLegend();
      this.resize();
      this.revealWindows();
    }

    // Scrolls to the thread of the longest window, when the lanes are shown first.
    revealWindows() {
      const {view, time} = this;
      if (this.hasRevealed || !this.hasWindows || view.height === 0) return;
      this.hasRevealed = true;
      const longest = TimeWindows.longest(time.windows.shown);
      view.reveal(time.lanes[longest.lane], (view.from + view.to) / 2, longest);
    }

    rangeText() {
      if (this.view.heat !== null) {
        const {largest, seconds} = this.view.heat;
        const cell = TimeTexts.duration(this.time, this.view.heat.perCell);
        return `A column is ${seconds} s. The strongest colour is ${largest} samples in ${cell}.`;
      }
      const {shortest, sampleTime} = this.time;
      const duration = (time) => TimeTexts.duration(this.time, time);
      const {count, shown} = this.time.windows;
      const joined =
          (shown.length === count ? '' :
                                    `The longest ${shown.length} of ${count} windows are drawn. `) +
          (shortest === 0 ? '' : `States below ${duration(shortest)} are joined. `) +
          (sampleTime === 0 ? '' : `Stacks are in steps of ${duration(sampleTime)}.`);
      if (this.selection === null) return joined;
      return `Selected: ${TimeTexts.selectionText(this.time, this.selection)}. ${joined}`;
    }

    // Shows the time of the address, if that has changed.
    readSpan() {
      const {span} = this.application.state;
      if (span === this.span) return;
      this.span = span;
      const [from, to] = span.split('-').map(Number);
      if (from < to) this.view.show(from, to);
      else this.view.show(0, this.time.length);
    }

    writeSpan() {
      const {from, to} = this.view;
      const isAll = to - from >= this.time.length;
      this.span = isAll ? '' : `${Math.floor(from)}-${Math.ceil(to)}`;
      this.application.state.span = this.span;
      this.application.writeAddress();
    }

    // Returns the sum of the shown event, in the numbers of `tab`, of everything.
    totalOfAll({unit}) {
      const all = this.application.page.tabs[this.application.state.event];
      return (all.unit === unit ? all : all.others).tree.total[0];
    }

    fillLegend() {
      const used = new Set(this.time.intervals.state);
      const {hasIntervals, markers} = this.time;
      const states = TimeData.STATES.filter((_, state) => used.has(state)).map((name) =>
        element('li', hasIntervals ? name : 'samples', `state-${name.replaceAll(' ', '-')}`));
      const hasEvents = markers.length > 0 || this.view.happened.length > 0;
      byId('states').replaceChildren(...states,
        ...hasEvents ? [element('li', 'event', 'state-event')] : []);
      byId('states').hidden = this.view.heat !== null;
    }

    setTheme(theme) {
      this.view.theme = theme;
      this.redraw();
    }

    resize() {
      this.fitHeight();
      this.view.layOut();
      this.redraw();
    }

    // The rows and the path get what they need, up to a part of the window. The graph gets the
    // rest. A height that somebody gave by the mouse stays.
    fitHeight() {
      const {style} = byId('time');
      if (style.height !== '' && style.height !== this.ownHeight) return;
      const whole = document.querySelector('main').clientHeight;
      const isNarrow = window.matchMedia('(max-width: 640px)').matches;
      const rows = this.view.heat === null ? this.view.rowsHeight : HEAT_HEIGHT;
      const path = byId('path').hidden ? 0 : byId('path').querySelector('table').offsetHeight;
      const ofPath = Math.min(path, PATH_HEIGHT);
      const needed = isNarrow ? rows + ofPath : Math.max(rows, ofPath);
      const most = whole * (isNarrow ? 0.56 : 0.46);
      const height = Math.min(needed + byId('time-facts').offsetHeight + 1, most);
      this.ownHeight = `${Math.round(height)}px`;
      style.height = this.show === 'both' ? this.ownHeight : (this.ownHeight = '');
    }

    // Draws before the next picture of the window.
    redraw() {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.writeSpan(), SETTLED_MS);
      if (this.isDrawing) return;
      this.isDrawing = true;
      requestAnimationFrame(() => {
        this.isDrawing = false;
        this.view.draw();
      });
    }

    // ---- selecting ----

    select({from, to, lanes}) {
      const isWhole = from === 0 && to === this.time.length;
      const names = lanes === null ? []
        : [...lanes].map((index) => this.time.lanes[index]).map(({pid, tid}) => `${pid}/${tid}`);
      this.application.change({
        from: isWhole ? 0 : from, to: isWhole ? 0 : to, lanes: names.join(','),
      });
    }

    get selectedOrAll() {
      return this.selection || {from: 0, to: this.time.length, lanes: null, path: -1};
    }

    // Shows what a drag will select.
    showRange(a, b) {
      const {lanes} = this.selectedOrAll;
      this.view.selection = {from: Math.min(a, b), to: Math.max(a, b), lanes, path: -1};
      this.redraw();
    }

    selectRange(a, b) {
      const [from, to] = [Math.floor(Math.min(a, b)), Math.ceil(Math.max(a, b))];
      this.select({...this.selectedOrAll, from, to});
    }

    selectShown() {
      this.selectRange(this.view.from, this.view.to);
    }

    // Selects lanes alone, or adds them to the selected ones; removes them if all were selected.
    selectLanes(lanes, isAdded) {
      const {lanes: before} = this.selectedOrAll;
      const indexes = lanes.map(({index}) => index);
      const chosen = new Set(isAdded && before !== null ? before : []);
      const areChosen = before !== null && indexes.every((index) => before.has(index));
      const isAlone = areChosen && before.size === indexes.length;
      if (!isAlone || isAdded) {
        for (const index of indexes) {
          if (areChosen && isAdded) chosen.delete(index);
          else chosen.add(index);
        }
      }
      this.select({...this.selectedOrAll, lanes: chosen.size === 0 ? null : chosen});
    }

    clearSelection() {
      const path = this.application.state.path === 'none' ? 'none' : '';
      this.application.change({from: 0, to: 0, lanes: '', path});
    }

    zoomToSelection() {
      if (this.selection !== null) this.view.show(this.selection.from, this.selection.to);
    }

    escape() {
      const {view} = this;
      if (view.link !== null) view.link = null;
      else if (this.selectedOrAll.path >= 0)
        this.application.change({path: ''});
      else if (this.selection !== null) this.clearSelection();
      else if (view.to - view.from < this.time.length) view.show(0, this.time.length);
      else this.focusOn(null);
    }

    // ---- lanes ----

    click(place, event) {
      const isAdded = event.ctrlKey || event.metaKey || event.shiftKey;
      const {process, lane, windows, window, isName, isHead} = place;
      this.view.link = null;
      if (isHead || process === null) {
        this.focusOn(null);
      } else if (windows !== null) {
        if (window !== null && !isName) this.chooseWindow(window);
      } else if (lane === null) {
        if (isAdded) this.selectLanes(process.lanes, true);
        else this.view.toggleFold(process);
      } else if (isName) {
        this.selectLanes([lane], isAdded);
      } else {
        this.focusOn({lane, at: Math.floor(place.at), window: null});
        this.jump();
      }
      this.row = place.row;
      this.redraw();
    }

    focusOn(focus) {
      this.view.focus = focus;
      const {page} = this.application;
      this.application.showPairs(
          focus === null            ? null :
              focus.window !== null ? TimeTexts.ofWindow(page, focus.window) :
                                      TimeTexts.of(page, focus.lane, focus.at));
    }

    // Shows the path of a window.
    chooseWindow(window) {
      const {lane, from, to} = window;
      const {pid, tid} = this.time.lanes[lane];
      this.application.change({path: `${pid}/${tid}`, from, to, lanes: ''});
      this.focusOnWindow(window);
    }

    focusOnWindow(window) {
      const lane = this.time.lanes[window.lane];
      const at = Math.floor((window.from + window.to) / 2);
      this.view.reveal(lane, at, window);
      this.focusOn({lane, at, window});
    }

    // Goes from a wait to the thread that ended it.
    jump() {
      const {view, time} = this;
      if (view.focus === null) return;
      const {lane, at, window} = view.focus;
      const i = window !== null ? -1 : TimeData.intervalAt(time, lane, at);
      const waker = i < 0 ? -1 : TimeData.wakerLane(time, i);
      if (waker < 0 || waker === lane.index) return;
      this.visited.push(view.focus);
      const woken = Math.max(time.intervals.woken[i] - 1, 0);
      view.reveal(time.lanes[waker], woken);
      view.link = {from: lane.index, to: waker, at: woken};
      this.focusOn({lane: time.lanes[waker], at: woken, window: null});
    }

    // Goes back to where the last jump began.
    back() {
      const focus = this.visited.pop();
      if (focus === undefined) return;
      this.view.link = null;
      this.view.reveal(focus.lane, focus.at, focus.window);
      this.focusOn(focus);
    }

    moveRow(step) {
      const {view} = this;
      const first = view.focus === null ? this.row : view.rowOf(view.focus);
      const last = this.row >= 0 && view.rows[this.row] && view.rows[this.row].lane === null
        ? this.row : first;
      this.row = Math.min(Math.max(last + step, 0), view.rows.length - 1);
      const {lane, process, windows} = view.rows[this.row];
      const at = view.focus === null ? Math.floor((view.from + view.to) / 2) : view.focus.at;
      if (windows !== null) {
        this.focusOnWindow(TimeWindows.nearest(windows, at));
        return;
      }
      if (lane !== null) {
        view.reveal(lane, at);
        this.focusOn({lane, at, window: null});
        return;
      }
      view.focus = null;
      const state = view.folded.has(process) ? 'folded' : 'unfolded';
      this.application.showPairs([['', `${process.name} ${process.pid}`],
        ['Threads', String(process.lanes.length)], ['Enter', `fold or unfold (${state})`]]);
    }

    moveInterval(step) {
      const {view, time} = this;
      if (view.focus === null) return;
      const {lane, at, window} = view.focus;
      if (window !== null) {
        const next = TimeWindows.neighbour(time.windows.shown, window, step);
        if (next !== undefined) this.focusOnWindow(next);
        return;
      }
      const i = TimeData.firstIntervalAfter(time, lane, at) + step;
      if (i < lane.begin || i >= lane.end) return;
      const {start, end} = time.intervals;
      const middle = Math.floor((start[i] + end[i]) / 2);
      view.reveal(lane, middle);
      this.focusOn({lane, at: middle, window: null});
    }

    enter() {
      const {focus} = this.view;
      if (focus !== null && focus.window !== null) {
        this.chooseWindow(focus.window);
        return;
      }
      const row = this.view.rows[this.row];
      if (row === undefined) return;
      if (row.lane === null) this.view.toggleFold(row.process);
      else this.selectLanes([row.lane], false);
    }

    hover(event) {
      const {view} = this;
      if (view.heat !== null) {
        HeatPanel.hover(this, event);
        return;
      }
      const place = view.placeAt(event.clientX, event.clientY);
      const {lane, at, windows, window, isName, isHead} = place;
      if (windows !== null) {
        const isOn = window !== null && !isName && !isHead;
        view.canvas.style.cursor = isOn ? 'pointer' : 'crosshair';
        this.application.showTipOf(
            isOn ? TimeTexts.ofWindow(this.application.page, window) : null, event);
        return;
      }
      const pairs = this.markersAt(place);
      const isWait = lane !== null && !isName && !isHead && this.hasWaker(lane, at);
      view.canvas.style.cursor = isWait || (isName && !isHead) ? 'pointer' : 'crosshair';
      if (lane !== null && !isHead && !isName) {
        const [title, ...rest] = TimeTexts.of(this.application.page, lane, Math.floor(at));
        pairs.unshift(title);
        pairs.push(...rest);
      } else if (pairs.length > 0) {
        pairs.unshift(['', TimeTexts.clock(this.time, at)]);
      }
      this.application.showTipOf(pairs.length === 0 ? null : pairs, event);
    }

    hasWaker(lane, at) {
      const i = TimeData.intervalAt(this.time, lane, at);
      return i >= 0 && TimeData.wakerLane(this.time, i) >= 0;
    }

    // Returns what happened near a place.
    markersAt({lane, isHead, at}) {
      const {time, view, application} = this;
      const near = 5 * view.step;
      const of = isHead ? -1 : lane === null ? null : lane.index;
      const pairs = (view.markersOf.get(of) || [])
        .filter((marker) => Math.abs(marker.time - at) <= near).slice(0, 5)
        .map((marker) => ['Event', TimeTexts.markerText(time, marker)]);
      for (const tab of lane === null || isHead ? [] : view.happened) {
        const [first, end] = TimeData.samplesIn(time.samples[tab], lane, at - near, at + near);
        if (first === end) continue;
        const {name} = application.page.tabs[tab];
        pairs.push(['Event', `${name} at ${TimeTexts.clock(time, time.samples[tab].time[first])}`]);
      }
      return pairs;
    }

    hideTip() {
      this.application.showTipOf(null);
    }

    // ---- the critical path ----

    // The path of the page's windows, or of the selected time, or of the time that is shown.
    togglePath() {
      if (!this.time.hasIntervals) return;
      if (this.view.walks !== null) {
        this.application.change({path: this.hasWindows ? 'none' : ''});
        return;
      }
      if (this.hasWindows && this.view.focus === null) {
        this.application.change({path: ''});
        return;
      }
      const {pid, tid} = this.pathLane();
      const {from, to} = this.application.state;
      const {view, time} = this;
      const isAll = from < to || view.to - view.from >= time.length;
      this.application.change({
        path: `${pid}/${tid}`,
        ...isAll ? {} : {from: Math.floor(view.from), to: Math.ceil(view.to)},
      });
    }

    // The chosen lane, or the only selected one, or the command's, or the first.
    pathLane() {
      const {lanes} = this.time;
      const {focus} = this.view;
      const selected = this.selection === null ? null : this.selection.lanes;
      if (focus !== null) return focus.lane;
      return lanes[selected !== null && selected.size === 1 ? [...selected][0]
        : Math.max(this.time.mainLane, 0)];
    }

    walkPath({from, to, path}) {
      const {time} = this;
      const lane = time.lanes[path];
      const {start, end} = time.intervals;
      if (lane.begin === lane.end) return TimePath.walk(time, path, 0, 0);
      return TimePath.walk(time, path, Math.max(from, start[lane.begin]),
        Math.min(to, end[lane.end - 1]));
    }

    fillPath() {
      const {walks} = this.view;
      byId('path').hidden = walks === null;
      byId('path-button').setAttribute('aria-pressed', String(walks !== null));
      if (walks === null) return;
      PathTable.fill(this.application.page, walks, (lane, at) => {
        this.view.reveal(lane, at);
        this.focusOn({lane, at, window: null});
        this.redraw();
      });
    }
  }

  return {Panel, VIEWS};
})();
