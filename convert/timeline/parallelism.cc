// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/parallelism.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_copier.h"
#include "convert/model/sample_thread.h"

namespace perftape::timeline {

using convert::Label;
using convert::Profile;
using convert::Sample;
using convert::TaskEvent;
using convert::ThreadSwitch;

namespace {

constexpr std::int64_t kBegin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// What is known of a thread from a time on.
struct Change {
  std::int64_t time_ns = 0;
  enum class Kind : std::uint8_t { kBorn, kOnCpu, kOffCpu } kind = {};
};

// What context switches and events tell of one thread.
struct Changes {
  std::uint32_t pid = 0;
  std::vector<Change> all;
  bool has_switches = false;
};

// Returns the ranges in which a thread ran. A thread that is switched out first ran before.
std::vector<Span> SpansOf(std::vector<Change>& changes) {
  if (changes.empty()) return {};
  std::ranges::stable_sort(changes, {}, &Change::time_ns);
  std::vector<Span> spans;
  std::optional<std::int64_t> since = kBegin;
  for (const Change& change : changes) {
    switch (change.kind) {
      case Change::Kind::kBorn:
        since.reset();
        break;
      case Change::Kind::kOnCpu:
        if (!since || *since == kBegin) since = change.time_ns;
        break;
      case Change::Kind::kOffCpu:
        if (since) spans.push_back({.start = *since, .end = change.time_ns});
        since.reset();
        break;
    }
  }
  if (since) spans.push_back({.start = *since, .end = kEnd});
  return spans;
}

std::map<std::uint32_t, Changes> ChangesOf(const Timeline& timeline,
                                           std::span<const ThreadSwitch> switches,
                                           std::span<const TaskEvent> events) {
  std::map<std::uint32_t, Changes> by_tid;
  for (const ThreadSwitch& one : switches) {
    // The idle task, and a thread that has exited: an event of a CPU records its last switch.
    if (one.tid == 0 || one.tid == convert::kUnknownId) continue;
    Changes& changes = by_tid[one.tid];
    changes.pid = one.pid;
    changes.has_switches = true;
    changes.all.push_back(
        {.time_ns = one.time_ns, .kind = one.is_in ? Change::Kind::kOnCpu : Change::Kind::kOffCpu});
  }
  for (const ThreadLine& line : timeline.threads()) {
    Changes& changes = by_tid[line.tid];
    changes.pid = line.pid;
    if (changes.has_switches || line.on_cpu.empty()) continue;
    changes.all = {{.time_ns = line.on_cpu.front().time_ns, .kind = Change::Kind::kOnCpu},
                   {.time_ns = line.on_cpu.back().time_ns, .kind = Change::Kind::kOffCpu}};
  }
  for (const TaskEvent& event : events) {
    const auto found = by_tid.find(event.tid);
    if (found == by_tid.end() || !found->second.has_switches) continue;
    std::vector<Change>& changes = found->second.all;
    if (event.type == TaskEvent::Type::kFork) {
      changes.push_back({.time_ns = event.time_ns, .kind = Change::Kind::kBorn});
    } else if (event.type == TaskEvent::Type::kExec) {
      // perf record starts to record a command in its exec, without a context switch.
      changes.push_back({.time_ns = event.time_ns, .kind = Change::Kind::kOnCpu});
    } else if (event.type == TaskEvent::Type::kExit) {
      // A thread exits without a context switch that would be recorded.
      changes.push_back({.time_ns = event.time_ns, .kind = Change::Kind::kOffCpu});
    }
  }
  return by_tid;
}

}  // namespace

// Adds up ranges in which threads ran.
class RunningCounter {
 public:
  explicit RunningCounter(bool is_by_process) { running_.is_by_process_ = is_by_process; }

  void Add(std::uint32_t pid, const Span& span) {
    if (span.is_empty()) return;
    std::vector<RunningThreads::Step>& steps = running_.steps_[running_.is_by_process_ ? pid : 0];
    steps.push_back({.time_ns = span.start, .running = 1});
    steps.push_back({.time_ns = span.end, .running = -1});
  }

