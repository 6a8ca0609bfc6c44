// SPDX-License-Identifier: Apache-2.0
// Counts the samples that were expected and did not arrive, by CPU and cause.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/wire.h"
#include "record/processes/targets.h"

namespace perftape::record {

// Lost samples by cause.
struct LossByCpu {
  int cpu = 0;
  std::uint64_t ring_full = 0;    // no space in the BPF ring buffer
  std::uint64_t no_scratch = 0;   // no memory to build the sample in
  std::uint64_t throttled = 0;    // by the kernel: perf_event_max_sample_rate
  std::uint64_t skipped = 0;      // the kernel did not call the program while others used BPF
  std::uint64_t late = 0;         // the timer could not keep up with the rate
  std::uint64_t unexplained = 0;  // one of the three above; the kernel does not report which

  std::uint64_t total() const {
    return ring_full + no_scratch + throttled + skipped + late + unexplained;
  }
  bool operator==(const LossByCpu&) const = default;
};

// A CPU whose timer interrupt was often a millisecond or more late: the hypervisor had stopped it,
// or its interrupts were off. No tool can sample then, and a stopped CPU runs nothing. So this is
// not a loss.
struct StalledCpu {
  int cpu = 0;
  std::uint64_t stalled_ns = 0, sampled_ns = 0;

  bool operator==(const StalledCpu&) const = default;
};

// A CPU whose timer expired without a sample for an unknown reason. Either the kernel skipped the
// program, which is a loss. Or it made no overflow because it hides the task that ran (some virtual
// machines hide the idle task); then `perf record` has no sample either.
struct SilentCpu {
  int cpu = 0;
  std::uint64_t expiries = 0;

  bool operator==(const SilentCpu&) const = default;
};

// A CPU on which the event overflowed while a task ran that is not recorded: perftape-record
// itself, or one that is not a target. Each hit of a tracepoint or a probe is an overflow. For a
// clock, missed expiries of its timer are included: together with the samples and the other missed
// expiries that are not jitter, these are all expiries on the CPU.
struct OtherTasks {
  int cpu = 0;
  std::uint64_t overflows = 0;

  bool operator==(const OtherTasks&) const = default;
};

// A timer expiry without a sample is a loss if it was an overflow of the event: `perf record` would
// have a sample. It is also a loss if only throttling or too high a rate prevented the overflow.
// Not every expiry is an overflow: a kernel may exclude tasks. The BPF program cannot always
// distinguish these cases (bpf/wire.h: WIRE_UNDECIDED, WIRE_UNEXPLAINED). Then, and if the timer
// was late, two percent of a CPU's samples are ordinary jitter and not counted.
class LossLedger {
 public:
  // A period of 0 means an event without a timer: only samples that were taken can be lost.
  explicit LossLedger(std::uint64_t timer_period_ns, SampledTasks tasks = SampledTasks::kSome)
      : period_ns_(timer_period_ns), tasks_(tasks) {}

  struct NewLoss {
    std::uint32_t cpu = 0;
    std::uint64_t samples = 0;

    bool operator==(const NewLoss&) const = default;
  };

  // Reads the counters of all possible CPUs (BpfSession::Counters). Returns the losses since the
  // last call.
  std::vector<NewLoss> Update(std::span<const wire_cpu> counters);

  // The timer of `cpu` ran from `start_ns` to `end_ns` and is stopped now. Estimates the expiries
  // that no counter has: those after the last call of the program and, if every task is sampled,
  // before the first one. The next Update returns the losses among them. The timer may run again.
  void CloseTimer(std::uint32_t cpu, const wire_cpu& counters, std::uint64_t start_ns,
                  std::uint64_t end_ns);

  // The CPUs that have lost samples so far.
  std::vector<LossByCpu> losses() const;
  // The CPUs that were stopped for more than one percent of the time.
  std::vector<StalledCpu> stalls() const;
  // The CPUs with more expiries of unknown cause than ordinary jitter.
  std::vector<SilentCpu> silences() const;
  // The CPUs on which tasks ran that are not recorded.
  std::vector<OtherTasks> other_tasks() const;

 private:
  struct Cpu {
    LossByCpu counted;                   // by the BPF program
    std::uint64_t throttled_at_end = 0;  // after its last call
    std::uint64_t silent_at_ends = 0;    // before its first call and after its last
    std::uint64_t reported = 0;
    std::uint64_t undecided = 0, no_overflow = 0, stalled = 0, wanted = 0;
    std::uint64_t of_others = 0;  // overflows, and expiries of a timer
    std::uint64_t closed = 0;     // expiries up to the last CloseTimer
    std::uint64_t estimated = 0;  // the share of `undecided` that was skipped; never decreases
  };

  static void CountUndecided(Cpu& cpu);
  std::uint64_t ExpiriesBetween(std::uint64_t expiry_ns, std::uint64_t end_ns) const;

  std::uint64_t period_ns_;
  SampledTasks tasks_;
  std::vector<Cpu> cpus_;  // the index is the CPU
};

}  // namespace perftape::record
