// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/process_lives.h"

#include <algorithm>
#include <ctime>
#include <variant>

#include "formats/base/duration.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {
namespace {

std::int64_t Now(clockid_t clock) {
  timespec time = {};
  clock_gettime(clock, &time);
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

// From the times of records to the wall clock.
struct WallClock {
  std::uint64_t offset = 0;  // wraps
  std::int64_t slack_ns = kStartSlackNs;

  std::int64_t At(std::uint64_t time) const { return static_cast<std::int64_t>(time + offset); }
};

WallClock WallClockOf(const Reader& reader) {
  if (const auto value = reader.DecodedFeature(FeatureBit::kClockData)) {
    const auto& clock = std::get<ClockData>(*value);
    return {.offset = clock.wall_ns - clock.clockid_ns};
  }
  const std::int64_t monotonic = Now(CLOCK_MONOTONIC);
  // sched_clock() is not adjusted by NTP, so it drifts: by 100 ppm at most.
  return {.offset = static_cast<std::uint64_t>(Now(CLOCK_REALTIME) - monotonic),
          .slack_ns = kNsPerSecond + monotonic / 10'000};
}

// The fourth pair of a NAMESPACES record is the pid namespace (PID_NS_INDEX in perf_event.h).
constexpr std::size_t kPidNamespaceInode = 2 * 3 + 1;

class Lives {
 public:
  explicit Lives(WallClock clock) : clock_(clock) {}

  void AddTask(const Task& task, bool is_start) {
    if (task.pid != task.tid) return;
    ProcessLife& life = lives_[task.pid];
    // Records of time 0 describe what ran before the recording.
    if (is_start) {
      life = {};  // a NAMESPACES record follows
      if (task.time != 0 && task.pid != task.ppid) life.started_ns = clock_.At(task.time);
    }
    life.has_ended = !is_start;
    if (task.time != 0) first_ = std::min(first_, task.time);
  }
  void AddNamespaces(const Namespaces& namespaces) {
    if (namespaces.links.size() <= kPidNamespaceInode) return;
    lives_[namespaces.pid].pid_namespace = namespaces.links[kPidNamespaceInode];
  }
  void AddSampleTime(std::uint64_t time) { first_ = std::min(first_, time); }

  ProcessLives Finish() && {
    const bool has_times = first_ != ~std::uint64_t{0};
    for (auto& [pid, life] : lives_) {
      life.slack_ns = clock_.slack_ns;
      if (has_times) life.recorded_since_ns = clock_.At(first_);
    }
    return std::move(lives_);
  }

 private:
  WallClock clock_;
  ProcessLives lives_;
  std::uint64_t first_ = ~std::uint64_t{0};
};

}  // namespace

bool ProcessLife::CanBe(const ProcessIdentity& now) const {
  if (has_ended) return false;
  // Without a FORK record it ran before the first record of the recording.
  const std::int64_t latest = started_ns.value_or(recorded_since_ns);
  if (latest != 0 && now.started_ns > latest + slack_ns) return false;
  return !started_ns || now.started_ns >= *started_ns - slack_ns - kStartSlackNs;
}

std::string ProcessLife::WhyNotItsFile(const struct stat& file) const {
  struct stat own = {};
  if (pid_namespace != 0 && stat("/proc/self/ns/pid", &own) == 0 && own.st_ino != pid_namespace) {
    return "its process was in another pid namespace, and had another number there";
  }
  return started_ns ? WhyNotSince(*started_ns - slack_ns, file) : std::string();
}

ProcessLives ReadProcessLives(const Reader& reader) {
  Lives lives(WallClockOf(reader));
  RecordCursor cursor = reader.records();
  bool is_first_sample = true;
  while (cursor.Step()) {
    const RecordView& record = cursor.record();
    const SampleFormat& format = reader.events()[0].format;
    if (record.type == RecordType::kFork) {
      if (const auto task = Decode<Fork>(record, format)) lives.AddTask(*task, true);
    } else if (record.type == RecordType::kExit) {
      if (const auto task = Decode<Exit>(record, format)) lives.AddTask(*task, false);
    } else if (record.type == RecordType::kNamespaces) {
      if (const auto decoded = Decode<Namespaces>(record, format)) lives.AddNamespaces(*decoded);
    } else if (record.type == RecordType::kSample && is_first_sample) {
      is_first_sample = false;
      if (const std::uint64_t time = TimeOf(record, format); time != 0) lives.AddSampleTime(time);
    }
  }
  return std::move(lives).Finish();
}

}  // namespace perftape::perfdata
