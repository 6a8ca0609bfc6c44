// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/kernel_events.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::perfdata {
namespace {

constexpr KernelEvent kKernelEvents[] = {
    {kCpuClock.name, "", kTypeSoftware, kSoftwareCpuClock},
    {kTaskClock.name, "", kTypeSoftware, kSoftwareTaskClock},
    {"page-faults", "", kTypeSoftware, 2},  // perf's alias "faults" names a set of perftape-record
    {"context-switches", "cs", kTypeSoftware, 3, true},
    {"cpu-migrations", "migrations", kTypeSoftware, 4, true},
    {"minor-faults", "", kTypeSoftware, 5},
    {"major-faults", "", kTypeSoftware, 6},
    {"alignment-faults", "", kTypeSoftware, 7},
    {"emulation-faults", "", kTypeSoftware, 8},
    {"dummy", "", kTypeSoftware, kSoftwareDummy},
    {"bpf-output", "", kTypeSoftware, kSoftwareBpfOutput},
    {"cgroup-switches", "", kTypeSoftware, 11, true},
    {"cycles", "cpu-cycles", kTypeHardware, 0},
    {"instructions", "", kTypeHardware, 1},
    {"cache-references", "", kTypeHardware, 2},
    {"cache-misses", "", kTypeHardware, 3},
    {"branches", "branch-instructions", kTypeHardware, 4},
    {"branch-misses", "", kTypeHardware, 5},
    {"bus-cycles", "", kTypeHardware, 6},
    {"stalled-cycles-frontend", "idle-cycles-frontend", kTypeHardware, 7},
    {"stalled-cycles-backend", "idle-cycles-backend", kTypeHardware, 8},
    {"ref-cycles", "", kTypeHardware, 9},
};

template <class Condition>
const KernelEvent* FindEvent(Condition condition) {
  const auto* const found = std::ranges::find_if(kKernelEvents, condition);
  return found == std::end(kKernelEvents) ? nullptr : found;
}

}  // namespace

std::span<const KernelEvent> KernelEvents() {
  return kKernelEvents;
}

bool IsCounted(const KernelEvent& event) {
  return event.type != kTypeSoftware ||
         (event.config != kSoftwareDummy && event.config != kSoftwareBpfOutput);
}

const KernelEvent* FindKernelEvent(std::string_view name) {
  if (name.empty()) return nullptr;
  return FindEvent(
      [&](const KernelEvent& event) { return event.name == name || event.alias == name; });
}

const KernelEvent* FindKernelEvent(std::uint32_t type, std::uint64_t config) {
  return FindEvent(
      [&](const KernelEvent& event) { return event.type == type && event.config == config; });
}

}  // namespace perftape::perfdata
