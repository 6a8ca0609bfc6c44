// SPDX-License-Identifier: Apache-2.0
// Why a window of a thread took its time. The path goes backwards from the end of the window: while
// the thread ran or waited for a CPU, that is the reason; where it waited for another thread, the
// path goes on through the thread that woke it, up to the start of the wait. Before a thread began,
// the path is that of the thread that started it.
//
// A page has the same walk in JavaScript (export/flame_graph/page/time_path.js), because a person
// selects any range of time of any thread there: the paths cannot be computed when the page is
// written. Both walks must find the paths of tests/convert/timeline/path_vectors.json. To change
// one, change the other and add a vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "convert/timeline/stack_facts.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// What a thread on the path did.
enum class Reason : std::uint8_t {
  kRunning,
  kRunnable,  // from the wakeup on, if it was woken
  kShortWaits,
  kTimer,  // waited for a timer; so the next three
  kNetwork,
  kDisk,
  kInterrupt,
  // Waited for a lock, or for anything else, and no recorded thread or interrupt woke it.
  kLock,
  kSleep,
  kNotRecorded,
};
inline constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kNotRecorded) + 1;

// Returns the name: "running", "timer".
std::string_view NameOf(Reason reason);
// Whether the reason says what happened. The other ones need more events in the recording.
bool Explains(Reason reason);

// A range of time of one thread of a timeline.
struct Window {
  std::uint32_t thread = kNone;  // index in Timeline::threads()
  Span time;
};

// A wait that another thread ended, or the time before a thread began.
struct Handover {
  std::uint32_t outer = kNone;   // the handover within which this is; kNone: none
  std::uint32_t thread = kNone;  // that waited: index in Timeline::threads()
  std::uint32_t sample = kNone;  // of the wait: index in Profile::samples(); kNone if it has none
  std::uint32_t waker = kNone;   // the thread that the path goes on with: it woke or started it
  bool is_birth = false;         // it started it
};

// A part of the path.
struct Step {
  Span time;
  std::uint32_t window = 0;      // index in CriticalPath::windows
  std::uint32_t thread = kNone;  // index in Timeline::threads()
  Reason reason = Reason::kNotRecorded;
  std::uint32_t sample = kNone;    // of the wait, if it has one
  std::uint32_t handover = kNone;  // the innermost one that led here
  std::int64_t short_waits = 0;    // of kRunning: so much of it were short waits
};

struct CriticalPath {
  std::vector<Window> windows;
  std::vector<Handover> handovers;
  std::vector<Step> steps;  // of each window in order of time; they cover it without gaps

  std::int64_t window_ns() const;     // the sum of the windows
  std::int64_t explained_ns() const;  // the sum of the steps whose reason Explains
};

// Walks the windows. Linear in their steps.
CriticalPath WalkPath(const Timeline& timeline, std::vector<Window> windows);

// Steps of one thread and reason that follow each other.
struct Hop {
  std::int64_t start_ns = 0, ns = 0;  // since the start of its window
  convert::ThreadId thread = {};      // of the timeline's profile
  Reason reason = Reason::kNotRecorded;
};
// In the order of the windows and of time.
std::vector<Hop> HopsOf(const Timeline& timeline, const CriticalPath& path);

inline constexpr std::string_view kCriticalPathEvent = "critical-path";

// Handovers with the same stacks that lead to threads of the same name.
struct PathBranch {
  std::uint32_t outer = kNone;   // index in PathProfile::branches, smaller than this one's
  bool is_birth = false;         // the waker started the thread, instead of waking it
  convert::StackId wait = {};    // the stack that waited
  convert::ThreadId waker = {};  // one of the threads that the path goes on with
};

// A sum of steps with one thread, reason and stack.
struct PathPart {
  std::uint32_t branch = kNone;  // index in PathProfile::branches; kNone: of a window's thread
  convert::ThreadId thread = {};
  Reason reason = Reason::kNotRecorded;
  convert::StackId stack = {};  // of this thread alone; empty if not known
  std::int64_t ns = 0;
};

struct PathProfile {
  // Its event is kCriticalPathEvent, its threads those of the windows. A stack has the frames of
  // the thread that waited, then "waits for COMM" or "started by COMM", then those of that thread;
  // its last frame is the reason, unless it is kRunning. Time on a CPU is divided among the samples
  // of its clock. The sum is CriticalPath::window_ns, or that of a window on average.
  convert::Profile profile;
  // Threads and stacks are those of the timeline's profile. The largest part is first.
  std::vector<PathBranch> branches;
  std::vector<PathPart> parts;
};

enum class PathValues : std::uint8_t {
  kAllWindows,     // the sums of all windows
  kAverageWindow,  // of a window on average
  kAtTimes,        // those of kAllWindows, with the label of the time at which each part ended
};

// `values` are those of the profile; those of the parts are of all windows.
PathProfile ToProfile(const Timeline& timeline, const CriticalPath& path,
                      PathValues values = PathValues::kAllWindows);

}  // namespace perftape::timeline
