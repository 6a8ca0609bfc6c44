// SPDX-License-Identifier: Apache-2.0
// Where the samples are that were asked for and did not arrive, by CPU and cause.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/wire.h"

namespace perftape::record {

// Samples that could not be delivered, by cause.
struct LossByCpu {
  int cpu = 0;
  std::uint64_t ring_full = 0;    // no room in our ring
  std::uint64_t no_scratch = 0;   // no memory to build the sample in
  std::uint64_t throttled = 0;    // the kernel stopped the timer: perf_event_max_sample_rate
  std::uint64_t skipped = 0;      // the kernel did not call our program while others used BPF
  std::uint64_t late = 0;         // the timer could not keep up with the rate
  std::uint64_t unexplained = 0;  // one of the three before; the kernel does not tell which

  std::uint64_t total() const {
    return ring_full + no_scratch + throttled + skipped + late + unexplained;
  }
  bool operator==(const LossByCpu&) const = default;
};

// A CPU whose timer interrupt was a millisecond or more late, often enough to matter: its
// hypervisor had stopped it, or its interrupts were off. Nothing could be sampled then, by anybody,
// and a stopped CPU runs nothing; so this is no loss.
struct StalledCpu {
  int cpu = 0;
  std::uint64_t stalled_ns = 0, sampled_ns = 0;

  bool operator==(const StalledCpu&) const = default;
};

// A CPU whose timer expired without a sample, and the kernel does not tell why: it skipped the
// program, which is a loss, or made no overflow because it hides the task that ran (some kernels
// do), and then `perf record` has no sample either.
struct SilentCpu {
  int cpu = 0;
  std::uint64_t expiries = 0;

  bool operator==(const SilentCpu&) const = default;
};

// An expiry of a timer that gave no sample is a loss if it was an overflow of the event, so that
// `perf record` would have got a sample of it, or would have been one but for throttling or a rate
// that is too high. Not every expiry is: a kernel may exclude tasks. Where the kernel side cannot
// tell these apart (bpf/wire.h: WIRE_UNDECIDED, WIRE_UNEXPLAINED), and where the timer was late,
// two percent of a CPU's samples are ordinary jitter and passed over.
class LossLedger {
 public:
  explicit LossLedger(std::uint64_t timer_period_ns) : period_ns_(timer_period_ns) {}

  struct NewLoss {
    std::uint32_t cpu = 0;
    std::uint64_t samples = 0;

    bool operator==(const NewLoss&) const = default;
  };

  // Takes the counters of all possible CPUs (BpfSession::Counters); what was lost since the last
  // time.
  std::vector<NewLoss> Update(std::span<const wire_cpu> counters);

  // The timer of `cpu` ran from `start_ns` to `end_ns` and is stopped now. What it missed since the
  // program was last called is in no counter of the kernel side: the next Update tells it.
  void CloseTimer(std::uint32_t cpu, const wire_cpu& counters, std::uint64_t start_ns,
                  std::uint64_t end_ns);

  // Of the CPUs that lost any, so far.
  std::vector<LossByCpu> losses() const;
  // Of the CPUs that stood still for more than one percent of the time.
  std::vector<StalledCpu> stalls() const;
  // Of the CPUs with expiries that cannot be told to be losses, beyond ordinary jitter.
  std::vector<SilentCpu> silences() const;

 private:
  struct Cpu {
    LossByCpu counted;                                      // by the kernel side
    std::uint64_t throttled_at_end = 0, silent_at_end = 0;  // after its last call
    std::uint64_t reported = 0;
    std::uint64_t undecided = 0, no_overflow = 0, stalled = 0, wanted = 0;
    std::uint64_t estimated = 0;  // of the undecided: what was skipped, never less than before
  };

  void CountUndecided();

  std::uint64_t period_ns_;
  bool has_decided_ = false;  // two overflows were seen within a tick of the kernel
  std::vector<Cpu> cpus_;     // the index is the CPU
};

}  // namespace perftape::record
