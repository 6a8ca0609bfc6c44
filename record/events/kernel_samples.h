// SPDX-License-Identifier: Apache-2.0
// Events whose samples the kernel itself writes: clocks, counters and tracepoints. A user without
// privileges may record clocks and counters of user code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/sample_source.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/machine/system_facts.h"
#include "record/processes/targets.h"
#include "record/scope/cgroup_watch.h"

namespace perftape::record {

// Fails with kPermission for an event that needs a BPF program, and with Sampler::kKernelForUser
// also for one of kernel code. The message names the event, the reason and `remedy`.
Status CheckKernelEvent(const EventSpec& spec, Sampler sampler, std::string_view remedy);

// Fails with kPermission if the kernel refuses all perf events to users, as the kernels of some
// distributions do with kernel.perf_event_paranoid above 2, or if a seccomp filter may refuse them.
Status CheckUserEvents(const EventMachine& machine, const SystemFacts& facts);

// What the kernel itself can record on this machine. `remedy` is a phrase of CheckKernelEvent.
EventMachine MachineOf(Sampler sampler, std::string remedy);

// Returns the events with the modifier u, as `perf record` adds it; cpu-clock if there are none.
// Those with the modifier k keep it.
std::vector<EventSpec> InUserCode(std::span<const EventSpec> specs);

// Sets the attributes of events whose samples the kernel writes. It walks the stack of user code by
// frame pointers with kFramePointers, and not at all otherwise.
void PlanForKernel(Sampler sampler, Callchains callchains, std::span<PlannedEvent> events);

// Sets the attributes of events that OpenForThreads (recorded_events.h) opens, beside those of
// PlanForKernel.
void PlanForThreads(const RecordedThreads& threads, std::span<PlannedEvent> events);

// The kernel writes the samples into the rings of the process events. This class only counts those
// that did not fit.
class KernelSamples final : public SampleSource {
 public:
  const MappedUnwindMaps& unwind_maps() const override { return no_maps_; }
  Status AttachTo(std::uint32_t, std::span<const CpuEvent>) override { return {}; }
  void DetachTracepoints() override {}
  Status StartMeasuring() override { return {}; }
  Status StopMeasuring() override { return {}; }
  Result<std::vector<LatencyCounts>> DrainLatency() override {
    return std::vector<LatencyCounts>();
  }
  std::uint64_t MissedRuns(std::uint32_t) const override { return 0; }
  Result<std::size_t> Drain(const std::function<void(Bytes)>&) override { return 0; }
  int poll_fd() const override { return -1; }
  // Almost all records in the rings are samples. The kernel does not say of which event the lost
  // ones were; they count for the first.
  bool CountLost(std::uint32_t cpu, std::uint64_t records) override;
  std::vector<wire_cpu> Counters(std::uint32_t event) const override;
  std::uint64_t SkippedHits() const override { return 0; }
  Status SwitchOff(std::uint32_t) override { return {}; }
  Status SwitchOn(std::uint32_t) override { return {}; }
  void RestartTimer(std::uint32_t, int) override {}
  Status FollowCgroup(std::uint32_t, const OpenCgroup&) override { return {}; }
  void SampleOneIn(std::uint32_t, std::uint64_t) override {}
  void RecordOnly(std::uint32_t, std::span<const int>) override {}

 private:
  MappedUnwindMaps no_maps_;
  std::vector<wire_cpu> lost_;  // by CPU; only ring_full is set
};

}  // namespace perftape::record
