// SPDX-License-Identifier: Apache-2.0
// The counters that the BPF programs keep for each CPU (bpf/wire.h, wire_cpu). They are read
// without a system call, because the kernel skips overflows on the calling CPU during bpf(2).
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
  // `map` is the descriptor of an array of `cpus` elements wire_cpu, created with BPF_F_MMAPABLE.
  static Result<CpuCounters> Map(int map, std::size_t cpus);

  CpuCounters() = default;
  CpuCounters(CpuCounters&& other) noexcept { *this = std::move(other); }
  CpuCounters& operator=(CpuCounters&& other) noexcept;
  ~CpuCounters();

  // Returns the counters of all CPUs as they are now. The index is the CPU.
  std::vector<wire_cpu> Copy() const;
  // Clears the time of the CPU's last timer expiry. No program may be running on the CPU.
  void RestartTimer(std::size_t cpu);

 private:
  wire_cpu* first_ = nullptr;
  std::size_t cpus_ = 0, mapped_bytes_ = 0;
};

}  // namespace perftape::record
