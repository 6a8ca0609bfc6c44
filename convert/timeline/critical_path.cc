// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/critical_path.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <tuple>
#include <utility>

#include "convert/timeline/new_profile.h"
#include "convert/timeline/share.h"
#include "convert/timeline/timeouts.h"
#include "convert/timeline/wall_clock.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::Sample;
using convert::StackId;
using convert::ThreadId;

// A thread that waits until the walk is back at the start of its wait.
struct Waiting {
  std::uint32_t thread = kNone;
  std::int64_t floor = 0;          // where its own part ends
  std::uint32_t handover = kNone;  // that led to it
};

class Walk {
 public:
  Walk(const Timeline& timeline, StackFacts& facts, CriticalPath& path)
      : timeline_(timeline), facts_(facts), path_(path) {}

  void Run(std::uint32_t index) {
    const Window& window = path_.windows[index];
    window_ = index;
    thread_ = window.thread;
    at_ = window.time.end;
    floor_ = window.time.start;
    const std::size_t first = path_.steps.size();
    do {
      while (at_ > floor_) StepBack();
    } while (Return());
    std::reverse(path_.steps.begin() + static_cast<std::ptrdiff_t>(first), path_.steps.end());
  }

 private:
  // Goes on with the thread that waited. Returns false if there is none.
  bool Return() {
    if (waiting_.empty()) return false;
    const Waiting& last = waiting_.back();
    thread_ = last.thread;
    floor_ = last.floor;
    handover_ = last.handover;
    waiting_.pop_back();
    return true;
  }

  void Emit(std::int64_t start, Reason reason, std::uint32_t sample = kNone,
            std::int64_t short_waits = 0) {
    path_.steps.push_back({.time = {.start = start, .end = at_},
                           .window = window_,
                           .thread = thread_,
                           .reason = reason,
                           .sample = sample,
                           .handover = handover_,
                           .short_waits = short_waits});
    at_ = start;
  }

  // Emits what the thread did last before at_ > floor_.
  void StepBack() {
    const ThreadLine& line = timeline_.threads()[thread_];
    const auto found = line.Overlapping({.start = at_ - 1, .end = at_});
    if (found.empty()) return StepOutOfLife(line);
    const Interval& interval = found.front();
    const std::int64_t start = std::max(interval.time.start, floor_);
    switch (interval.state) {
      case State::kRunning: {
        const std::int64_t short_waits =
            ShareOf(interval.short_waits, at_ - start, interval.time.length());
        return Emit(start, Reason::kRunning, kNone, short_waits);
      }
      case State::kRunnable:
        return Emit(start, Reason::kRunnable, interval.sample);
      case State::kDisk:
      case State::kLock:
      case State::kSleep:
        return StepOverWait(line, interval);
      default:
        return Emit(start, Reason::kNotRecorded);
    }
  }

  static Reason ReasonOf(State state) {
    if (state == State::kDisk) return Reason::kDisk;
    return state == State::kLock ? Reason::kLock : Reason::kSleep;
  }

  static Reason ReasonOf(Waker waker, State state) {
    if (state == State::kDisk) return Reason::kDisk;
    switch (waker) {
      case Waker::kTimer:
        return Reason::kTimer;
      case Waker::kNetwork:
        return Reason::kNetwork;
      case Waker::kDisk:
        return Reason::kDisk;
      default:
        return Reason::kInterrupt;
    }
  }

  void StepOutOfLife(const ThreadLine& line) {
    const Span life = line.life();
    if (at_ > life.end) return Emit(std::max(floor_, life.end), Reason::kNotRecorded);
    const bool has_parent = at_ <= life.start && CanGoTo(line.parent) &&
                            timeline_.threads()[line.parent].life().start < at_;
    if (!has_parent) return Emit(floor_, Reason::kNotRecorded);
    GoTo({.thread = thread_, .waker = line.parent, .is_birth = true}, floor_);
  }