  RunningThreads Finish() && {
    for (auto& [pid, steps] : running_.steps_) {
      std::ranges::sort(steps, {}, &RunningThreads::Step::time_ns);
      std::int64_t running = 0;
      for (RunningThreads::Step& step : steps) step.running = running += step.running;
    }
    return std::move(running_);
  }

 private:
  RunningThreads running_;
};

RunningThreads RunningThreads::From(const Timeline& timeline) {
  RunningCounter counter(true);
  for (const ThreadLine& line : timeline.threads()) {
    for (const Interval& interval : line.intervals) {
      if (interval.state == State::kRunning) counter.Add(line.pid, interval.time);
    }
  }
  return std::move(counter).Finish();
}

RunningThreads RunningThreads::From(const Timeline& timeline,
                                    std::span<const ThreadSwitch> switches,
                                    std::span<const TaskEvent> events) {
  RunningCounter counter(std::ranges::any_of(switches, &ThreadSwitch::is_cpu_wide));
  for (auto& [tid, changes] : ChangesOf(timeline, switches, events)) {
    for (const Span& span : SpansOf(changes.all)) counter.Add(changes.pid, span);
  }
  return std::move(counter).Finish();
}

std::int64_t RunningThreads::At(std::uint32_t pid, std::int64_t time_ns) const {
  const auto found = steps_.find(is_by_process_ ? pid : 0);
  if (found == steps_.end()) return 1;
  const auto after = std::ranges::upper_bound(found->second, time_ns, {}, &Step::time_ns);
  if (after == found->second.begin()) return 1;
  return std::max<std::int64_t>(std::prev(after)->running, 1);
}

Profile LabelParallelism(const Timeline& timeline, const RunningThreads& running,
                         std::span<const ThreadNumbers> kept) {
  const Profile& from = timeline.profile();
  convert::ProfileBuilder builder;
  convert::ProfileCopier copier(from, builder);
  if (timeline.on_cpu_event()) copier.Copy(*timeline.on_cpu_event());
  const convert::StringId key = builder.Add(convert::kParallelismLabel);
  std::vector<Label> labels;
  for (const ThreadLine& line : timeline.threads()) {
    for (const SampleAt& at : line.on_cpu) {
      const std::int64_t number = running.At(line.pid, at.time_ns);
      const bool is_kept =
          kept.empty() || std::ranges::any_of(kept, [&](const ThreadNumbers& range) {
            return range.first <= number && number <= range.last;
          });
      if (!is_kept) continue;
      const Sample& sample = from.samples()[at.sample];
      labels.clear();
      for (const Label& label : from[sample.labels]) {
        const std::string_view text = from.text(label.key);
        if (text == convert::kTimestampLabel || text == convert::kParallelismLabel) continue;
        labels.push_back({.key = copier.Copy(label.key),
                          .text = copier.Copy(label.text),
                          .number = label.number,
                          .unit = copier.Copy(label.unit)});
      }
      labels.push_back({.key = key, .number = number});
      Sample copy = copier.Copy(Sample{.stack = sample.stack,
                                       .thread = sample.thread,
                                       .event = sample.event,
                                       .count = sample.count,
                                       .period = sample.period});
      copy.labels = builder.Add(labels);
      builder.Add(copy);
    }
  }
  builder.SetMetadata(from.metadata());
  return std::move(builder).Finish();
}

Profile ToLatency(const Profile& labelled) {
  convert::ProfileBuilder builder;
  convert::ProfileCopier copier(labelled, builder);
  for (std::uint32_t i = 0; i < labelled.events().size(); ++i) {
    const convert::Event& event = labelled.events()[i];
    copier.Set(convert::EventId{i}, builder.Add(convert::Event{.name = builder.Add(kLatencyEvent),
                                                               .unit = copier.Copy(event.unit),
                                                               .values = event.values,
                                                               .decimals = event.decimals}));
  }
  for (const Sample& sample : labelled.samples()) {
    Sample copy = copier.Copy(sample);
    copy.period /= convert::ParallelismOf(labelled, sample);
    builder.Add(copy);
  }
  builder.SetMetadata(labelled.metadata());
  return std::move(builder).Finish();
}

}  // namespace perftape::timeline
