// SPDX-License-Identifier: Apache-2.0
#include "record/control/pause_log.h"

#include <algorithm>
#include <utility>

namespace perftape::record {
namespace {

// The notes of each round of a flight recorder have them all. Further ones are only counted.
constexpr std::size_t kMostPauses = 1000;

void Add(const bundle::NotedPause& pause, bundle::NotedPauses& to) {
  if (pause.until_ns <= pause.from_ns) return;
  ++to.times;
  to.off_ns += pause.until_ns - pause.from_ns;
  if (to.pauses.size() < kMostPauses) to.pauses.push_back(pause);
}

// Removes what is after `end_ns`.
void CutAt(std::uint64_t end_ns, bundle::NotedPauses& of) {
  while (!of.pauses.empty() && of.pauses.back().until_ns > end_ns) {
    bundle::NotedPause& last = of.pauses.back();
    of.off_ns -= last.until_ns - std::max(last.from_ns, end_ns);
    if (last.from_ns < end_ns) {
      last.until_ns = end_ns;
      return;
    }
    of.pauses.pop_back();
    --of.times;
  }
}

}  // namespace

PauseLog::PauseLog(std::vector<std::string> event_names) {
  for (std::string& name : event_names) events_.push_back({.ended = {.event = std::move(name)}});
}

void PauseLog::SwitchOff(std::size_t event, std::uint64_t time_ns) {
  std::optional<std::uint64_t>& since = events_[event].off_since_ns;
  if (!since) since = time_ns;
}

void PauseLog::SwitchOn(std::size_t event, std::uint64_t time_ns) {
  Event& of = events_[event];
  const std::optional<std::uint64_t> since = std::exchange(of.off_since_ns, std::nullopt);
  if (since) Add({.from_ns = *since, .until_ns = time_ns}, of.ended);
}

std::vector<bundle::NotedPauses> PauseLog::Noted(std::uint64_t end_ns) const {
  std::vector<bundle::NotedPauses> noted;
  for (const Event& event : events_) {
    bundle::NotedPauses& pauses = noted.emplace_back(event.ended);
    CutAt(end_ns, pauses);
    if (event.off_since_ns) Add({.from_ns = *event.off_since_ns, .until_ns = end_ns}, pauses);
  }
  const auto has_equal_times = [&](const bundle::NotedPauses& pauses) {
    const bundle::NotedPauses& first = noted.front();
    return pauses.times == first.times && pauses.off_ns == first.off_ns &&
           pauses.pauses == first.pauses;
  };
  if (std::ranges::all_of(noted, has_equal_times) && !noted.empty()) {
    noted.resize(1);
    noted.front().event.clear();
  }
  std::erase_if(noted, [](const bundle::NotedPauses& pauses) { return pauses.times == 0; });
  return noted;
}

}  // namespace perftape::record
