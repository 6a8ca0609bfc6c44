// SPDX-License-Identifier: Apache-2.0
// The counters that the BPF programs keep for each event and CPU (bpf/wire.h, wire_cpu). They are
// read without a system call, because the kernel skips overflows on the calling CPU during bpf(2).
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"

namespace perftape::record {

// Owns the mapping of a BPF map. The descriptor of the map may be closed.
class CpuCounters {
 public:
  // `map` is the descriptor of an array of `events` times `cpus` elements wire_cpu, created with
  // BPF_F_MMAPABLE.
  static Result<CpuCounters> Map(int map, std::size_t events, std::size_t cpus);

  CpuCounters() = default;
  CpuCounters(CpuCounters&& other) noexcept { *this = std::move(other); }
  CpuCounters& operator=(CpuCounters&& other) noexcept;
  ~CpuCounters();

  // Returns the counters of an event on all CPUs as they are now. The index is the CPU.
  std::vector<wire_cpu> Copy(std::size_t event) const;
  // Forgets the CPU's last timer expiry. No program may be running on the CPU.
  void RestartTimer(std::size_t event, std::size_t cpu);
  // Excludes the event on a CPU, before the programs are attached.
  void Exclude(std::size_t event, std::size_t cpu);
  // Set and clear WIRE_SWITCHED_OFF on all CPUs.
  void SwitchOff(std::size_t event);
  void SwitchOn(std::size_t event);
  // Sets wire_cpu.divisor.
  void SetDivisor(std::size_t event, std::size_t cpu, std::uint64_t divisor);
  std::size_t cpus() const { return cpus_; }

 private:
  wire_cpu* first_ = nullptr;
  std::size_t events_ = 0, cpus_ = 0, mapped_bytes_ = 0;
};

}  // namespace perftape::record
