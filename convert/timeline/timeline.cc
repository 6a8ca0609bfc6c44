// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"
#include "convert/timeline/pauses.h"
#include "convert/timeline/share.h"
#include "convert/timeline/stack_facts.h"
#include "convert/timeline/switch_records.h"
#include "convert/timeline/switches.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::timeline {
namespace {

using convert::Event;
using convert::EventId;
using convert::Label;
using convert::LabelsId;
using convert::Profile;
using convert::Sample;
using convert::StackId;
using convert::TaskEvent;

constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// The difference of two times within these limits is a number. Others are damaged.
constexpr std::int64_t kLatest = (std::int64_t{1} << 62) - 1, kEarliest = -kLatest;

// A clock that should have sampled a thread so often, and did not, tells that it did not run.
constexpr std::int64_t kExpectedSamples = 4;

// Returns the start of what took `length` and ended at `end`.
std::int64_t StartOf(std::int64_t end, std::int64_t length) {
  return std::max(convert::SubtractUpToLimit(end, length), kEarliest);
}

// Clocks of the CPU in hardware, for recordings without one of time.
bool IsCycles(std::string_view name) {
  return name.starts_with("cycles") || name.starts_with("cpu-cycles") ||
         name.starts_with("cpu_core/cycles/") || name.starts_with("cpu_atom/cycles/");
}

// What a sample of an event is for a timeline.
enum class Kind : std::uint8_t {
  kOther,
  kOnCpu,
  kSleep,
  kDisk,
  kRunnable,
  kWakeup,
  kSwitch,
  kWaking,
};

Kind KindOf(std::string_view name) {
  const perfdata::EventMeaning* const meaning = perfdata::FindEventMeaning(name);
  if (meaning == &perfdata::kOffCpuTime) return Kind::kSleep;
  if (meaning == &perfdata::kOffCpuDiskTime) return Kind::kDisk;
  if (meaning == &perfdata::kOffCpuRunnableTime) return Kind::kRunnable;
  if (meaning == &perfdata::kWakeup) return Kind::kWakeup;
  if (name == kSwitchEvent) return Kind::kSwitch;
  if (name == kWakingEvent) return Kind::kWaking;
  return Kind::kOther;
}

// Returns the event whose samples say what ran: that of time with the most samples, else cycles.
std::optional<EventId> ChooseOnCpuEvent(const Profile& profile) {
  std::vector<std::uint64_t> samples(profile.events().size());
  for (const Sample& sample : profile.samples()) ++samples[sample.event.index];
  std::optional<EventId> chosen;
  std::pair<bool, std::uint64_t> best;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    const std::string_view name = profile.text(profile.events()[i].name);
    const bool is_time = perfdata::PeriodMeaningOf(name) == perfdata::PeriodMeaning::kCpuTime;
    if (samples[i] == 0 || (!is_time && !IsCycles(name))) continue;
    const std::pair<bool, std::uint64_t> value = {is_time, samples[i]};
    if (!chosen || value > best) {
      chosen = EventId{i};
      best = value;
    }
  }
  return chosen;
}

// A sum of short waits covers the time since the one before.
struct ShortSum {
  std::int64_t time_ns = 0, sum_ns = 0;
};

}  // namespace

class TimelineBuilder {
 public:
  TimelineBuilder(const Profile& profile, const TimelineOptions& options)
      : profile_(profile), options_(options), facts_(profile), switches_(profile) {
    timeline_.profile_ = &profile;
    draft_of_thread_.resize(profile.threads().size());
  }

  Timeline Build() && {
    ReadLabels();
    ReadEvents();
    for (std::uint32_t i = 0; i < profile_.samples().size(); ++i) Add(i);
    FindTime();
    AddSwitches();
    AddSwitchRecords();
    NoteLives();
    for (auto& [key, draft] : drafts_) Finish(draft);
    AddParents();
    AddWakeups();
    for (std::vector<SampleAt>& samples : timeline_.by_cpu_) {
      std::ranges::stable_sort(samples, {}, &SampleAt::time_ns);
    }
    return std::move(timeline_);
  }

 private:
  // A thread while it is built.
  struct Draft {
    ThreadLine line;
    std::vector<Interval> waits;
    std::vector<ShortSum> short_sums;
    NamedAt last;  // of its samples: the one that names it
    std::optional<std::int64_t> fork_ns, exit_ns;
  };

