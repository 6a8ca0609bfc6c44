// SPDX-License-Identifier: Apache-2.0
// The performance monitoring units of the machine, as sysfs describes them
// (Documentation/ABI/testing/sysfs-bus-event_source-devices*): /sys/bus/event_source/devices/PMU/
// has the files type, cpus or cpumask, and the directories format and events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/events/event_spec.h"

namespace perftape::record {

// A file of format: where the value of a term is in the attribute ("config:0-7,32-35").
struct PmuFormat {
  std::uint64_t perfdata::EventAttr::*word = nullptr;
  std::uint64_t bits = 0;  // a mask; the lowest bit of the value is in the lowest one
};

struct Pmu {
  std::string name;
  std::uint32_t type = 0;  // of attributes
  // The CPUs on which its events are opened: those of one kind of core, or one CPU of each socket
  // for counters outside of the cores. Empty: all CPUs.
  std::vector<int> cpus = {};
  bool is_hybrid_core = false;  // one of several kinds of cores: cpu_core, cpu_atom
};

class Pmus {
 public:
  explicit Pmus(std::filesystem::path directory = "/sys/bus/event_source/devices")
      : directory_(std::move(directory)) {}

  // Returns the names of all PMUs, sorted. Empty if sysfs has none.
  std::vector<std::string> Names() const;
  // Returns the names of those that perf means by `name`: itself, or the numbered ones of this kind
  // ("uncore_imc" or "imc": uncore_imc_0, uncore_imc_1), or those that the glob matches.
  std::vector<std::string> Matching(std::string_view name) const;
  // Returns the PMUs of the kinds of cores on a machine with several: cpu_atom and cpu_core.
  Result<std::vector<Pmu>> HybridCores() const;

  // Describes one of Names(). Fails with kCorrupt if its files have other contents than those that
  // the kernel writes, and with the errors of ReadRegularFile.
  Result<Pmu> Read(const std::string& name) const;

  // The names of the terms and of the events of a PMU, sorted.
  std::vector<std::string> FormatsOf(const Pmu& pmu) const;
  std::vector<std::string> EventsOf(const Pmu& pmu) const;
  // Returns the position of a term of FormatsOf, or of a whole word of the attribute: config,
  // config1 to config4. Nothing for other names. Fails as Read.
  Result<std::optional<PmuFormat>> FindFormat(const Pmu& pmu, const std::string& name) const;
  // `name` is one of EventsOf. A term for which the user must give a value has none. Fails as Read.
  Result<std::vector<PmuTerm>> ReadEvent(const Pmu& pmu, const std::string& name) const;

 private:
  Result<std::string> ReadText(const std::filesystem::path& file) const;

  std::filesystem::path directory_;
};

// Stores `value` in the bits of the term. Fails with kInvalidArgument if it has more bits; the
// message names the largest value.
Status Store(std::uint64_t value, const PmuFormat& format, perfdata::EventAttr& attr);

}  // namespace perftape::record
