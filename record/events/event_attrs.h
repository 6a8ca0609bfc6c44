// SPDX-License-Identifier: Apache-2.0
// The two events of a recording: the clock that samples, and a dummy that never fires but reports
// what processes do (MMAP2, COMM, FORK, EXIT, KSYMBOL, BPF_EVENT). Both attributes go into the
// file; their trailers are equal, because hotspot's perfparser reads every record with one of them.
#pragma once

#include <cstdint>
#include <variant>

#include "formats/perfdata/attr.h"

namespace perftape::record {

struct Frequency {
  std::uint64_t hz = 0;
};
struct Period {
  std::uint64_t count = 0;  // of the event; nanoseconds for cpu-clock
};
using SamplingRate = std::variant<Frequency, Period>;

// "cpu-clock" at `rate`, on CLOCK_MONOTONIC, which is what bpf_ktime_get_ns() reads. Idle is
// sampled as `perf record` does. Disabled until EnableAll.
perfdata::EventAttr SamplingAttr(SamplingRate rate);

// How often the timer of such an event expires. A frequency, too, becomes a fixed period, and none
// is below 10 us (kernel/events/core.c: perf_swevent_init_hrtimer, perf_swevent_hrtimer).
std::uint64_t TimerPeriodNs(SamplingRate rate);

// The dummy event ("dummy:HG" in perf), on the same clock. It reports from the moment it is opened.
perfdata::EventAttr SidebandAttr();

// `attr` as the kernel should have it where a BPF program takes the samples: without CALLCHAIN, for
// the program walks the stack itself and the kernel would do it once more; and with what EnabledNs
// reads.
perfdata::EventAttr AttrForBpf(perfdata::EventAttr attr);

}  // namespace perftape::record