  void ReadLabels();
  void ReadEvents();
  void Add(std::uint32_t index);
  Draft& DraftOf(const Sample& sample, const convert::SampleThread& thread);
  void AddWait(Draft& draft, std::uint32_t index, std::int64_t time_ns, Kind kind);
  bool IsShortSum(StackId stack) const;
  void FindTime();
  void AddSwitches();
  void AddSwitchRecords();
  void NoteLives();
  void Finish(Draft& draft);
  void AddParents();
  void AddWakeups();
  void NoteWaker(const Wakeup& wakeup);
  bool IsOfItsWait(const ThreadLine& line, const Wakeup& wakeup) const;
  static void SortWaits(std::vector<Interval>& waits);
  Span LifeOf(const Draft& draft) const;
  void FillGap(const Span& gap, ThreadLine& line) const;
  static void PlaceShortWaits(const std::vector<ShortSum>& sums, ThreadLine& line);
  static void Clip(const Span& range, ThreadLine& line);

  const Profile& profile_;
  const TimelineOptions& options_;
  StackFacts facts_;
  Switches switches_;
  Timeline timeline_;
  std::vector<std::uint32_t> woken_tids_;  // by LabelsId
  std::vector<Kind> kinds_;                // by EventId
  std::int64_t on_cpu_period_ = 0;         // usual, in nanoseconds; 0 if unknown
  std::map<std::pair<std::uint32_t, std::uint32_t>, Draft> drafts_;  // by pid and tid
  std::vector<Draft*> draft_of_thread_;                              // by ThreadId
  struct LooseWakeup {
    Wakeup wakeup;
    std::uint32_t tid = kNone;  // of the woken thread
  };
  std::vector<LooseWakeup> wakeups_;
  Span data_ = {.start = std::numeric_limits<std::int64_t>::max(), .end = kNoTime};
};

void TimelineBuilder::ReadLabels() {
  const std::size_t count = profile_.labels().size();
  timeline_.times_.assign(count, kNoTime);
  woken_tids_.assign(count, kNone);
  timeline_.cpus_.assign(count, kNone);
  timeline_.cgroups_.assign(count, {});
  for (std::uint32_t i = 1; i < count; ++i) {
    for (const Label& label : profile_[LabelsId{i}]) {
      const std::string_view key = profile_.text(label.key);
      const bool is_time = label.number > 0 && label.number <= kLatest;
      if (key == convert::kTimestampLabel && is_time) timeline_.times_[i] = label.number;
      if (key == convert::kCpuLabel) timeline_.cpus_[i] = static_cast<std::uint32_t>(label.number);
      if (key == convert::kCgroupLabel) timeline_.cgroups_[i] = label.text;
      if (key == convert::kWokenTidLabel) woken_tids_[i] = static_cast<std::uint32_t>(label.number);
    }
  }
}

void TimelineBuilder::ReadEvents() {
  for (const Event& event : profile_.events()) kinds_.push_back(KindOf(profile_.text(event.name)));
  // A short program may have no sample of them.
  Recorded& recorded = timeline_.recorded_;
  for (const std::string& name : options_.event_names) {
    const Kind kind = KindOf(name);
    recorded.waits |= kind == Kind::kSleep || kind == Kind::kDisk;
    recorded.runnable |= kind == Kind::kRunnable;
    recorded.wakeups |= kind == Kind::kWakeup;
    recorded.on_cpu |= perfdata::PeriodMeaningOf(name) == perfdata::PeriodMeaning::kCpuTime;
  }
  timeline_.on_cpu_event_ = ChooseOnCpuEvent(profile_);
  if (const auto event = timeline_.on_cpu_event_) {
    kinds_[event->index] = Kind::kOnCpu;
    const Event& of_cpu = profile_[*event];
    const bool is_time =
        perfdata::PeriodMeaningOf(profile_.text(of_cpu.name)) == perfdata::PeriodMeaning::kCpuTime;
    on_cpu_period_ = is_time ? convert::ToSigned(of_cpu.period) : 0;
  }
}

// What waits below the threshold of the recording, as perftape-record writes it.
bool TimelineBuilder::IsShortSum(StackId stack) const {
  if (stack == StackId{} || profile_[stack].caller != StackId{}) return false;
  const std::span<const convert::Line> lines = profile_[profile_[stack].leaf].lines;
  return lines.size() == 1 &&
         profile_.text(profile_[lines.front().function].name) == perfdata::kShortWaits;
}

