// SPDX-License-Identifier: Apache-2.0
// The off-CPU samples of perf record --off-cpu since Linux 6.16. Their values are in RAW, and most
// other fields are those of the code that wrote the sample (tools/perf/util/bpf_skel/off_cpu.bpf.c,
// tools/perf/util/bpf_off_cpu.c, off_cpu_write). Before 6.16 the event had no RAW.
#pragma once

#include <cstdint>
#include <optional>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/kernel_records.h"

namespace perftape::perfdata {

// perf writes the sums of short waits at the end of a recording, with the times
// 0xffffffff00000000, 0xffffffff00000001 and so on (bpf_off_cpu.c, OFF_CPU_TIMESTAMP).
inline constexpr std::uint64_t kFirstOffCpuSumTime = ~std::uint64_t{0} << 32;

// Whether the event writes BPF_OUTPUT with RAW. Unless it has the name kOffCpuTime, it may be
// another event.
bool IsBpfOutputWithRaw(const EventAttr& attr);

// Whether the samples of the event have their values in RAW (evsel.c, evsel__is_offcpu_event).
bool HasOffCpuRaw(const Event& event);

struct OffCpuRaw {
  std::uint32_t pid = 0, tid = 0;
  std::uint64_t off_cpu_ns = 0;
  WordArray callchain = {};  // leaf first, PERF_CONTEXT_USER before it; a view of RAW
  std::uint64_t cgroup = 0;
};

// The values in RAW; nothing if it is shorter than its fields.
std::optional<OffCpuRaw> DecodeOffCpuRaw(Bytes raw, std::endian order);

}  // namespace perftape::perfdata
