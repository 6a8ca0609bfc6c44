// SPDX-License-Identifier: Apache-2.0
#include "record/events/cpu_hotplug.h"

#include <algorithm>
#include <utility>

namespace perftape::record {
namespace {

constexpr std::uint64_t kIntervalNs = 200'000'000;

}  // namespace

CpuHotplug::CpuHotplug(Machine machine, std::span<const int> present, std::span<const int> online)
    : machine_(std::move(machine)) {
  for (const int number : present) {
    Cpu& cpu = cpus_.emplace_back();
    cpu.number = number;
    cpu.is_recorded = std::ranges::find(online, number) != online.end();
  }
}

Status CpuHotplug::Check(std::uint64_t now_ns, std::span<const wire_cpu> counters) {
  if (now_ns < next_look_ns_) return {};
  next_look_ns_ = now_ns + kIntervalNs;
  TRY_ASSIGN(const std::vector<int> online, machine_.online());
  for (Cpu& cpu : cpus_) {
    const auto index = static_cast<std::size_t>(cpu.number);
    const std::uint64_t overflows = index < counters.size() ? counters[index].overflows : 0;
    const bool is_online = std::ranges::find(online, cpu.number) != online.end();
    if (cpu.is_recorded && (!is_online || HasGone(cpu, now_ns, overflows))) {
      cpu.is_recorded = false;
      absences_.push_back({.cpu = cpu.number, .from_ns = cpu.seen_ns, .until_ns = {}});
    }
    if (!cpu.is_recorded && is_online) TryToReturn(cpu, now_ns);
  }
  return {};
}

// The list of CPUs does not show a CPU that went offline and came back between two checks; the
// clock of its event does. Reading the clock interrupts the CPU, so it is read only if there was no
// overflow.
bool CpuHotplug::HasGone(Cpu& cpu, std::uint64_t now_ns, std::uint64_t overflows) {
  if (cpu.seen_ns == 0) cpu.seen_ns = now_ns;
  if (overflows != std::exchange(cpu.overflows, overflows)) {
    cpu.enabled_ns.reset();
    cpu.seen_ns = now_ns;
    return false;
  }
  const Result<std::uint64_t> enabled_ns = machine_.enabled_ns(cpu.number);
  if (!enabled_ns) {
    cpu.seen_ns = now_ns;
    return false;
  }
  const bool stands_still = cpu.enabled_ns == *enabled_ns;
  if (cpu.enabled_ns && !stands_still) cpu.seen_ns = now_ns;
  cpu.enabled_ns = *enabled_ns;
  return stands_still;
}

void CpuHotplug::TryToReturn(Cpu& cpu, std::uint64_t now_ns) {
  if (!machine_.reopen(cpu.number)) return;
  cpu.is_recorded = true;
  cpu.enabled_ns.reset();
  cpu.seen_ns = now_ns;
  for (AbsentCpu& absence : absences_) {
    if (absence.cpu == cpu.number && !absence.until_ns) absence.until_ns = now_ns;
  }
}

bool CpuHotplug::is_recorded(int cpu) const {
  const auto found = std::ranges::find(cpus_, cpu, &Cpu::number);
  return found != cpus_.end() && found->is_recorded;
}

}  // namespace perftape::record