void TimelineBuilder::Add(std::uint32_t index) {
  const Sample& sample = profile_.samples()[index];
  const std::int64_t time_ns = timeline_.times_[sample.labels.index];
  const Kind kind = kinds_[sample.event.index];
  const convert::SampleThread thread = ThreadOf(profile_, sample);
  if (time_ns == kNoTime || !thread.pid || !thread.tid) return;
  data_.end = std::max(data_.end, time_ns);
  data_.start = std::min(data_.start, time_ns);
  if (kind == Kind::kWaking) return switches_.AddWaking(index, time_ns);
  if (kind == Kind::kWakeup) {
    timeline_.recorded_.wakeups = true;
    wakeups_.push_back({.wakeup = {.time_ns = time_ns,
                                   .start_ns = StartOf(time_ns, sample.period),
                                   .sample = index},
                        .tid = woken_tids_[sample.labels.index]});
    return;
  }
  if (kind == Kind::kOnCpu) {
    timeline_.recorded_.on_cpu = true;
    const std::uint32_t cpu = timeline_.CpuOf(index);
    if (cpu != kNone) {
      std::vector<std::vector<SampleAt>>& by_cpu = timeline_.by_cpu_;
      constexpr std::uint32_t kMostCpus = 1 << 16;
      if (cpu < kMostCpus && cpu >= by_cpu.size()) by_cpu.resize(cpu + 1);
      if (cpu < by_cpu.size()) by_cpu[cpu].push_back({.time_ns = time_ns, .sample = index});
    }
  }
  if (kind == Kind::kSwitch) switches_.AddSwitch(index, time_ns);
  if (*thread.tid == 0) return;  // the idle task
  Draft& draft = DraftOf(sample, thread);
  const NamedAt named = {time_ns, sample.first_ms, thread.comm};
  if (named >= draft.last) {
    draft.last = named;
    draft.line.thread = sample.thread;
    draft.line.cgroup = timeline_.CgroupOf(index);
  }
  if (kind == Kind::kOnCpu) {
    draft.line.on_cpu.push_back({.time_ns = time_ns, .sample = index});
  } else if (kind != Kind::kSwitch && kind != Kind::kOther) {
    AddWait(draft, index, time_ns, kind);
  }
}

TimelineBuilder::Draft& TimelineBuilder::DraftOf(const Sample& sample,
                                                 const convert::SampleThread& thread) {
  if (sample.thread == convert::ThreadId{}) return drafts_[{*thread.pid, *thread.tid}];
  Draft*& known = draft_of_thread_[sample.thread.index];
  if (known == nullptr) known = &drafts_[{*thread.pid, *thread.tid}];
  return *known;
}

void TimelineBuilder::AddWait(Draft& draft, std::uint32_t index, std::int64_t time_ns, Kind kind) {
  const Sample& sample = profile_.samples()[index];
  timeline_.recorded_.waits = true;
  if (kind == Kind::kRunnable) timeline_.recorded_.runnable = true;
  if (IsShortSum(sample.stack)) {
    draft.short_sums.push_back({.time_ns = time_ns, .sum_ns = sample.period});
    return;
  }
  State state = State::kRunnable;
  if (kind != Kind::kRunnable) {
    state = kind == Kind::kDisk ? State::kDisk : State::kSleep;
    if (facts_.WaitsForLock(sample.stack)) state = State::kLock;
  }
  const Span time = {.start = StartOf(time_ns, sample.period), .end = time_ns};
  if (time.is_empty()) return;
  data_.start = std::min(data_.start, std::max<std::int64_t>(time.start, 0));
  draft.waits.push_back({.time = time, .state = state, .sample = index});
}

// The parent of a thread ran before it, perhaps without a sample, but not for long. A recorder can
// note threads some time before it begins to sample.
void TimelineBuilder::FindTime() {
  const std::int64_t earliest =
      StartOf(data_.start, std::max(options_.least_silence_ns, kExpectedSamples * on_cpu_period_));
  for (const TaskEvent& event : options_.events) {
    const bool is_fork = event.type == TaskEvent::Type::kFork && event.time_ns > 0;
    if (is_fork && event.time_ns > earliest && drafts_.contains({event.pid, event.tid})) {
      data_.start = std::min(data_.start, event.time_ns - 1);
    }
  }
  timeline_.time_ = data_.is_empty() ? Span() : data_;
  if (!options_.window) return;
  timeline_.time_ = {.start = std::clamp(options_.window->first, kEarliest, kLatest),
                     .end = std::clamp(options_.window->last, kEarliest, kLatest)};
  // Before the first sample and behind the last one, a thread did what it did there.
  data_.start = std::min(data_.start, timeline_.time_.start);
  data_.end = std::max(data_.end, timeline_.time_.end);
}

