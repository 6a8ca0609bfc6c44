// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/off_cpu_raw.h"

#include "formats/perfdata/event_meanings.h"

namespace perftape::perfdata {

bool IsBpfOutputWithRaw(const EventAttr& attr) {
  return attr.type == kTypeSoftware && attr.config == kSoftwareBpfOutput &&
         (attr.sample_type & kRaw) != 0 && (attr.sample_type & kCallchain) == 0;
}

bool HasOffCpuRaw(const Event& event) {
  return IsBpfOutputWithRaw(event.attr) && event.name == kOffCpuTime.name;
}

std::optional<OffCpuRaw> DecodeOffCpuRaw(Bytes raw, std::endian order) {
  OffCpuRaw values;
  ByteReader at(raw, order);
  std::uint64_t frames = 0;
  at.Fixed(values.pid);                // { u32 pid, tid;
  at.Fixed(values.tid);                //
  at.Fixed(values.off_cpu_ns);         //   u64 period;
  at.Fixed(frames);                    //   u64 nr;
  at.Words(values.callchain, frames);  //   u64 ips[nr];
  at.Fixed(values.cgroup);             //   u64 cgroup; }
  if (!at.ok()) return std::nullopt;
  return values;
}

}  // namespace perftape::perfdata
