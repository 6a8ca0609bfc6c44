// SPDX-License-Identifier: Apache-2.0
// The triggers of a flight recording, watched together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record_cursor.h"
#include "record/events/file_events.h"
#include "record/triggers/busy_cpus.h"
#include "record/triggers/hit_rate.h"
#include "record/triggers/pressure_watch.h"
#include "record/triggers/trigger_spec.h"

namespace perftape::record {

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

}  // namespace perftape::record