  void StepOverWait(const ThreadLine& line, const Interval& wait) {
    const std::int64_t start = std::max(wait.time.start, floor_);
    const Wakeup* const wakeup = line.WakeupOf(wait);
    if (wakeup == nullptr || wakeup->time_ns > at_ || wakeup->time_ns <= start) {
      return Emit(start, ReasonOf(wait.state), wait.sample);
    }
    if (wakeup->time_ns < at_) Emit(wakeup->time_ns, Reason::kRunnable, wait.sample);
    const Sample& sample = timeline_.profile().samples()[wakeup->sample];
    const convert::Thread& waker = timeline_.profile()[sample.thread];
    const Waker type = facts_.WakerOf(sample.stack, waker.tid == 0);
    const std::uint32_t other = timeline_.Find(waker.pid, waker.tid);
    if (type != Waker::kThread || other == thread_) {
      return Emit(start, ReasonOf(type, wait.state), wait.sample);
    }
    if (!CanGoTo(other)) return Emit(start, ReasonOf(wait.state), wait.sample);
    GoTo({.thread = thread_, .sample = wait.sample, .waker = other},
         std::max(StartOfTimeouts(timeline_, facts_, line, wait, floor_), floor_));
  }

  // Whether a thread is known. In a damaged recording, threads can wake each other at one time.
  bool CanGoTo(std::uint32_t other) const {
    constexpr int kMostAtOneTime = 16;
    return other != kNone && (at_ != last_handover_ || handovers_there_ < kMostAtOneTime);
  }

  // Goes on with the waker of a handover, back to `floor`.
  void GoTo(Handover to, std::int64_t floor) {
    handovers_there_ = at_ == last_handover_ ? handovers_there_ + 1 : 1;
    last_handover_ = at_;
    waiting_.push_back({.thread = thread_, .floor = floor_, .handover = handover_});
    to.outer = handover_;
    path_.handovers.push_back(to);
    handover_ = static_cast<std::uint32_t>(path_.handovers.size() - 1);
    thread_ = to.waker;
    floor_ = floor;
  }

  const Timeline& timeline_;
  StackFacts& facts_;
  CriticalPath& path_;
  std::uint32_t window_ = 0;
  std::uint32_t thread_ = kNone;
  std::int64_t at_ = 0, floor_ = 0;
  std::optional<std::int64_t> last_handover_;  // its time
  int handovers_there_ = 0;
  std::uint32_t handover_ = kNone;
  std::vector<Waiting> waiting_;
};

std::string_view CommOf(const Timeline& timeline, std::uint32_t thread) {
  const Profile& profile = timeline.profile();
  return profile.text(profile[timeline.threads()[thread].thread].comm);
}

// The steps on a CPU of one thread that have the same stacks in front of it.
struct Running {
  std::vector<Span> times;  // without short waits
  std::vector<std::uint32_t> samples;
};

class PathProfileMaker {
 public:
  PathProfileMaker(const Timeline& timeline, const CriticalPath& path, PathValues values)
      : timeline_(timeline),
        path_(path),
        values_(values),
        to_(timeline.profile(), kCriticalPathEvent) {}

  PathProfile Make() && {
    prefixes_.reserve(path_.handovers.size());
    branches_.reserve(path_.handovers.size());
    for (const Handover& handover : path_.handovers) AddHandover(handover);
    for (const Step& step : path_.steps) {
      Add(step, path_.windows[step.window].thread);
    }
    for (const auto& [key, running] : running_) AddRunning(key, running);
    PathProfile made;
    for (const auto& [key, ns] : parts_) {
      const auto& [branch, thread, reason, stack] = key;
      made.parts.push_back(
          {.branch = branch, .thread = thread, .reason = reason, .stack = stack, .ns = ns});
    }
    made.branches = std::move(made_branches_);
    std::ranges::stable_sort(made.parts, std::greater(), &PathPart::ns);
    const bool is_average = values_ == PathValues::kAverageWindow && !path_.windows.empty();
    const auto windows = static_cast<std::int64_t>(is_average ? path_.windows.size() : 1);
    for (const auto& [key, ns] : sums_) {
      const auto& [stack, thread, end_ns] = key;
      const ThreadLine& root = timeline_.threads()[thread];
      to_.Add(stack, root.thread, root.cgroup, ns / windows, end_ns);
    }
    made.profile = std::move(to_).Finish();
    return made;
  }

