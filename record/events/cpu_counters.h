// SPDX-License-Identifier: Apache-2.0
// What the BPF programs count on each CPU (bpf/wire.h, wire_cpu), read without a system call: for
// bpf(2) the kernel would skip overflows on the CPU that makes it.
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"

namespace perftape::record {

// Owns the mapping of a BPF map; the map's descriptor may be closed.
class CpuCounters {
 public:
  // `map` is an array of `cpus` elements wire_cpu, made with BPF_F_MMAPABLE.
  static Result<CpuCounters> Map(int map, std::size_t cpus);

  CpuCounters() = default;
  CpuCounters(CpuCounters&& other) noexcept { *this = std::move(other); }
  CpuCounters& operator=(CpuCounters&& other) noexcept;
  ~CpuCounters();

  // All of them as they are now; the index is the CPU.
  std::vector<wire_cpu> Copy() const;
  // Forgets when the timer of a CPU last expired. No program may be running there.
  void RestartTimer(std::size_t cpu);

 private:
  wire_cpu* first_ = nullptr;
  std::size_t cpus_ = 0, mapped_bytes_ = 0;
};

}  // namespace perftape::record
