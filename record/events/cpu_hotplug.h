// SPDX-License-Identifier: Apache-2.0
// CPUs that go offline and come back while they are recorded. The kernel takes the events of a CPU
// that goes away off it for good, and no poll tells it: whoever wants to see the CPU again opens
// new ones.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/events/cpu_events.h"

namespace perftape::record {

// From the last sign of life to the moment when its events were opened anew.
struct AbsentCpu {
  int cpu = 0;
  std::uint64_t from_ns = 0;
  std::optional<std::uint64_t> until_ns;  // nothing: to the end

  bool operator==(const AbsentCpu&) const = default;
};

class CpuHotplug {
 public:
  // What it looks at, and how new events are opened; for tests these are no real CPUs.
  struct Machine {
    std::function<Result<std::vector<int>>()> online;
    // How long the sampling event of a CPU has been enabled (EnabledNs); an error if it has none.
    std::function<Result<std::uint64_t>(int cpu)> enabled_ns;
    // Opens all events of a CPU anew and starts them. An error if it has gone again.
    std::function<Status(int cpu)> reopen;
  };

  // `present`: the CPUs to watch, of which `online` have events that run.
  CpuHotplug(Machine machine, std::span<const int> present, std::span<const int> online);

  // Looks, if some time has passed since the last look, and opens what can be opened anew. The
  // rings were drained just before. `counters`: BpfSession::Counters.
  Status Check(std::uint64_t now_ns, std::span<const wire_cpu> counters);

  bool is_recorded(int cpu) const;
  // In the order in which they went. CPUs that were not there at the start are not among them.
  const std::vector<AbsentCpu>& absences() const { return absences_; }

 private:
  struct Cpu {
    int number = 0;
    bool is_recorded = false;
    std::uint64_t overflows = 0;
    std::optional<std::uint64_t> enabled_ns;
    std::uint64_t seen_ns = 0;  // the last sign of life
  };

  bool HasGone(Cpu& cpu, std::uint64_t now_ns, std::uint64_t overflows);
  void TryToReturn(Cpu& cpu, std::uint64_t now_ns);

  Machine machine_;
  std::vector<Cpu> cpus_;
  std::uint64_t next_look_ns_ = 0;
  std::vector<AbsentCpu> absences_;
};

}  // namespace perftape::record
