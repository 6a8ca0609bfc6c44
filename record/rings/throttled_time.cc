// SPDX-License-Identifier: Apache-2.0
#include "record/rings/throttled_time.h"

#include <algorithm>

namespace perftape::record {

using perfdata::RecordType;

void ThrottledTime::Add(const perfdata::RecordView& record, const perfdata::SampleFormat& format) {
  if (record.type == RecordType::kThrottle) {
    const Result<perfdata::Throttle> throttle =
        perfdata::Decode<perfdata::Throttle>(record, format);
    if (!throttle) return;
    Event& event = events_[throttle->id];
    ++event.ended.times;
    event.since_ns = throttle->time;
  } else if (record.type == RecordType::kUnthrottle) {
    const Result<perfdata::Unthrottle> unthrottle =
        perfdata::Decode<perfdata::Unthrottle>(record, format);
    if (!unthrottle) return;
    Event& event = events_[unthrottle->id];
    event.ended = Of(unthrottle->id, unthrottle->time);
    event.since_ns.reset();
  }
}

void ThrottledTime::Abandon(std::uint64_t id) {
  if (const auto found = events_.find(id); found != events_.end()) found->second.since_ns.reset();
}

ThrottledTime::Sum ThrottledTime::Of(std::uint64_t id, std::optional<std::uint64_t> end_ns) const {
  const auto found = events_.find(id);
  if (found == events_.end()) return {};
  const auto& [ended, since_ns] = found->second;
  Sum sum = ended;
  if (since_ns && end_ns) sum.throttled_ns += std::max(*end_ns, *since_ns) - *since_ns;
  return sum;
}

}  // namespace perftape::record
