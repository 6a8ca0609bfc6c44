// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/switches.h"

#include <algorithm>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"

namespace perftape::timeline {

using convert::Label;
using convert::Sample;

namespace {

// include/linux/sched.h. A thread that was preempted has none of the states of a sleep.
constexpr std::int64_t kSleeping = 0xff;
constexpr std::int64_t kUninterruptible = 0x2;

State StateOf(std::int64_t prev_state) {
  if ((prev_state & kSleeping) == 0) return State::kRunnable;
  return (prev_state & kUninterruptible) != 0 ? State::kDisk : State::kSleep;
}

}  // namespace

Switches::Switches(const convert::Profile& profile) : profile_(profile) {}

void Switches::AddSwitch(std::uint32_t sample, std::int64_t time_ns) {
  events_.push_back({.time_ns = time_ns, .sample = sample});
}

void Switches::AddWaking(std::uint32_t sample, std::int64_t time_ns) {
  events_.push_back({.time_ns = time_ns, .sample = sample, .is_waking = true});
}

std::optional<std::int64_t> Switches::Field(const Sample& sample, std::string_view key) const {
  const Label* const label = FindLabel(profile_, sample.labels, convert::FieldLabelKey(key));
  return label == nullptr ? std::nullopt : std::optional(label->number);
}

void Switches::Return(std::uint32_t tid, const Away& away, std::int64_t time_ns, Found& found) {
  const auto add = [&](Interval interval, std::int64_t start, std::int64_t end, State state) {
    interval.time = {.start = start, .end = end};
    interval.state = state;
    if (!interval.time.is_empty()) {
      found.waits.push_back({.pid = away.pid, .tid = tid, .interval = interval});
    }
  };
  const std::int64_t start = away.interval.time.start;
  const std::int64_t woken = std::min(away.woken_ns.value_or(time_ns), time_ns);
  add(away.interval, start, woken, away.interval.state);
  add(away.interval, woken, time_ns, State::kRunnable);
}

void Switches::Arrive(std::uint32_t tid, std::int64_t time_ns, Found& found) {
  if (const auto away = away_.find(tid); away != away_.end()) {
    Return(tid, away->second, time_ns, found);
    away_.erase(away);
  } else if (known_.insert(tid).second) {
    first_arrivals_.emplace(tid, time_ns);
  }
}

void Switches::Switch(const Event& event, std::int64_t start_ns, Found& found) {
  const Sample& sample = profile_.samples()[event.sample];
  if (const auto next = Field(sample, "next_pid"); next && *next > 0) {
    Arrive(static_cast<std::uint32_t>(*next), event.time_ns, found);
  }
  const convert::SampleThread thread = ThreadOf(profile_, sample);
  const auto state = Field(sample, "prev_state");
  if (!thread.pid || !thread.tid || *thread.tid == 0 || !state) return;
  const std::uint32_t tid = *thread.tid;
  known_.insert(tid);
  if (const auto first = first_arrivals_.find(tid); first != first_arrivals_.end()) {
    const Interval before = {.time = {.start = start_ns, .end = first->second}};
    found.waits.push_back({.pid = *thread.pid, .tid = tid, .interval = before});
    first_arrivals_.erase(first);
  }
  Away& away = away_[tid];
  if (away.pid != 0) {  // the switch to it was not recorded
    away.interval.state = State::kNotRecorded;
    away.interval.sample = kNone;
    away.woken_ns.reset();
    Return(tid, away, event.time_ns, found);
  }
  away = {.pid = *thread.pid,
          .interval = {.time = {.start = event.time_ns, .end = event.time_ns},
                       .state = StateOf(*state),
                       .sample = event.sample}};
}

void Switches::Wake(const Event& event, Found& found) {
  const auto woken = Field(profile_.samples()[event.sample], "pid");
  if (!woken || *woken <= 0) return;
  const auto away = away_.find(static_cast<std::uint32_t>(*woken));
  if (away == away_.end() || away->second.woken_ns ||
      away->second.interval.state == State::kRunnable) {
    return;
  }
  away->second.woken_ns = event.time_ns;
  found.wakeups.push_back({.tid = away->first,
                           .wakeup = {.time_ns = event.time_ns,
                                      .start_ns = away->second.interval.time.start,
                                      .sample = event.sample}});
}

Switches::Found Switches::Find(const Span& time) {
  Found found;
  std::ranges::stable_sort(events_, {}, &Event::time_ns);
  for (const Event& event : events_) {
    if (event.is_waking) {
      Wake(event, found);
    } else {
      Switch(event, time.start, found);
    }
  }
  for (const auto& [tid, away] : away_) Return(tid, away, time.end, found);
  return found;
}

}  // namespace perftape::timeline
