// SPDX-License-Identifier: Apache-2.0
// The attributes of the events of a recording. A sampling event is a clock, a counter or a
// tracepoint. The sideband event is a dummy: it never fires, but reports process events (MMAP2,
// COMM, FORK, EXIT, KSYMBOL, BPF_EVENT). All attributes go into the file. Their record trailers are
// equal, because hotspot's perfparser reads every record with one of them.
#pragma once

#include <cstdint>
#include <variant>

#include "formats/perfdata/attr.h"
#include "record/processes/targets.h"

namespace perftape::record {

struct Frequency {
  std::uint64_t hz = 0;
};
struct Period {
  std::uint64_t count = 0;  // of the event; nanoseconds for cpu-clock
};
using SamplingRate = std::variant<Frequency, Period>;

// Returns a clock, another software event or a hardware event (`type` and `config` of perf_event.h)
// at `rate`, on CLOCK_MONOTONIC, which bpf_ktime_get_ns() reads. Samples the idle task as `perf
// record` does. The event is disabled until EnableAll.
perfdata::EventAttr CounterAttr(std::uint32_t type, std::uint64_t config, SamplingRate rate);

// Returns a tracepoint of which one hit in `every` is a sample. `id` is its number in tracefs. Its
// samples have the raw record.
perfdata::EventAttr TracepointAttr(std::uint64_t id, std::uint64_t every);

// Returns an event whose samples come from a BPF program: a probe of which one hit in `every` is a
// sample, or an off-CPU event, as perf uses for "offcpu-time". Readers show its name. The type of
// the kernel's PMU for probes would be unknown on another machine.
perfdata::EventAttr BpfOutputAttr(std::uint64_t every);

// Adds the registers and at most `stack_bytes` of the stack of user code to the samples. Then the
// callchain has only the kernel part, as in perf.
void AddUserState(std::uint32_t stack_bytes, perfdata::EventAttr& attr);

// Returns the interval at which the timer of an event with this rate expires. A frequency also
// becomes a fixed interval. The shortest is 10 us (kernel/events/core.c: perf_swevent_init_hrtimer,
// perf_swevent_hrtimer).
std::uint64_t TimerPeriodNs(SamplingRate rate);

// Optional contents of the sideband event.
struct SidebandContent {
  bool samples_have_cgroups = false;  // as those of the sampling events: all have the same fields
  bool cgroups = false;               // CGROUP: each new cgroup
  bool data_mappings = false;         // MMAP2 of memory that is not executable, too
  bool namespaces = false;            // NAMESPACES: each process that starts or changes its own
  bool bpf_events = true;             // BPF_EVENT: each program that is loaded or unloaded
  bool only_user_code = false;        // nothing of the kernel itself
  Inherit inherit = Inherit::kNo;     // kYes for an event of single threads
};

// Returns the dummy event ("dummy:HG" in perf), on the same clock. It reports as soon as it is
// open.
perfdata::EventAttr SidebandAttr(const SidebandContent& content = {});

// Returns `attr` without kernel code. The kernel lets users open it for their own threads
// (kernel.perf_event_paranoid up to 2).
perfdata::EventAttr AttrOfUserCode(perfdata::EventAttr attr);

// Returns `attr` for an event of single threads.
perfdata::EventAttr AttrForThreads(perfdata::EventAttr attr, Inherit inherit);

// Returns `attr` for an event whose samples a BPF program collects. It has no CALLCHAIN, because
// the program walks the stack and the kernel would walk it again, and no CGROUP, registers and
// stack, which the program reads, too. It has the fields that EnabledNs reads. Only a precise event
// keeps CALLCHAIN, without which the kernel refuses the program.
perfdata::EventAttr AttrForBpf(perfdata::EventAttr attr);

}  // namespace perftape::record