// A recording of perf: its waits are those between switches of the scheduler.
void TimelineBuilder::AddSwitches() {
  if (switches_.is_empty()) return;
  Switches::Found found = switches_.Find(data_);
  timeline_.recorded_.waits = true;
  timeline_.recorded_.runnable = true;
  for (Switches::Wait& wait : found.waits) {
    Draft& draft = drafts_[{wait.pid, wait.tid}];
    Interval& interval = wait.interval;
    if (interval.sample != kNone) {
      const Sample& sample = profile_.samples()[interval.sample];
      const bool is_sleep = interval.state == State::kSleep || interval.state == State::kDisk;
      if (is_sleep && facts_.WaitsForLock(sample.stack)) interval.state = State::kLock;
    }
    draft.waits.push_back(interval);
  }
  for (const Switches::WokenThread& woken : found.wakeups) {
    timeline_.recorded_.wakeups = true;
    wakeups_.push_back({.wakeup = woken.wakeup, .tid = woken.tid});
  }
}

// Threads without samples have no names, and are left out.
void TimelineBuilder::AddSwitchRecords() {
  if (timeline_.recorded_.waits || options_.switches.empty()) return;
  timeline_.recorded_.waits = true;
  timeline_.recorded_.runnable = true;
  for (const Switches::Wait& wait : WaitsOf(options_.switches, data_)) {
    const auto found = drafts_.find({wait.pid, wait.tid});
    if (found != drafts_.end()) found->second.waits.push_back(wait.interval);
  }
}

void TimelineBuilder::NoteLives() {
  for (const TaskEvent& event : options_.events) {
    const auto found = drafts_.find({event.pid, event.tid});
    if (found == drafts_.end()) continue;
    const std::int64_t time_ns = std::clamp(event.time_ns, kEarliest, kLatest);
    // What ran before the recording has the time 0.
    if (event.type == TaskEvent::Type::kFork && time_ns > 0) {
      found->second.fork_ns = time_ns;
    } else if (event.type == TaskEvent::Type::kExit) {
      found->second.exit_ns = time_ns;
    }
  }
}

// Ranges that overlap can only come of a damaged or foreign recording.
void TimelineBuilder::SortWaits(std::vector<Interval>& waits) {
  std::ranges::stable_sort(waits, {}, [](const Interval& wait) { return wait.time.start; });
  std::int64_t end = kNoTime;
  for (Interval& wait : waits) {
    wait.time.start = std::max(wait.time.start, end);
    end = std::max(end, wait.time.end);
  }
  std::erase_if(waits, [](const Interval& wait) { return wait.time.is_empty(); });
}

// A new thread first waits for a CPU, but that may be a short wait. The EXIT of a thread may have
// the time of its last sample.
Span TimelineBuilder::LifeOf(const Draft& draft) const {
  constexpr std::int64_t kLongestStart = 1'000'000;  // from the fork to that wait
  Span life = data_;
  if (draft.fork_ns) {
    life.start = *draft.fork_ns;
    // The waits before the time that is looked at were not read.
    if (!draft.waits.empty() && life.start >= timeline_.time_.start) {
      const Interval& first = draft.waits.front();
      const bool is_start = first.state == State::kRunnable && first.time.start > life.start &&
                            first.time.start - life.start <= kLongestStart;
      if (is_start) life.start = first.time.start;
    }
    if (!draft.line.on_cpu.empty()) {
      life.start = std::min(life.start, draft.line.on_cpu.front().time_ns);
    }
  }
  if (draft.exit_ns && *draft.exit_ns >= draft.last.time_ns) life.end = *draft.exit_ns;
  return life;
}