 private:
  // The window's thread, the frames in front, their branch, and the thread that ran.
  using RunningKey = std::tuple<std::uint32_t, StackId, std::uint32_t, std::uint32_t>;

  // The outer handovers have smaller indexes.
  void AddHandover(const Handover& handover) {
    const StackId outer = handover.outer == kNone ? StackId{} : prefixes_[handover.outer];
    const StackId waits = to_.PushAll(outer, StackOf(handover.sample));
    const std::string_view frame = handover.is_birth ? "started by " : "waits for ";
    const StackId prefix =
        to_.Push(waits, std::string(frame).append(CommOf(timeline_, handover.waker)));
    const auto next = static_cast<std::uint32_t>(made_branches_.size());
    const auto [found, is_new] = branch_of_.try_emplace(prefix, next);
    if (is_new) {
      made_branches_.push_back(
          {.outer = handover.outer == kNone ? kNone : branches_[handover.outer],
           .is_birth = handover.is_birth,
           .wait = StackOf(handover.sample),
           .waker = timeline_.threads()[handover.waker].thread});
    }
    prefixes_.push_back(prefix);
    branches_.push_back(found->second);
  }

  StackId StackOf(std::uint32_t sample) const {
    return sample == kNone ? StackId{} : timeline_.profile().samples()[sample].stack;
  }

  void AddPart(const Step& step, Reason reason, StackId stack, std::int64_t ns) {
    AddPart(BranchOf(step), step.thread, reason, stack, ns);
  }
  void AddPart(std::uint32_t branch, std::uint32_t thread, Reason reason, StackId stack,
               std::int64_t ns) {
    if (ns != 0) parts_[{branch, timeline_.threads()[thread].thread, reason, stack}] += ns;
  }

  std::uint32_t BranchOf(const Step& step) const {
    return step.handover == kNone ? kNone : branches_[step.handover];
  }

  void AddTime(StackId stack, std::uint32_t root, const Span& time) {
    if (time.is_empty()) return;
    const bool has_time = values_ == PathValues::kAtTimes;
    sums_[{stack, root, has_time ? std::optional(time.end) : std::nullopt}] += time.length();
  }

  static std::string FrameOf(Reason reason) { return "[" + std::string(NameOf(reason)) + "]"; }

  void Add(const Step& step, std::uint32_t root) {
    const StackId prefix = step.handover == kNone ? StackId{} : prefixes_[step.handover];
    if (step.reason != Reason::kRunning) {
      const StackId stack = to_.PushAll(prefix, StackOf(step.sample));
      AddTime(to_.Push(stack, FrameOf(step.reason)), root, step.time);
      AddPart(step, step.reason, StackOf(step.sample), step.time.length());
      return;
    }
    // When the short waits were is not known: they are at the start.
    const std::int64_t ran_from = step.time.start + step.short_waits;
    if (step.short_waits != 0) {
      AddTime(to_.Push(prefix, FrameOf(Reason::kShortWaits)), root,
              {.start = step.time.start, .end = ran_from});
    }
    AddPart(step, Reason::kShortWaits, {}, step.short_waits);
    Running& running = running_[{root, prefix, BranchOf(step), step.thread}];
    running.times.push_back({.start = ran_from, .end = step.time.end});
    for (const SampleAt& at : SamplesIn(step)) running.samples.push_back(at.sample);
  }

  // A sample stands for the time before it; the first ones of all, for the time after them.
  std::span<const SampleAt> SamplesIn(const Step& step) const {
    const bool is_first = step.time.start == timeline_.time().start;
    return timeline_.threads()[step.thread].OnCpuIn(
        {.start = step.time.start + (is_first ? 0 : 1), .end = step.time.end + 1});
  }

