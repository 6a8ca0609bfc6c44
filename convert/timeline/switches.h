// SPDX-License-Identifier: Apache-2.0
// Waits and wakeups from the tracepoints of the kernel's scheduler: perf record -a -g
// -e sched:sched_switch,sched:sched_waking,cpu-clock. The fields are those of
// include/trace/events/sched.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

inline constexpr std::string_view kSwitchEvent = "sched:sched_switch";
inline constexpr std::string_view kWakingEvent = "sched:sched_waking";
// The fields that samples of them need as labels (ImportOptions::field_labels).
inline constexpr std::array<std::string_view, 3> kSwitchFields = {"prev_state", "next_pid", "pid"};

// The waits of threads, from samples in any order.
class Switches {
 public:
  explicit Switches(const convert::Profile& profile);

  // Notes a sample of one of the two events.
  void AddSwitch(std::uint32_t sample, std::int64_t time_ns);
  void AddWaking(std::uint32_t sample, std::int64_t time_ns);
  bool is_empty() const { return events_.empty(); }

  struct Wait {
    std::uint32_t pid = 0, tid = 0;
    Interval interval;
  };
  struct WokenThread {
    std::uint32_t tid = kNone;
    Wakeup wakeup;
  };
  struct Found {
    std::vector<Wait> waits;
    std::vector<WokenThread> wakeups;
  };
  // Returns what the samples show for the time from `time.start` to `time.end`. A sleep is kSleep;
  // from its wakeup on, a thread is kRunnable. The time before the first switch to a thread, and
  // the time after a switch away without a known end, is kNotRecorded.
  Found Find(const Span& time);

 private:
  struct Event {
    std::int64_t time_ns = 0;
    std::uint32_t sample = kNone;
    bool is_waking = false;
  };
  // A thread that is not on a CPU.
  struct Away {
    std::uint32_t pid = 0;
    Interval interval;  // its end is not known yet
    std::optional<std::int64_t> woken_ns = {};
  };

  std::optional<std::int64_t> Field(const convert::Sample& sample, std::string_view key) const;
  void Switch(const Event& event, std::int64_t start_ns, Found& found);
  void Arrive(std::uint32_t tid, std::int64_t time_ns, Found& found);
  void Wake(const Event& event, Found& found);
  static void Return(std::uint32_t tid, const Away& away, std::int64_t time_ns, Found& found);

  const convert::Profile& profile_;
  std::vector<Event> events_;
  std::map<std::uint32_t, Away> away_;  // by tid
  std::set<std::uint32_t> known_;       // tids that were met
  // By tid: the first switch to a thread about which nothing else is known yet.
  std::map<std::uint32_t, std::int64_t> first_arrivals_;
};

}  // namespace perftape::timeline
