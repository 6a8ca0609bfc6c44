// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/time_lanes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "convert/timeline/cpu_waits.h"
#include "convert/timeline/critical_path.h"
#include "convert/timeline/stack_facts.h"
#include "convert/timeline/switches.h"
#include "convert/timeline/timeouts.h"
#include "convert/timeline/wall_clock.h"
#include "convert/timeline/windows.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/event_modifiers.h"

namespace perftape::flame_graph {
namespace {

using convert::Profile;
using convert::Sample;
using convert::TaskEvent;
using timeline::Interval;
using timeline::ThreadLine;
using timeline::Timeline;

constexpr std::uint32_t kNoLane = 0xffffffff;
// What a screen shows of the whole time.
constexpr std::uint32_t kVisibleParts = 4000;
// The whole time has at least so many units. With waits, parts of a microsecond matter.
constexpr std::int64_t kUnitsWithWaits = 100'000'000, kUnitsOfSamples = 100'000;

// "cycles:u" has modifiers, "syscalls:sys_enter_read" is a tracepoint.
bool IsTracepoint(std::string_view event) {
  return perfdata::WithoutModifiers(event).contains(':');
}

// Returns the largest power of ten of nanoseconds of which `length` has at least `units`; 1 if none
// has.
std::int64_t UnitFor(std::int64_t length, std::int64_t units) {
  std::int64_t unit = 1;
  while (length / (unit * 10) >= units) unit *= 10;
  return unit;
}

// Whether a waker can end it. A recording of context switches has waits without samples.
bool IsWait(timeline::State state) {
  return state == timeline::State::kDisk || state == timeline::State::kLock ||
         state == timeline::State::kSleep;
}

// Where the stack of a sample is: in the tree of a tab.
struct NodeOfTab {
  std::uint32_t tab = 0, node = kNoNode;
};

// Joins intervals of a lane that are shorter than `shortest` with their neighbours. The joined ones
// have the state that took most of the time, and what is known of its longest interval. Their
// samples become samples of the lane.
class IntervalJoiner {
 public:
  IntervalJoiner(std::uint32_t shortest, std::int64_t unit_ns, Lane& lane)
      : shortest_(shortest), unit_ns_(unit_ns), lane_(lane) {}

  void Join() && {
    const std::vector<LaneInterval> intervals = std::exchange(lane_.intervals, {});
    std::uint32_t at = lane_.start;
    for (const LaneInterval& interval : intervals) {
      const bool is_long = interval.length >= shortest_;
      if (is_long || length_ >= shortest_) Flush();
      at += interval.length;
      run_.push_back({interval, at});
      length_ += interval.length;
      if (is_long) Flush();
    }
    Flush();
  }

 private:
  struct Ended {
    LaneInterval interval;
    std::uint32_t end = 0;
  };

  void Flush() {
    if (run_.size() == 1) lane_.intervals.push_back(run_.front().interval);
    if (run_.size() > 1) Append();
    run_.clear();
    length_ = 0;
  }

  void Append() {
    std::array<std::uint32_t, timeline::kStates> times = {};
    for (const auto& [interval, end] : run_) {
      times[static_cast<std::size_t>(interval.state)] += interval.length;
    }
    const auto state =
        static_cast<timeline::State>(std::ranges::max_element(times) - times.begin());
    LaneInterval joined;
    std::uint32_t short_waits = 0;
    for (const auto& [interval, end] : run_) {
      if (interval.state == state && interval.length > joined.length) joined = interval;
      short_waits += interval.short_waits;
      if (!interval.is_sample) continue;
      lane_.samples[interval.tab].push_back(
          {.time = end, .node = interval.node, .count = 1, .period = interval.length * unit_ns_});
    }
    joined.is_sample = false;
    joined.timeouts = 0;
    joined.length = length_;
    joined.short_waits = state == timeline::State::kRunning ? short_waits : 0;
    lane_.intervals.push_back(joined);
  }

