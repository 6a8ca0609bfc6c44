// SPDX-License-Identifier: Apache-2.0
// Turns the overflows of events into samples: BPF programs (bpf_session.h), or the kernel itself
// (events/kernel_samples.h).
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "record/bpf/unwind_maps.h"
#include "record/rings/cpu_events.h"
#include "record/scope/cgroup_watch.h"

namespace perftape::record {

// Who takes the samples.
enum class Sampler : std::uint8_t {
  kPrograms,  // BPF programs
  kKernel,    // the kernel itself, of kernel and user code
  // The kernel itself: only user code of the user's own processes, but without privileges.
  kKernelForUser,
};

constexpr bool IsKernel(Sampler sampler) {
  return sampler != Sampler::kPrograms;
}

// Calls of a latency probe.
struct LatencyCounts {
  wire_latency_key key = {};
  wire_latency histogram = {};
};

// Not thread-safe.
class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // The maps for Callchains::kUnwindTables, which this object owns; empty otherwise.
  virtual const MappedUnwindMaps& unwind_maps() const = 0;

  // Makes each overflow of these events, or each hit of a tracepoint, a sample of event `event`.
  // The events must stay open. A tracepoint is attached once, for all CPUs; its samples start at
  // once.
  virtual Status AttachTo(std::uint32_t event, std::span<const CpuEvent> opened) = 0;
  // Ends the samples of tracepoints, which cannot be disabled.
  virtual void DetachTracepoints() = 0;

  // Start and stop measuring waits, if there are off-CPU events, and the calls of latency probes. A
  // wait that lasts longer than the recording is cut at both ends; such a call is not counted.
  // After StopMeasuring, the ring has the remaining samples.
  virtual Status StartMeasuring() = 0;
  virtual Status StopMeasuring() = 0;
  // Returns the calls of latency probes since the last call.
  virtual Result<std::vector<LatencyCounts>> DrainLatency() = 0;
  // Returns how often the kernel did not run a program of this latency probe, because the program
  // was already running on that CPU. At most this many calls are in no histogram. Counted since
  // Linux 6.1, which skips these runs. Makes a bpf(2) call for each program.
  virtual std::uint64_t MissedRuns(std::uint32_t event) const = 0;

  // Calls `on_message` for every message in the rings (bpf/wire.h: a wire_header and its body),
  // ring by ring, in the order of arrival, which is only roughly the order of time. The message is
  // valid during the call only. Reads at most as many bytes from each ring as it holds. Returns the
  // number of messages.
  virtual Result<std::size_t> Drain(const std::function<void(Bytes)>& on_message) = 0;

  // Is readable if WakeupBytes of messages (wire_settings.h) arrived in a ring since the last
  // Drain. So poll it with a timeout and drain in either case. It belongs to this object. -1 if
  // there are no messages.
  virtual int poll_fd() const = 0;

  // The ring of process events on `cpu` was full, and `records` records did not fit. Returns
  // whether they count as lost samples.
  virtual bool CountLost(std::uint32_t cpu, std::uint64_t records) = 0;

  // Returns the counters of an event on each possible CPU. The index is the CPU. Makes no system
  // call.
  virtual std::vector<wire_cpu> Counters(std::uint32_t event) const = 0;

  // Returns how many hits of tracepoints the kernel skipped, of any task and any of the events: it
  // calls no program on a CPU where bpf_prog_active is held (kernel/trace/bpf_trace.c,
  // trace_call_bpf). Counted since Linux 6.7; 0 before. Makes a bpf(2) call for each program, so
  // call it after the recording.
  virtual std::uint64_t SkippedHits() const = 0;

  // Switch the samples of an event off and on. Of a perf event that is open on each CPU, the caller
  // disables and enables the event itself, and calls these while it is disabled. Waits have one
  // switch for all their events: a wait is cut where they are switched. SwitchOff may be called
  // before AttachTo. Calls that change nothing have no effect.
  virtual Status SwitchOff(std::uint32_t event) = 0;
  virtual Status SwitchOn(std::uint32_t event) = 0;

  // The event was opened again on `cpu`: counts its missed expiries from here on. No event may be
  // running on the CPU.
  virtual void RestartTimer(std::uint32_t event, int cpu) = 0;

  // The cgroup of the scope with this index is this directory now. May be called while another
  // thread calls the other functions. Fails if the kernel refuses it.
  virtual Status FollowCgroup(std::uint32_t index, const OpenCgroup& cgroup) = 0;

  // From now on, only one in `divisor` wanted overflows of the event on a CPU is a sample
  // (wire_cpu.divisor). Makes no system call.
  virtual void SampleOneIn(std::uint32_t event, std::uint64_t divisor) = 0;

  // Records a tracepoint only on these CPUs. Call it before AttachTo.
  virtual void RecordOnly(std::uint32_t event, std::span<const int> cpus) = 0;

 protected:
  SampleSource() = default;
  SampleSource(SampleSource&&) = default;
  SampleSource& operator=(SampleSource&&) = default;
};

}  // namespace perftape::record