  void AddRunning(const RunningKey& key, const Running& running) {
    const auto& [root, prefix, branch, thread] = key;
    std::int64_t sum = 0;
    for (const Span& time : running.times) sum += time.length();
    if (sum == 0) return;
    if (running.samples.empty()) {
      const StackId stack = to_.Push(prefix, kNotSampled);
      for (const Span& time : running.times) AddTime(stack, root, time);
      AddPart(branch, thread, Reason::kRunning, {}, sum);
      return;
    }
    std::vector<std::int64_t> weights;
    for (const std::uint32_t sample : running.samples) {
      weights.push_back(timeline_.profile().samples()[sample].period);
    }
    for (const auto& [share, time] : SplitByShares(running.times, Divide(sum, weights))) {
      const StackId stack = StackOf(running.samples[share]);
      AddTime(to_.PushAll(prefix, stack), root, time);
      AddPart(branch, thread, Reason::kRunning, stack, time.length());
    }
  }

  const Timeline& timeline_;
  const CriticalPath& path_;
  const PathValues values_;
  NewProfile to_;
  std::vector<StackId> prefixes_;               // by handover
  std::vector<std::uint32_t> branches_;         // by handover
  std::map<StackId, std::uint32_t> branch_of_;  // by prefix
  std::vector<PathBranch> made_branches_;
  std::map<RunningKey, Running> running_;
  // By stack, root, and with PathValues::kAtTimes, the end.
  std::map<std::tuple<StackId, std::uint32_t, std::optional<std::int64_t>>, std::int64_t> sums_;
  std::map<std::tuple<std::uint32_t, ThreadId, Reason, StackId>, std::int64_t> parts_;
};

}  // namespace

std::string_view NameOf(Reason reason) {
  constexpr std::string_view kNames[kReasons] = {"running", "runnable",    "short waits", "timer",
                                                 "network", "disk",        "interrupt",   "lock",
                                                 "sleep",   "not recorded"};
  return kNames[static_cast<std::size_t>(reason)];
}

bool Explains(Reason reason) {
  return reason != Reason::kLock && reason != Reason::kSleep && reason != Reason::kNotRecorded;
}

std::int64_t CriticalPath::window_ns() const {
  std::int64_t sum = 0;
  for (const Window& window : windows) sum += window.time.length();
  return sum;
}

std::int64_t CriticalPath::explained_ns() const {
  std::int64_t sum = 0;
  for (const Step& step : steps) sum += Explains(step.reason) ? step.time.length() : 0;
  return sum;
}

CriticalPath WalkPath(const Timeline& timeline, std::vector<Window> windows) {
  CriticalPath path;
  std::erase_if(windows, [](const Window& window) { return window.time.is_empty(); });
  path.windows = std::move(windows);
  StackFacts facts(timeline.profile());
  for (std::uint32_t i = 0; i < path.windows.size(); ++i) Walk(timeline, facts, path).Run(i);
  return path;
}

std::vector<Hop> HopsOf(const Timeline& timeline, const CriticalPath& path) {
  std::vector<Hop> hops;
  std::optional<std::uint32_t> window;
  for (const Step& step : path.steps) {
    const ThreadId thread = timeline.threads()[step.thread].thread;
    const bool goes_on =
        window == step.window && hops.back().thread == thread && hops.back().reason == step.reason;
    if (goes_on) {
      hops.back().ns += step.time.length();
    } else {
      hops.push_back({.start_ns = step.time.start - path.windows[step.window].time.start,
                      .ns = step.time.length(),
                      .thread = thread,
                      .reason = step.reason});
    }
    window = step.window;
  }
  return hops;
}

PathProfile ToProfile(const Timeline& timeline, const CriticalPath& path, PathValues values) {
  return PathProfileMaker(timeline, path, values).Make();
}

}  // namespace perftape::timeline