  std::uint32_t shortest_;
  std::int64_t unit_ns_;
  Lane& lane_;
  std::vector<Ended> run_;    // that become one
  std::uint32_t length_ = 0;  // of these
};

// Sorts by parts of the time, and in these by nodes. Samples are mostly in the order of the parts:
// those of a lane were read so, or sorted by parts of half the length.
void SortByPart(std::vector<LaneSample>& samples, std::uint32_t part) {
  const auto part_of = [part](const LaneSample& sample) { return sample.time / part; };
  if (!std::ranges::is_sorted(samples, {}, part_of)) {
    std::ranges::stable_sort(samples, {}, part_of);
  }
  for (auto begin = samples.begin(); begin != samples.end();) {
    const auto end = std::ranges::find_if(begin, samples.end(), [&](const LaneSample& sample) {
      return part_of(sample) != part_of(*begin);
    });
    std::ranges::stable_sort(begin, end, {}, &LaneSample::node);
    begin = end;
  }
}

// Adds up samples with equal nodes in parts of the time.
std::vector<LaneSample> JoinSamples(std::vector<LaneSample> samples, std::uint32_t part) {
  const auto key = [part](const LaneSample& sample) {
    return std::pair(sample.time / part, sample.node);
  };
  SortByPart(samples, part);
  std::size_t size = 0;
  for (const LaneSample& sample : samples) {
    if (size != 0 && key(samples[size - 1]) == key(sample)) {
      LaneSample& last = samples[size - 1];
      last.count = convert::AddUpToLimit(last.count, sample.count);
      last.period = convert::AddUpToLimit(last.period, sample.period);
    } else {
      samples[size++] = sample;
    }
  }
  samples.resize(size);
  return samples;
}

std::size_t IntervalsIn(const std::vector<Lane>& lanes) {
  std::size_t sum = 0;
  for (const Lane& lane : lanes) sum += lane.intervals.size();
  return sum;
}

std::size_t SamplesIn(const std::vector<Lane>& lanes, std::size_t tab) {
  std::size_t sum = 0;
  for (const Lane& lane : lanes) sum += lane.samples[tab].size();
  return sum;
}

std::string TextOf(const TaskEvent& event) {
  return event.type == TaskEvent::Type::kLoss ? std::to_string(event.lost) : event.comm;
}

class LaneMaker {
 public:
  LaneMaker(const Timeline& timeline, const std::vector<LaneTab>& tabs)
      : timeline_(timeline), profile_(timeline.profile()), tabs_(tabs), facts_(profile_) {}

  std::optional<TimeLanes> Make(const LaneEvents& events, const LaneLimits& limits) && {
    if (!FindTime()) return std::nullopt;
    FindNodes();
    FindKinds();
    AddLanes();
    SortLanes();
    if (timeline_.recorded().waits) AddIntervals();
    AddSamples();
    ShortenIntervals(limits.intervals);
    made_.sample_time = static_cast<std::uint32_t>(events.sample_step_ns / made_.unit_ns);
    AddUpSamples(limits.samples);
    SortSamples();
    AddMarkers(events, limits.markers);
    AddWindows(events, limits.windows);
    AddCpuWaits();
    made_.has_all_waits = timeline_.recorded().has_all_waits();
    made_.has_wakeups = timeline_.recorded().wakeups;
    return std::move(made_);
  }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // pid and tid

  // A lane before the lanes are sorted.
  struct Draft {
    std::string_view comm;
    timeline::NamedAt last;                // of its samples
    std::uint32_t line = timeline::kNone;  // in Timeline::threads()
    std::int64_t busy = 0;
    std::uint64_t samples = 0;
  };

  bool FindTime();
  void FindNodes();
  void FindKinds();
  void AddLanes();
  void SortLanes();
  void AddIntervals();
  LaneInterval IntervalOf(const ThreadLine& line, const Interval& interval);
  WakerCode WakerOf(const timeline::Wakeup& wakeup);
  void AddSamples();
  void ShortenIntervals(std::size_t limit);
  void AddUpSamples(std::size_t limit);
  void SortSamples();
  void AddMarkers(const LaneEvents& events, std::size_t limit);
  void AddWindows(const LaneEvents& events, std::size_t limit);
  void AddCpuWaits();

