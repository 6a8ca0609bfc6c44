// SPDX-License-Identifier: Apache-2.0
// A thread over time: its states, one after the other, the samples of its time on a CPU, and who
// woke it. A timeline (timeline.h) has one for each thread.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::timeline {

enum class State : std::uint8_t {
  kRunning,      // on a CPU, except for short waits
  kRunnable,     // waits for a CPU
  kDisk,         // in state D
  kLock,         // for a lock: a function of a mutex or a read-write lock waits
  kSleep,        // for anything else
  kShortWaits,   // waits below the threshold of the recording; only their sums are known
  kNotRecorded,  // unknown
};
inline constexpr std::size_t kStates = static_cast<std::size_t>(State::kNotRecorded) + 1;

// Returns the name: "running", "not recorded".
std::string_view NameOf(State state);

inline constexpr std::uint32_t kNone = 0xffffffff;

// A range of time, in nanoseconds on the clock of the recording; `end` is exclusive.
struct Span {
  std::int64_t start = 0, end = 0;
  std::int64_t length() const { return end - start; }
  bool is_empty() const { return end <= start; }
};

// Returns what two ranges have in common; an empty one if nothing.
Span Common(const Span& a, const Span& b);

// A part of a thread's life in one state. In kRunning, `short_waits` nanoseconds were short waits,
// at unknown times. Neighbours with the same state are separate if their samples differ.
struct Interval {
  Span time;
  State state = State::kNotRecorded;
  std::uint32_t sample = kNone;  // of a wait: the index in Profile::samples()
  std::int64_t short_waits = 0;
};

// A sample at its time.
struct SampleAt {
  std::int64_t time_ns = 0;
  std::uint32_t sample = kNone;
};

// The end of a wait. Its sample is of the waker.
struct Wakeup {
  std::int64_t time_ns = 0;
  std::int64_t start_ns = 0;  // of the wait
  std::uint32_t sample = kNone;
};

// When a thread had a name. The largest one belongs to its last name. In a recording with many
// samples, times are rounded and can be equal before and after an exec; then the row that began
// later has the later name.
struct NamedAt {
  std::int64_t time_ns = std::numeric_limits<std::int64_t>::min();
  std::uint32_t first_ms = 0;  // Sample::first_ms
  std::string_view comm = {};  // so that the order of samples decides nothing
  auto operator<=>(const NamedAt&) const = default;
};

// Returns the samples within a range.
std::span<const SampleAt> Within(std::span<const SampleAt> samples, const Span& range);

struct ThreadLine {
  std::uint32_t pid = 0, tid = 0;
  convert::ThreadId thread = {};    // with the last of its names
  convert::StringId cgroup = {};    // its last one; empty if unknown
  std::vector<Interval> intervals;  // sorted, without gaps between birth and end of the thread
  std::vector<SampleAt> on_cpu;     // the samples of the CPU's clock, by time
  std::vector<Wakeup> wakeups;      // of this thread, by time
  std::vector<std::int64_t> woke;   // when it, or an interrupt of it, woke others
  std::uint32_t parent = kNone;     // the thread that started it: index in Timeline::threads()

  // The time of its life. `intervals` is never empty.
  Span life() const { return {intervals.front().time.start, intervals.back().time.end}; }
  // Returns the intervals that overlap a range.
  std::span<const Interval> Overlapping(const Span& range) const;
  // Returns the samples of the CPU's clock within a range.
  std::span<const SampleAt> OnCpuIn(const Span& range) const;
  // Returns the wakeup that ended a wait, or null.
  const Wakeup* WakeupOf(const Interval& wait) const;
  // Whether it woke a thread within a range.
  bool WokeIn(const Span& range) const;
};

}  // namespace perftape::timeline
