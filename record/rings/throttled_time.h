// SPDX-License-Identifier: Apache-2.0
// How long the kernel throttled an event on a CPU. If an event has more overflows in a tick than
// kernel.perf_event_max_sample_rate allows, the kernel stops it and writes a THROTTLE. At the next
// tick, or when the event is scheduled in again, the kernel starts it and writes an UNTHROTTLE
// (kernel/events/core.c, perf_log_throttle). It throttles clocks and hardware counters, but no
// software counter such as page-faults (perf_swevent_overflow; tried on Linux 6.18).
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "formats/perfdata/record.h"

namespace perftape::record {

// A CPU on which an event was throttled.
struct ThrottledCpu {
  int cpu = 0;
  std::uint64_t times = 0;
  std::uint64_t throttled_ns = 0;  // without samples

  bool operator==(const ThrottledCpu&) const = default;
};

// Sums the time from each THROTTLE to the next UNTHROTTLE, by the id of an event on a CPU. If one
// of the two was lost, the sum does not contain that time. Not thread-safe.
class ThrottledTime {
 public:
  // Adds a record of the kernel; the records of one id in the order of their time. Ignores all
  // other types and records that are too short.
  void Add(const perfdata::RecordView& record, const perfdata::SampleFormat& format);

  // The event was closed without an UNTHROTTLE, at an unknown time.
  void Abandon(std::uint64_t id);

  struct Sum {
    std::uint64_t times = 0, throttled_ns = 0;

    bool operator==(const Sum&) const = default;
  };
  // The sum until now. If the event is still throttled, its time ends at `end_ns`; nothing: the end
  // is unknown.
  Sum Of(std::uint64_t id, std::optional<std::uint64_t> end_ns) const;

 private:
  struct Event {
    Sum ended;
    std::optional<std::uint64_t> since_ns;  // throttled now
  };

  std::map<std::uint64_t, Event> events_;  // by id
};

}  // namespace perftape::record