  std::uint32_t UnitsOf(std::int64_t time_ns) const {
    return static_cast<std::uint32_t>((time_ns - made_.start_ns) / made_.unit_ns);
  }
  Key KeyOf(const Sample& sample) const {
    const convert::SampleThread thread = ThreadOf(profile_, sample);
    return {thread.pid.value_or(convert::kUnknownId), thread.tid.value_or(convert::kUnknownId)};
  }
  std::uint32_t LaneOf(const Key& key) const {
    const auto found = lanes_.find(key);
    return found == lanes_.end() ? kNoLane : found->second;
  }

  const Timeline& timeline_;
  const Profile& profile_;
  const std::vector<LaneTab>& tabs_;
  timeline::StackFacts facts_;
  TimeLanes made_;
  std::vector<NodeOfTab> nodes_;  // by sample
  std::vector<bool> is_in_interval_;
  std::map<Key, Draft> drafts_;
  std::map<Key, std::uint32_t> lanes_;
};

bool LaneMaker::FindTime() {
  timeline::Span time = timeline_.time();
  bool has_times = !time.is_empty();
  for (std::uint32_t i = 0; i < profile_.samples().size(); ++i) {
    const auto time_ns = timeline_.TimeOf(i);
    if (!time_ns) continue;
    if (!has_times) time = {.start = *time_ns, .end = *time_ns};
    has_times = true;
    time.start = std::min(time.start, *time_ns);
    time.end = std::max(time.end, *time_ns);
  }
  if (!has_times || time.is_empty()) return false;
  made_.start_ns = time.start;
  made_.unit_ns =
      UnitFor(time.length(), timeline_.recorded().waits ? kUnitsWithWaits : kUnitsOfSamples);
  made_.length = UnitsOf(time.end);
  return true;
}

void LaneMaker::FindNodes() {
  nodes_.resize(profile_.samples().size());
  is_in_interval_.resize(profile_.samples().size());
  for (std::uint32_t tab = 0; tab < tabs_.size(); ++tab) {
    for (const SampleNode& at : tabs_[tab].tree->samples) {
      nodes_[at.sample] = {.tab = tab, .node = at.node};
    }
  }
}

void LaneMaker::FindKinds() {
  for (const LaneTab& tab : tabs_) {
    made_.kinds.push_back(tab.event == timeline_.on_cpu_event()
                              ? EventKind::kOnCpu
                              : KindOf(profile_.text(profile_[tab.event].name)));
  }
}

void LaneMaker::AddLanes() {
  std::vector<Draft*> known_of(profile_.threads().size());  // by ThreadId
  for (std::uint32_t i = 0; i < profile_.samples().size(); ++i) {
    const Sample& sample = profile_.samples()[i];
    const auto time_ns = timeline_.TimeOf(i);
    if (!time_ns || nodes_[i].node == kNoNode) continue;
    Draft* of_thread = nullptr;
    Draft*& known =
        sample.thread == convert::ThreadId{} ? of_thread : known_of[sample.thread.index];
    if (known == nullptr) known = &drafts_[KeyOf(sample)];
    Draft& draft = *known;
    draft.last = std::max(draft.last, {*time_ns, sample.first_ms, ThreadOf(profile_, sample).comm});
    draft.comm = draft.last.comm;
    ++draft.samples;
    if (!timeline_.recorded().waits && sample.event == timeline_.on_cpu_event()) {
      draft.busy = convert::AddUpToLimit(draft.busy, sample.count);
    }
  }
  for (std::uint32_t i = 0; i < timeline_.threads().size(); ++i) {
    const ThreadLine& line = timeline_.threads()[i];
    Draft& draft = drafts_[{line.pid, line.tid}];
    draft.line = i;
    draft.comm = profile_.text(profile_[line.thread].comm);
    if (!timeline_.recorded().waits) continue;
    for (const Interval& interval : line.intervals) {
      const bool runs = interval.state == timeline::State::kRunning;
      if (runs) draft.busy += interval.time.length() - interval.short_waits;
    }
  }
}

// The idle task is last, whatever it has.
void LaneMaker::SortLanes() {
  std::map<std::uint32_t, std::pair<std::int64_t, std::uint64_t>> of_processes;
  for (const auto& [key, draft] : drafts_) {
    auto& [busy, samples] = of_processes[key.first];
    busy = convert::AddUpToLimit(busy, draft.busy);
    samples += draft.samples;
  }
  std::vector<const std::pair<const Key, Draft>*> order;
  for (const auto& entry : drafts_) order.push_back(&entry);
  std::ranges::stable_sort(order, [&](const auto* a, const auto* b) {
    const auto rank = [&](const auto& entry) {
      const auto& [key, draft] = entry;
      const auto& [busy, samples] = of_processes[key.first];
      return std::tuple(key.second == 0, -busy, -static_cast<std::int64_t>(samples), key.first,
                        -draft.busy, -static_cast<std::int64_t>(draft.samples));
    };
    return rank(*a) < rank(*b);
  });
  for (const auto* entry : order) {
    const auto& [key, draft] = *entry;
    lanes_[key] = static_cast<std::uint32_t>(made_.lanes.size());
    made_.lanes.push_back({.pid = key.first, .tid = key.second, .comm = draft.comm});
    made_.lanes.back().samples.resize(tabs_.size());
  }
  if (const auto lives = timeline::LivesOf(timeline_, {}); lives && !lives->empty()) {
    const ThreadLine& line = timeline_.threads()[lives->front().thread];
    made_.main_lane = lanes_.at({line.pid, line.tid});
  }
}

WakerCode LaneMaker::WakerOf(const timeline::Wakeup& wakeup) {
  const Sample& sample = profile_.samples()[wakeup.sample];
  const convert::Thread& thread = profile_[sample.thread];
  switch (facts_.WakerOf(sample.stack, thread.tid == 0)) {
    case timeline::Waker::kThread:
      break;
    case timeline::Waker::kTimer:
      return WakerCode::kTimer;
    case timeline::Waker::kNetwork:
      return WakerCode::kNetwork;
    case timeline::Waker::kDisk:
      return WakerCode::kDisk;
    case timeline::Waker::kInterrupt:
      return WakerCode::kInterrupt;
  }
  if (timeline_.Find(thread.pid, thread.tid) == timeline::kNone) return WakerCode::kUnknown;
  const std::uint32_t lane = LaneOf({thread.pid, thread.tid});
  return static_cast<WakerCode>(static_cast<std::uint32_t>(WakerCode::kFirstLane) + lane);
}

LaneInterval LaneMaker::IntervalOf(const ThreadLine& line, const Interval& interval) {
  LaneInterval made = {
      .state = interval.state,
      .short_waits = static_cast<std::uint32_t>(interval.short_waits / made_.unit_ns)};
  if (interval.sample != timeline::kNone) {
    const NodeOfTab& of_sample = nodes_[interval.sample];
    made.tab = of_sample.tab;
    made.node = of_sample.node;
    const Sample& sample = profile_.samples()[interval.sample];
    made.is_sample = of_sample.node != kNoNode && sample.count == 1 &&
                     made_.kinds[of_sample.tab] == EventKind::kWait &&
                     sample.period == interval.time.length() &&
                     timeline_.TimeOf(interval.sample) == interval.time.end;
  } else if (!IsWait(interval.state)) {
    return made;
  }
  if (const timeline::Wakeup* const wakeup = line.WakeupOf(interval)) {
    made.waker = WakerOf(*wakeup);
    made.woken_before_end = UnitsOf(interval.time.end) - UnitsOf(wakeup->time_ns);
    if (made.waker >= WakerCode::kFirstLane) {
      const std::int64_t first =
          StartOfTimeouts(timeline_, facts_, line, interval, timeline_.time().start);
      made.timeouts = UnitsOf(interval.time.start) - UnitsOf(first);
    }
  }
  return made;
}

// An interval that is shorter than a unit can get no length. It is left out.
void LaneMaker::AddIntervals() {
  for (const ThreadLine& line : timeline_.threads()) {
    Lane& lane = made_.lanes[lanes_.at({line.pid, line.tid})];
    std::uint32_t at = lane.start = UnitsOf(line.life().start);
    if (line.parent != timeline::kNone) {
      const ThreadLine& parent = timeline_.threads()[line.parent];
      lane.parent = lanes_.at({parent.pid, parent.tid});
    }
    for (const Interval& interval : line.intervals) {
      const std::uint32_t end = UnitsOf(interval.time.end);
      if (end == at) continue;
      LaneInterval made = IntervalOf(line, interval);
      made.length = end - at;
      made.short_waits = std::min(made.short_waits, made.length);
      made.woken_before_end = std::min(made.woken_before_end, made.length);
      at = end;
      if (made.is_sample) is_in_interval_[interval.sample] = true;
      lane.intervals.push_back(made);
    }
  }
}

void LaneMaker::AddSamples() {
  std::vector<std::uint32_t> known_of(profile_.threads().size(), kNoLane);  // by ThreadId
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    const Sample& sample = profile_.samples()[i];
    const auto time_ns = timeline_.TimeOf(i);
    if (nodes_[i].node == kNoNode || is_in_interval_[i] || !time_ns) continue;
    std::uint32_t of_thread = kNoLane;
    std::uint32_t& known =
        sample.thread == convert::ThreadId{} ? of_thread : known_of[sample.thread.index];
    if (known == kNoLane) known = lanes_.at(KeyOf(sample));
    Lane& lane = made_.lanes[known];
    lane.samples[nodes_[i].tab].push_back({.time = UnitsOf(*time_ns),
                                           .node = nodes_[i].node,
                                           .count = sample.count,
                                           .period = sample.period});
  }
}

void LaneMaker::SortSamples() {
  for (Lane& lane : made_.lanes) {
    for (std::vector<LaneSample>& samples : lane.samples) {
      std::ranges::stable_sort(samples, {}, [](const LaneSample& sample) {
        return std::pair(sample.time, sample.node);
      });
    }
  }
}

// Joins as few as possible, but leaves what is visible.
void LaneMaker::ShortenIntervals(std::size_t limit) {
  if (IntervalsIn(made_.lanes) <= limit) return;
  std::vector<Lane> best;
  for (std::uint32_t shortest = made_.length / kVisibleParts; shortest > 1; shortest /= 2) {
    std::vector<Lane> joined = made_.lanes;
    for (Lane& lane : joined) IntervalJoiner(shortest, made_.unit_ns, lane).Join();
    const bool is_first = best.empty();
    const bool fits = IntervalsIn(joined) <= limit;
    if (!is_first && !fits) break;
    made_.shortest = shortest;
    best = std::move(joined);
    if (!fits) break;
  }
  if (!best.empty()) made_.lanes = std::move(best);
}

// Begins with the event that has the most samples. In the end, a lane has a sample of each stack.
void LaneMaker::AddUpSamples(std::size_t limit) {
  constexpr std::uint32_t kFinest = 32;
  const std::uint32_t visible = std::max(made_.length / kVisibleParts, 1U);
  std::vector<std::uint32_t> parts(tabs_.size(), std::max(visible / kFinest, 1U));
  if (made_.sample_time != 0) {
    // Their times were rounded: different stacks of one node are one, in any order.
    for (Lane& lane : made_.lanes) {
      for (std::vector<LaneSample>& samples : lane.samples) {
        samples = JoinSamples(std::move(samples), 1);
      }
    }
  }
  std::vector<std::size_t> sizes;
  for (std::size_t tab = 0; tab < tabs_.size(); ++tab) sizes.push_back(SamplesIn(made_.lanes, tab));
  while (std::reduce(sizes.begin(), sizes.end()) > limit) {
    const auto tab = static_cast<std::size_t>(std::ranges::max_element(sizes) - sizes.begin());
    std::uint32_t& part = parts[tab];
    for (Lane& lane : made_.lanes) {
      lane.samples[tab] = JoinSamples(std::move(lane.samples[tab]), part);
    }
    made_.sample_time = std::max(made_.sample_time, part);
    if (part > made_.length) return;
    part *= 2;
    sizes[tab] = SamplesIn(made_.lanes, tab);
  }
}

// Forks and exits can be seen as the ends of lanes.
void LaneMaker::AddMarkers(const LaneEvents& events, std::size_t limit) {
  const std::int64_t end_ns = made_.start_ns + made_.length * made_.unit_ns;
  for (const TaskEvent& event : events.tasks) {
    if (event.time_ns < made_.start_ns || event.time_ns > end_ns) continue;
    Marker marker = {.type = static_cast<MarkerType>(event.type),
                     .time = UnitsOf(event.time_ns),
                     .text = TextOf(event)};
    if (marker.type != MarkerType::kLoss) {
      const std::uint32_t lane = LaneOf({event.pid, event.tid});
      if (lane == kNoLane) continue;
      marker.lane = lane;
    }
    made_.markers.push_back(marker);
  }
  if (!events.trigger.empty()) {
    made_.markers.push_back(
        {.type = MarkerType::kTrigger, .time = made_.length, .text = std::string(events.trigger)});
  }
  std::ranges::stable_sort(made_.markers, {}, &Marker::time);
  for (const MarkerType type :
       {MarkerType::kFork, MarkerType::kExit, MarkerType::kComm, MarkerType::kExec}) {
    if (made_.markers.size() <= limit) return;
    std::erase_if(made_.markers, [type](const Marker& marker) { return marker.type == type; });
  }
}

void LaneMaker::AddWindows(const LaneEvents& events, std::size_t limit) {
  const timeline::Span whole = {.start = made_.start_ns,
                                .end = made_.start_ns + made_.length * made_.unit_ns};
  std::vector<LaneWindow>& shown = made_.windows.shown;
  for (const timeline::ThreadWindow& window : events.windows) {
    const std::uint32_t lane = LaneOf({window.pid, window.tid});
    const timeline::Span time = Common(window.time, whole);
    if (lane == kNoLane || time.is_empty()) continue;
    const std::uint32_t start = UnitsOf(time.start);
    shown.push_back({.lane = lane, .start = start, .length = UnitsOf(time.end) - start});
  }
  made_.windows.name = events.window_name;
  made_.windows.count = shown.size();
  std::ranges::stable_sort(shown, std::greater(), &LaneWindow::length);
  shown.resize(std::min(shown.size(), limit));
  std::ranges::stable_sort(shown, {}, &LaneWindow::start);
}

void LaneMaker::AddCpuWaits() {
  const timeline::CpuUse use = UseOfCpus(timeline_, CpuWaitsOf(timeline_));
  const auto unit = made_.unit_ns;
  made_.cpu_waits = {.waited = static_cast<std::uint64_t>(use.waited_ns / unit),
                     .not_recorded = static_cast<std::uint64_t>(use.not_recorded_ns / unit)};
}

}  // namespace

EventKind KindOf(std::string_view event) {
  if (event == timeline::kWallClockEvent) return EventKind::kWhole;
  if (event == timeline::kCriticalPathEvent) return EventKind::kPath;
  if (event == timeline::kSwitchEvent || event == timeline::kWakingEvent) return EventKind::kSwitch;
  if (perfdata::IsWakeup(event)) return EventKind::kWakeup;
  if (perfdata::PeriodMeaningOf(event) == perfdata::PeriodMeaning::kWait) return EventKind::kWait;
  return IsTracepoint(event) ? EventKind::kHappened : EventKind::kOther;
}

std::optional<TimeLanes> MakeTimeLanes(const Timeline& timeline, const std::vector<LaneTab>& tabs,
                                       const LaneEvents& events, const LaneLimits& limits) {
  return LaneMaker(timeline, tabs).Make(events, limits);
}

}  // namespace perftape::flame_graph
