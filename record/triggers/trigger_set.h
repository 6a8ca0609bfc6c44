// SPDX-License-Identifier: Apache-2.0
// The triggers of a flight recording, and the time after a file during which they write no other
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record_cursor.h"
#include "record/events/file_events.h"
#include "record/triggers/busy_cpus.h"
#include "record/triggers/trigger_spec.h"

namespace perftape::record {

// Checks whether there were more than a number of hits within a second. Not thread-safe.
class HitRate {
 public:
  explicit HitRate(std::uint64_t most) : most_(most) {}

  // Adds a hit; times ascend. Returns whether there were more than `most` hits in the last second.
  // If so, counting starts again.
  bool Add(std::uint64_t time_ns) {
    while (!times_.empty() && times_.front() + kNsPerSecond <= time_ns) times_.pop_front();
    times_.push_back(time_ns);
    if (times_.size() <= most_) return false;
    times_.clear();
    return true;
  }

 private:
  std::uint64_t most_;
  std::deque<std::uint64_t> times_;  // of the last second
};

// A threshold of pressure stall information, which the kernel watches
// (Documentation/accounting/psi.rst, "Monitoring for pressure thresholds").
class PressureWatch {
 public:
  // kNotFound if the kernel has no pressure stall information. kPermission if only root may set
  // thresholds; kInvalidArgument if the kernel refuses this one.
  static Result<PressureWatch> Open(const PressureCondition& condition,
                                    const std::filesystem::path& directory = "/proc/pressure");

  // Returns whether the threshold was exceeded since the last call. The kernel reports it at most
  // once in each window.
  bool WasExceeded() const;

 private:
  explicit PressureWatch(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;  // the threshold exists as long as it is open
};

// Not thread-safe.
class TriggerSet {
 public:
  // Opens what the kernel watches, so call it before privileges are dropped. `cpus` are those that
  // are recorded; empty for all. `specs` must outlive this object. Returns the errors of
  // PressureWatch::Open, after the text of the trigger.
  static Result<TriggerSet> Open(std::span<const TriggerSpec> specs, const std::vector<int>& cpus);

  // Finds the events of conditions on samples. Call it before Observe. kNotFound if an event is
  // not recorded.
  Status Bind(const FileEvents& events);
  // Call it with each sample, in order of time.
  void Observe(const perfdata::RecordView& sample);

  struct Fired {
    std::string text;         // of the first trigger, and what it saw
    std::uint64_t times = 0;  // of all triggers together
  };
  // Returns which triggers fired since the last call; nothing if none did.
  std::optional<Fired> Check(std::uint64_t now_ns);

 private:
  // A condition on the samples of an event.
  struct SampleWatch {
    const TriggerSpec* spec;
    std::optional<HitRate> rate = {};  // of SampleCondition::per_second
  };

  TriggerSet() = default;
  Status BindOne(const TriggerSpec& spec, const FileEvents& events);
  bool Holds(SampleWatch& watch, const perfdata::Sample& sample, std::string& detail);
  void Fire(const TriggerSpec& spec, const std::string& detail);

  std::span<const TriggerSpec> specs_;
  SampleFormats formats_ = perfdata::SampleFormat{};
  std::vector<std::pair<const TriggerSpec*, PressureWatch>> pressures_;
  std::vector<std::pair<const TriggerSpec*, BusyCpus>> busy_;
  std::vector<SampleWatch> samples_;
  std::unordered_multimap<std::uint64_t, std::size_t> by_id_;  // the index in samples_
  std::optional<Fired> fired_;
};

// The time after a file during which triggers write no other file. Not thread-safe.
class Cooldown {
 public:
  explicit Cooldown(std::uint64_t length_ns) : length_ns_(length_ns) {}

  // A file was written at `now_ns`.
  void Begin(std::uint64_t now_ns) { end_ns_ = now_ns + length_ns_; }
  // Returns whether one of `triggers`, at least 1, that fired at `now_ns` may write a file, and
  // counts the others as ignored. None may while the previous file is being written.
  bool Admits(std::uint64_t triggers, std::uint64_t now_ns, bool is_writing) {
    const bool is_over = !is_writing && now_ns >= end_ns_;
    ignored_ += is_over ? triggers - 1 : triggers;
    return is_over;
  }
  std::uint64_t ignored() const { return ignored_; }

 private:
  std::uint64_t length_ns_;
  std::uint64_t end_ns_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace perftape::record
