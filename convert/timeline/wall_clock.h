// SPDX-License-Identifier: Apache-2.0
// Shows where the time of threads went, on and off the CPU: a profile that contains the whole life
// of each thread, divided by state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "convert/model/profile.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

inline constexpr std::string_view kWallClockEvent = "wall-clock";

struct WallClockOptions {
  // Also threads that waited in the same place all the time, such as idle threads of a pool.
  bool with_idle_threads = false;
  // Each sample gets a label with the time at which its interval ended.
  bool with_times = false;
};

struct WallClock {
  convert::Profile profile;      // its event is kWallClockEvent
  std::size_t threads = 0;       // in the profile
  std::size_t idle_threads = 0;  // left out
};

// Returns the profile of all threads. The first frame of each stack is the state, "[sleep]"; the
// sum of a thread is the length of its life within the timeline. The time on a CPU is divided among
// the samples of its clock.
WallClock MakeWallClock(const Timeline& timeline, const WallClockOptions& options);

// Returns the frame of a state: "[not recorded]".
std::string FrameOf(State state);

// The frame below "[running]" for time on a CPU without any sample.
inline constexpr std::string_view kNotSampled = "[not sampled]";

}  // namespace perftape::timeline