// With all waits, a thread was on a CPU in a gap between them, unless its clock would have told:
// the kernel does not report each switch, and a hypervisor can stop a CPU.
void TimelineBuilder::FillGap(const Span& gap, ThreadLine& line) const {
  if (gap.is_empty()) return;
  std::int64_t at = gap.start;
  const auto append = [&](std::int64_t end, State state) {
    if (end <= at) return;
    const bool goes_on = at != gap.start && line.intervals.back().state == state;
    if (goes_on) {
      line.intervals.back().time.end = end;
    } else {
      line.intervals.push_back({.time = {.start = at, .end = end}, .state = state});
    }
    at = end;
  };
  const auto is_silent_to = [&](std::int64_t end) {
    const std::int64_t visible = Common({.start = at, .end = end}, timeline_.time_).length();
    return on_cpu_period_ != 0 && visible >= options_.least_silence_ns &&
           visible / on_cpu_period_ >= kExpectedSamples;
  };
  const bool has_all_waits = timeline_.recorded_.has_all_waits();
  for (const SampleAt& sample : line.OnCpuIn(gap)) {
    const std::int64_t period = on_cpu_period_ == 0 ? 1 : profile_.samples()[sample.sample].period;
    if (!has_all_waits || is_silent_to(sample.time_ns)) {
      append(StartOf(sample.time_ns, period), State::kNotRecorded);
    }
    append(sample.time_ns, State::kRunning);
  }
  append(gap.end, has_all_waits && !is_silent_to(gap.end) ? State::kRunning : State::kNotRecorded);
}

// Splits the intervals on a CPU at the times of sums, and gives each its share of the sum that
// covers it.
void TimelineBuilder::PlaceShortWaits(const std::vector<ShortSum>& sums, ThreadLine& line) {
  std::map<std::int64_t, std::int64_t> by_time;
  for (const ShortSum& sum : sums) {
    std::int64_t& all = by_time[sum.time_ns];
    all = convert::AddUpToLimit(all, sum.sum_ns);
  }
  std::vector<Interval> split;
  auto next = by_time.begin();
  std::size_t first = 0;  // the first interval that the next sum covers
  const auto place = [&] {
    std::int64_t running = 0;
    for (std::size_t i = first; i < split.size(); ++i) {
      if (split[i].state == State::kRunning) running += split[i].time.length();
    }
    const std::int64_t sum = std::min(next->second, running);
    std::int64_t before = 0, placed = 0;
    for (std::size_t i = first; i < split.size() && running != 0; ++i) {
      if (split[i].state != State::kRunning) continue;
      before += split[i].time.length();
      const std::int64_t share = ShareOf(sum, before, running);
      split[i].short_waits = share - placed;
      placed = share;
    }
    first = split.size();
    ++next;
  };
  for (Interval interval : line.intervals) {
    while (next != by_time.end() && next->first < interval.time.end) {
      if (interval.state == State::kRunning && next->first > interval.time.start) {
        Interval head = interval;
        head.time.end = interval.time.start = next->first;
        split.push_back(head);
      }
      place();
    }
    split.push_back(interval);
  }
  while (next != by_time.end()) place();
  line.intervals = std::move(split);
}

void TimelineBuilder::Clip(const Span& range, ThreadLine& line) {
  std::vector<Interval> clipped;
  for (Interval interval : line.intervals) {
    const Span common = Common(interval.time, range);
    if (common.is_empty()) continue;
    interval.short_waits = ShareOf(interval.short_waits, common.length(), interval.time.length());
    interval.time = common;
    clipped.push_back(interval);
  }
  line.intervals = std::move(clipped);
}

void TimelineBuilder::Finish(Draft& draft) {
  ThreadLine& line = draft.line;
  const convert::Thread& thread = profile_[line.thread];
  line.pid = thread.pid;
  line.tid = thread.tid;
  std::ranges::stable_sort(line.on_cpu, {}, &SampleAt::time_ns);
  SortWaits(draft.waits);
  const Span life = LifeOf(draft);
  std::int64_t at = life.start;
  for (Interval wait : draft.waits) {
    // What the switches do not tell of a new thread is its wait for its first CPU.
    const bool is_first = wait.time.start < life.start && wait.time.end > life.start;
    if (is_first && draft.fork_ns && wait.sample == kNone) wait.state = State::kRunnable;
    FillGap({.start = at, .end = wait.time.start}, line);
    line.intervals.push_back(wait);
    at = std::max(at, wait.time.end);
  }
  draft.waits = {};  // they are in the intervals now
  FillGap({.start = at, .end = life.end}, line);
  PlaceShortWaits(draft.short_sums, line);
  BlankPauses(options_.pauses, line.intervals);
  Clip(Common(life, timeline_.time_), line);
  if (!line.intervals.empty()) timeline_.threads_.push_back(std::move(line));
}

void TimelineBuilder::AddParents() {
  for (const TaskEvent& event : options_.events) {
    if (event.type != TaskEvent::Type::kFork || event.time_ns <= 0) continue;
    const std::uint32_t child = timeline_.Find(event.pid, event.tid);
    if (child == kNone) continue;
    timeline_.threads_[child].parent = timeline_.Find(event.parent_pid, event.parent_tid);
  }
}

