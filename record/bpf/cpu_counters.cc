// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/cpu_counters.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace perftape::record {

Result<CpuCounters> CpuCounters::Map(int map, std::size_t events, std::size_t cpus) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = (events * cpus * sizeof(wire_cpu) + page - 1) / page * page;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, map, /*offset=*/0);
  if (address == MAP_FAILED) return FailErrno("mapping the counters of the CPUs", errno);
  CpuCounters counters;
  counters.first_ = static_cast<wire_cpu*>(address);
  counters.events_ = events;
  counters.cpus_ = cpus;
  counters.mapped_bytes_ = bytes;
  return counters;
}

CpuCounters& CpuCounters::operator=(CpuCounters&& other) noexcept {
  std::swap(first_, other.first_);
  std::swap(events_, other.events_);
  std::swap(cpus_, other.cpus_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  return *this;
}

CpuCounters::~CpuCounters() {
  if (first_ != nullptr) munmap(first_, mapped_bytes_);
}

std::vector<wire_cpu> CpuCounters::Copy(std::size_t event) const {
  // Word by word, because the programs count meanwhile. A word is never half written.
  std::array<std::uint64_t, sizeof(wire_cpu) / sizeof(std::uint64_t)> words{};
  std::vector<wire_cpu> copy(cpus_);
  if (event >= events_) return copy;
  for (std::size_t cpu = 0; cpu < cpus_; ++cpu) {
    auto* const from = reinterpret_cast<std::uint64_t*>(first_ + event * cpus_ + cpu);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = std::atomic_ref(from[i]).load(std::memory_order_relaxed);
    }
    std::memcpy(&copy[cpu], words.data(), sizeof words);
  }
  return copy;
}

void CpuCounters::RestartTimer(std::size_t event, std::size_t cpu) {
  if (event >= events_ || cpu >= cpus_) return;
  wire_cpu& counters = first_[event * cpus_ + cpu];
  std::atomic_ref(counters.expiry_ns).store(0, std::memory_order_relaxed);
  std::atomic_ref(counters.interrupts).store(0, std::memory_order_relaxed);
}

void CpuCounters::Exclude(std::size_t event, std::size_t cpu) {
  if (event >= events_ || cpu >= cpus_) return;
  std::atomic_ref(first_[event * cpus_ + cpu].excluded).fetch_or(WIRE_OTHER_CPU);
}

void CpuCounters::SwitchOff(std::size_t event) {
  for (std::size_t cpu = 0; event < events_ && cpu < cpus_; ++cpu) {
    std::atomic_ref(first_[event * cpus_ + cpu].excluded).fetch_or(WIRE_SWITCHED_OFF);
  }
}

void CpuCounters::SwitchOn(std::size_t event) {
  for (std::size_t cpu = 0; event < events_ && cpu < cpus_; ++cpu) {
    std::atomic_ref(first_[event * cpus_ + cpu].excluded)
        .fetch_and(~std::uint64_t{WIRE_SWITCHED_OFF});
  }
}

void CpuCounters::SetDivisor(std::size_t event, std::size_t cpu, std::uint64_t divisor) {
  if (event >= events_ || cpu >= cpus_) return;
  // The type of the field is the kernel's __u64.
  __u64& field = first_[event * cpus_ + cpu].divisor;
  std::atomic_ref(field).store(divisor, std::memory_order_relaxed);
}

}  // namespace perftape::record
