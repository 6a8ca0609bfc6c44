// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/wire_settings.h"

#include <algorithm>

#include "record/bpf/off_cpu_programs.h"
#include "record/bpf/program_events.h"
#include "record/scope/scope.h"

namespace perftape::record {
namespace {

void AddScope(const Scope& scope, wire_filter& wire) {
  wire.cgroups = static_cast<__u32>(scope.cgroups.size());
  wire.record_cgroup = scope.recorded.has_value();
  if (scope.recorded && !scope.recorded->is_v2()) wire.cgroup_v1 = scope.v1_subsystem + 1;
  wire.glob_sets = static_cast<__u32>(scope.comms.size());
  std::ranges::copy(scope.comms, wire.globs);
}

__u32 WireChain(Callchains callchains) {
  switch (callchains) {
    case Callchains::kNone:
      return WIRE_CHAIN_NONE;
    case Callchains::kOnlyKernel:
      return WIRE_CHAIN_KERNEL;
    case Callchains::kUnwindTables:
      return WIRE_CHAIN_UNWIND;
    case Callchains::kFramePointers:
      break;
  }
  return WIRE_CHAIN_ALL;
}

bool InterruptsSending(const BpfEvent& event) {
  return event.program != nullptr && event.program->interrupts_sending;
}

}  // namespace

bool Needs(const BpfOptions& options, SampleCause cause) {
  return std::ranges::find(options.events, cause, &BpfEvent::cause) != options.events.end();
}

std::size_t WakeupBytes(std::size_t ring_bytes) {
  constexpr std::size_t kLeast = std::size_t{64} << 10, kMost = std::size_t{1} << 20;
  return std::min(std::clamp(ring_bytes / 16, kLeast, kMost), ring_bytes / 2);
}

wire_filter WireFilter(const BpfOptions& options, std::uint32_t event, std::size_t cpus) {
  const SampleFilter& filter = options.filter;
  wire_filter wire = {};
  wire.by_process = filter.by_process();
  wire.by_thread = !filter.threads.empty();
  wire.by_uid = filter.user.has_value();
  wire.uid = filter.user.value_or(0);
  wire.every_task = filter.tasks() == SampledTasks::kEvery;
  wire.excluded_pid = static_cast<__u32>(filter.excluded_process.value_or(0));
  wire.command_pid = static_cast<__u32>(filter.command.value_or(0));
  wire.callchain = WireChain(options.callchains);
  wire.stack_bytes = options.stack_bytes;
  wire.user_frames = options.user_frames;
  if (options.callchains == Callchains::kUnwindTables) wire.late_bytes = kLateStackBytes;
  // The ids of the initial namespace need no translation.
  wire.pid_namespace = ChildNamespace(NamespaceType::kPid);
  wire.wakeup_bytes = static_cast<__u32>(WakeupBytes(options.ring_bytes));
  wire.event = event;
  wire.cpus = static_cast<__u32>(cpus);
  wire.rings = static_cast<__u32>(options.rings);
  AddScope(filter.scope, wire);
  wire.count_sending = std::ranges::any_of(options.events, InterruptsSending);
  return wire;
}

std::uint32_t StoredStacks(const BpfOptions& options) {
  constexpr std::size_t kMemory = std::size_t{64} << 20;
  constexpr std::size_t kMemoryOfUnfinished = std::size_t{16} << 20;
  if (options.stack_bytes != 0) {
    return static_cast<__u32>(kMemory / StoredStackBytes(options.stack_bytes));
  }
  if (options.callchains != Callchains::kUnwindTables) return 0;
  return static_cast<__u32>(kMemoryOfUnfinished / StoredStackBytes(kLateStackBytes));
}

std::optional<wire_off_cpu> OffCpuSettings(const BpfOptions& options) {
  const auto number_of = [&](SampleCause cause) {
    const auto found = std::ranges::find(options.events, cause, &BpfEvent::cause);
    return found == options.events.end() ? WIRE_NO_EVENT
                                         : static_cast<__u32>(found - options.events.begin());
  };
  if (!Needs(options, SampleCause::kSleep)) return std::nullopt;
  return wire_off_cpu{.threshold_ns = static_cast<__u64>(options.off_cpu_threshold.count()),
                      .flush_ns = 1'000'000'000,
                      .events = {number_of(SampleCause::kSleep), number_of(SampleCause::kDiskSleep),
                                 number_of(SampleCause::kRunnable)},
                      .wakeup_event = number_of(SampleCause::kWakeup),
                      .has_prev_state = 1,
                      .stacks = StoredStacks(options),
                      // OffCpuPrograms looks them up.
                      .sched_text = 0,
                      .sched_text_end = 0,
                      .schedule = 0};
}

}  // namespace perftape::record
