// SPDX-License-Identifier: Apache-2.0
// CPUs that go offline and come back during a recording. When a CPU goes offline, the kernel
// removes its events for good and does not report it. When the CPU comes back, its events must be
// opened again.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/rings/cpu_events.h"

namespace perftape::record {

// The time from the last activity of a CPU until its events were opened again.
struct AbsentCpu {
  int cpu = 0;
  std::uint64_t from_ns = 0;
  std::optional<std::uint64_t> until_ns;  // nothing: until the end

  bool operator==(const AbsentCpu&) const = default;
};

class CpuHotplug {
 public:
  // Functions that check CPUs and open events. Tests replace them.
  struct Machine {
    std::function<Result<std::vector<int>>()> online;
    // EnabledNs of the sampling event of a CPU; an error if the CPU has none.
    std::function<Result<std::uint64_t>(int cpu)> enabled_ns;
    // Opens and enables all events of a CPU again. An error if the CPU is offline again.
    std::function<Status(int cpu)> reopen;
  };

  // Watches the CPUs `present`. Those in `online` have running events.
  CpuHotplug(Machine machine, std::span<const int> present, std::span<const int> online);

  // Checks all CPUs if 200 ms have passed since the last check, and reopens the events of CPUs that
  // came back. Call it just after draining the rings. `counters` is BpfSession::Counters.
  Status Check(std::uint64_t now_ns, std::span<const wire_cpu> counters);

  bool is_recorded(int cpu) const;
  // Returns the absences in the order in which they began, without CPUs that were offline at the
  // start.
  const std::vector<AbsentCpu>& absences() const { return absences_; }

 private:
  struct Cpu {
    int number = 0;
    bool is_recorded = false;
    std::uint64_t overflows = 0;
    std::optional<std::uint64_t> enabled_ns;
    std::uint64_t seen_ns = 0;  // the last activity
  };

  bool HasGone(Cpu& cpu, std::uint64_t now_ns, std::uint64_t overflows);
  void TryToReturn(Cpu& cpu, std::uint64_t now_ns);

  Machine machine_;
  std::vector<Cpu> cpus_;
  std::uint64_t next_look_ns_ = 0;
  std::vector<AbsentCpu> absences_;
};

}  // namespace perftape::record
