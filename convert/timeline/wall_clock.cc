// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/wall_clock.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "convert/timeline/new_profile.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::Sample;
using convert::StackId;

// Whether a thread did nothing but wait with one stack.
bool IsIdle(const Timeline& timeline, const ThreadLine& line) {
  const Profile& profile = timeline.profile();
  const Interval& first = line.intervals.front();
  if (first.sample == kNone || first.state == State::kRunnable) return false;
  return std::ranges::all_of(line.intervals, [&](const Interval& interval) {
    return interval.state == first.state && interval.sample != kNone &&
           profile.samples()[interval.sample].stack == profile.samples()[first.sample].stack;
  });
}

class WallClockMaker {
 public:
  WallClockMaker(const Timeline& timeline, bool with_times)
      : timeline_(timeline), with_times_(with_times), to_(timeline.profile(), kWallClockEvent) {}

  void Add(const ThreadLine& line) {
    std::vector<Span> running;
    for (const Interval& interval : line.intervals) {
      if (interval.sample == kNone) {
        AddWithoutStack(line, interval, running);
        continue;
      }
      const Sample& sample = profile().samples()[interval.sample];
      Add(to_.PushAll(RootOf(interval.state), sample.stack), sample.thread,
          timeline_.CgroupOf(interval.sample), interval.time);
    }
    AddRunning(line, running);
  }

  Profile Finish() && { return std::move(to_).Finish(); }

 private:
  const Profile& profile() const { return timeline_.profile(); }

  StackId RootOf(State state) {
    StackId& root = roots_[static_cast<std::size_t>(state)];
    if (root == StackId{}) root = to_.Push({}, FrameOf(state));
    return root;
  }

  void Add(StackId stack, convert::ThreadId thread, convert::StringId cgroup, const Span& time) {
    to_.Add(stack, thread, cgroup, time.length(),
            with_times_ ? std::optional(time.end) : std::nullopt);
  }

  // When the short waits were is not known: they are at the start.
  void AddWithoutStack(const ThreadLine& line, const Interval& interval,
                       std::vector<Span>& running) {
    Span rest = interval.time;
    rest.start += interval.short_waits;
    if (interval.short_waits != 0) {
      Add(RootOf(State::kShortWaits), line.thread, line.cgroup,
          {.start = interval.time.start, .end = rest.start});
    }
    if (interval.state == State::kRunning) {
      running.push_back(rest);
    } else {
      Add(RootOf(interval.state), line.thread, line.cgroup, rest);
    }
  }

  void AddRunning(const ThreadLine& line, const std::vector<Span>& running) {
    std::int64_t sum = 0;
    for (const Span& time : running) sum += time.length();
    if (sum == 0) return;
    const StackId root = RootOf(State::kRunning);
    if (line.on_cpu.empty()) {
      const StackId stack = to_.Push(root, kNotSampled);
      for (const Span& time : running) Add(stack, line.thread, line.cgroup, time);
      return;
    }
    std::vector<std::int64_t> weights;
    for (const SampleAt& at : line.on_cpu) weights.push_back(profile().samples()[at.sample].period);
    for (const auto& [share, time] : SplitByShares(running, Divide(sum, weights))) {
      const std::uint32_t index = line.on_cpu[share].sample;
      const Sample& sample = profile().samples()[index];
      Add(to_.PushAll(root, sample.stack), sample.thread, timeline_.CgroupOf(index), time);
    }
  }

  const Timeline& timeline_;
  const bool with_times_;
  NewProfile to_;
  std::array<StackId, kStates> roots_ = {};  // without a caller, by state
};

}  // namespace

std::string FrameOf(State state) {
  return "[" + std::string(NameOf(state)) + "]";
}

WallClock MakeWallClock(const Timeline& timeline, const WallClockOptions& options) {
  WallClock wall;
  WallClockMaker maker(timeline, options.with_times);
  for (const ThreadLine& line : timeline.threads()) {
    if (!options.with_idle_threads && IsIdle(timeline, line)) {
      ++wall.idle_threads;
      continue;
    }
    ++wall.threads;
    maker.Add(line);
  }
  wall.profile = std::move(maker).Finish();
  return wall;
}

}  // namespace perftape::timeline