void TimelineBuilder::NoteWaker(const Wakeup& wakeup) {
  const convert::SampleThread thread = ThreadOf(profile_, profile_.samples()[wakeup.sample]);
  const std::uint32_t waker = timeline_.Find(thread.pid.value_or(0), thread.tid.value_or(0));
  if (waker != kNone) timeline_.threads_[waker].woke.push_back(wakeup.time_ns);
}

// Whether a wakeup has the start of the wait that it is in. If the kernel did not report a switch,
// it can have that of an earlier wait.
bool TimelineBuilder::IsOfItsWait(const ThreadLine& line, const Wakeup& wakeup) const {
  const auto found = line.Overlapping({.start = wakeup.time_ns - 1, .end = wakeup.time_ns});
  if (found.empty() || found.front().sample == kNone) return true;
  const Sample& wait = profile_.samples()[found.front().sample];
  const Kind kind = kinds_[wait.event.index];
  // The sample of a switch does not say when the wait began.
  if (kind != Kind::kSleep && kind != Kind::kDisk) return true;
  return wakeup.start_ns == StartOf(timeline_.times_[wait.labels.index], wait.period);
}

// A wakeup names the woken thread. An older recording does not: there, the start of the wait tells.
void TimelineBuilder::AddWakeups() {
  std::multimap<std::uint32_t, ThreadLine*> by_tid;
  std::multimap<std::int64_t, ThreadLine*> by_start;
  const bool has_tids =
      std::ranges::all_of(wakeups_, [](const LooseWakeup& one) { return one.tid != kNone; });
  for (ThreadLine& line : timeline_.threads_) {
    by_tid.emplace(line.tid, &line);
    if (has_tids) continue;
    for (const Interval& interval : line.intervals) {
      if (interval.sample != kNone) by_start.emplace(interval.time.start, &line);
    }
  }
  const auto is_in = [](const ThreadLine& line, const Wakeup& wakeup) {
    return line.life().start <= wakeup.time_ns && wakeup.start_ns <= line.life().end;
  };
  for (const LooseWakeup& one : wakeups_) {
    NoteWaker(one.wakeup);
    if (one.tid == kNone) {
      if (by_start.count(one.wakeup.start_ns) != 1) continue;
      by_start.find(one.wakeup.start_ns)->second->wakeups.push_back(one.wakeup);
      continue;
    }
    const auto [begin, end] = by_tid.equal_range(one.tid);
    const auto found = std::find_if(
        begin, end, [&](const auto& entry) { return is_in(*entry.second, one.wakeup); });
    if (found == end || !IsOfItsWait(*found->second, one.wakeup)) continue;
    found->second->wakeups.push_back(one.wakeup);
  }
  for (ThreadLine& line : timeline_.threads_) {
    std::ranges::stable_sort(line.wakeups, {}, &Wakeup::time_ns);
    std::ranges::sort(line.woke);
  }
}

Timeline Timeline::Build(const Profile& profile, const TimelineOptions& options) {
  return TimelineBuilder(profile, options).Build();
}

std::uint32_t Timeline::Find(std::uint32_t pid, std::uint32_t tid) const {
  const auto key = [](const ThreadLine& line) { return std::pair(line.pid, line.tid); };
  const auto found = std::ranges::lower_bound(threads_, std::pair(pid, tid), {}, key);
  if (found == threads_.end() || key(*found) != std::pair(pid, tid)) return kNone;
  return static_cast<std::uint32_t>(found - threads_.begin());
}

std::optional<std::int64_t> Timeline::TimeOf(std::uint32_t sample) const {
  const std::int64_t time_ns = times_[profile_->samples()[sample].labels.index];
  return time_ns == kNoTime ? std::nullopt : std::optional(time_ns);
}

std::uint32_t Timeline::CpuOf(std::uint32_t sample) const {
  return cpus_[profile_->samples()[sample].labels.index];
}

convert::StringId Timeline::CgroupOf(std::uint32_t sample) const {
  return cgroups_[profile_->samples()[sample].labels.index];
}

std::span<const SampleAt> Timeline::RanOn(std::uint32_t cpu, const Span& range) const {
  if (cpu >= by_cpu_.size()) return {};
  return Within(by_cpu_[cpu], range);
}

}  // namespace perftape::timeline
