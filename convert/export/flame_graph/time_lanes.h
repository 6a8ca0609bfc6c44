// SPDX-License-Identifier: Apache-2.0
// What a page shows over time: a lane for each thread, with its states and its samples. Times are
// whole numbers of a unit, since the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/export/flame_graph/stack_tree.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"
#include "convert/timeline/timeline.h"
#include "convert/timeline/windows.h"

namespace perftape::flame_graph {

// What the samples of an event mean over time. The numbers are part of the format.
enum class EventKind : std::uint8_t {
  kOther = 0,     // what is counted, as cache-misses
  kOnCpu = 1,     // say what ran
  kWait = 2,      // stand for the time before them
  kWakeup = 3,    // of the thread that woke another one
  kHappened = 4,  // a tracepoint or a probe: the time itself matters
  kSwitch = 5,    // the scheduler's tracepoints
  kWhole = 6,     // the wall clock: stand for the time before them, whatever the thread did
  kPath = 7,      // the critical path: the same, in the lanes of the windows' threads
};

// Returns what the samples of an event with this name are, if it is not the one that says what ran.
EventKind KindOf(std::string_view event);

// Who ended a wait. The numbers are part of the format.
enum class WakerCode : std::uint32_t {
  kNone = 0,     // not recorded
  kUnknown = 1,  // a thread without a lane
  kTimer = 2,    // an interrupt; so the next three
  kNetwork = 3,
  kDisk = 4,
  kInterrupt = 5,
  kFirstLane = 6,  // the first lane, and so on
};

inline constexpr std::uint32_t kNoNode = 0xffffffff;

struct LaneInterval {
  std::uint32_t length = 0;
  timeline::State state = timeline::State::kNotRecorded;
  // Its sample is in no LaneSample: it ends with the interval, and stands for its length.
  bool is_sample = false;
  std::uint32_t tab = 0, node = kNoNode;  // of its stack, if it has one
  WakerCode waker = WakerCode::kNone;
  std::uint32_t woken_before_end = 0;  // the time from the wakeup to the end
  // The time from the first of the waits with timeouts that are one with it (timeline/timeouts.h).
  std::uint32_t timeouts = 0;
  std::uint32_t short_waits = 0;  // the part of kRunning that was short waits
};

// Samples of one stack at one time.
struct LaneSample {
  std::uint32_t time = 0, node = 0;
  std::int64_t count = 0, period = 0;
};

struct Lane {
  std::uint32_t pid = 0, tid = 0;  // convert::kUnknownId if unknown
  std::string_view comm = {};
  std::uint32_t start = 0;                   // of the first interval
  std::optional<std::size_t> parent = {};    // the lane of the thread that started it
  std::vector<LaneInterval> intervals = {};  // without gaps; empty if no waits were recorded
  std::vector<std::vector<LaneSample>> samples = {};  // by tab, each by time
};

// The numbers are part of the format. The first ones are those of TaskEvent::Type.
enum class MarkerType : std::uint8_t {
  kFork = 0,
  kExec = 1,
  kComm = 2,
  kExit = 3,
  kLoss = 4,
  kTrigger = 5,  // why the recording ended
};

// Something that happened at one time.
struct Marker {
  MarkerType type = {};
  std::uint32_t time = 0;
  std::optional<std::size_t> lane = {};
  std::string text = {};  // the comm, the number of losses, or the reason
};

// A window of a critical path.
struct LaneWindow {
  std::size_t lane = 0;
  std::uint32_t start = 0, length = 0;
};

struct LaneWindows {
  std::string_view name = {};          // empty: the whole lives of threads
  std::size_t count = 0;               // also of those that are left out
  std::vector<LaneWindow> shown = {};  // by start; the longest
};

// How long threads waited for CPUs, and how long programs that were not recorded used these.
struct LaneCpuWaits {
  std::uint64_t waited = 0, not_recorded = 0;
};

struct TimeLanes {
  std::int64_t start_ns = 0;  // on the clock of the recording
  std::int64_t unit_ns = 1;
  std::uint32_t length = 0;
  // Intervals that are shorter were joined, because the page would be too large; 0: none.
  std::uint32_t shortest = 0;
  // Samples of one stack within such a time were added up, at most; 0: none.
  std::uint32_t sample_time = 0;
  bool has_all_waits = false, has_wakeups = false;
  std::vector<EventKind> kinds = {};          // by tab
  std::vector<Lane> lanes = {};               // by process, the busiest first
  std::optional<std::size_t> main_lane = {};  // the thread of the command that was recorded
  std::vector<Marker> markers = {};           // by time
  LaneWindows windows = {};
  LaneCpuWaits cpu_waits = {};
};

// One event of a page whose samples the lanes show.
struct LaneTab {
  convert::EventId event = {};
  const StackTree* tree = nullptr;  // with `samples`
};

struct LaneLimits {
  // With more intervals, those shorter than 1/4,000 of the time are joined, which is less than a
  // screen can show. The limit is lower if there is room for more intervals.
  std::size_t intervals = 500'000;
  // With more samples, those of one stack are added up in parts of the time. A part is 1/4,000 of
  // the time, or smaller or larger, depending on the room.
  std::size_t samples = 500'000;
  std::size_t markers = 50'000;
  std::size_t windows = 10'000;
};

// What happened besides the samples.
struct LaneEvents {
  const convert::TaskEvents& tasks;
  std::string_view trigger = {};  // why the recording ended; empty: no reason
  // Those of the critical path, and what they are called.
  std::span<const timeline::ThreadWindow> windows = {};
  std::string_view window_name = {};
  std::int64_t sample_step_ns = 0;  // PageTimes::sample_step_ns
};

// Returns nothing if the samples have no times. Views are of the timeline's profile.
std::optional<TimeLanes> MakeTimeLanes(const timeline::Timeline& timeline,
                                       const std::vector<LaneTab>& tabs, const LaneEvents& events,
                                       const LaneLimits& limits = {});

}  // namespace perftape::flame_graph
