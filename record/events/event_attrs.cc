// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_attrs.h"

#include <algorithm>
#include <ctime>

#include "formats/base/duration.h"
#include "record/rings/user_registers.h"

namespace perftape::record {
namespace {

// Fields that all readers support. IDENTIFIER distinguishes the events, and both have the same
// fields in the trailer.
constexpr std::uint64_t kSampleType = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid |
                                      perfdata::kTime | perfdata::kCpu | perfdata::kPeriod |
                                      perfdata::kCallchain;

perfdata::EventAttr CommonAttr() {
  return {.type = perfdata::kTypeSoftware,
          .sample_type = kSampleType,
          .read_format = perfdata::kReadId,
          .flags = perfdata::kSampleIdAll | perfdata::kUseClockid,
          .clockid = CLOCK_MONOTONIC};
}

}  // namespace

perfdata::EventAttr CounterAttr(std::uint32_t type, std::uint64_t config, SamplingRate rate) {
  perfdata::EventAttr attr = CommonAttr();
  attr.type = type;
  attr.config = config;
  attr.flags |= perfdata::kDisabled | perfdata::kExcludeGuest;
  if (const Frequency* frequency = std::get_if<Frequency>(&rate)) {
    attr.flags |= perfdata::kFreq;
    attr.sample_period = frequency->hz;
  } else {
    attr.sample_period = std::get<Period>(rate).count;
  }
  return attr;
}

perfdata::EventAttr TracepointAttr(std::uint64_t id, std::uint64_t every) {
  perfdata::EventAttr attr = CommonAttr();
  attr.type = perfdata::kTypeTracepoint;
  attr.config = id;
  attr.sample_period = every;
  attr.sample_type |= perfdata::kRaw;
  attr.flags |= perfdata::kDisabled;
  return attr;
}

perfdata::EventAttr BpfOutputAttr(std::uint64_t every) {
  perfdata::EventAttr attr = CommonAttr();
  attr.config = perfdata::kSoftwareBpfOutput;
  attr.sample_period = every;
  attr.flags |= perfdata::kDisabled;
  return attr;
}

void AddUserState(std::uint32_t stack_bytes, perfdata::EventAttr& attr) {
  attr.sample_type |= perfdata::kRegsUser | perfdata::kStackUser;
  attr.sample_regs_user = kUserRegisterMask;
  attr.sample_stack_user = stack_bytes;
  attr.flags |= perfdata::kExcludeCallchainUser;
}

std::uint64_t TimerPeriodNs(SamplingRate rate) {
  constexpr std::uint64_t kShortestNs = 10'000;
  const Frequency* frequency = std::get_if<Frequency>(&rate);
  const std::uint64_t wanted = frequency != nullptr
                                   ? kNsPerSecond / std::max<std::uint64_t>(frequency->hz, 1)
                                   : std::get<Period>(rate).count;
  return std::max(wanted, kShortestNs);
}

perfdata::EventAttr SidebandAttr(const SidebandContent& content) {
  perfdata::EventAttr attr = CommonAttr();
  attr.config = perfdata::kSoftwareDummy;
  attr.sample_period = 1;
  attr.flags |= perfdata::kAttrMmap | perfdata::kAttrMmap2 | perfdata::kAttrComm |
                perfdata::kCommExec | perfdata::kTask;
  if (!content.only_user_code) attr.flags |= perfdata::kAttrKsymbol;
  if (!content.only_user_code && content.bpf_events) attr.flags |= perfdata::kAttrBpfEvent;
  if (content.samples_have_cgroups) attr.sample_type |= perfdata::kSampleCgroup;
  if (content.cgroups) attr.flags |= perfdata::kAttrCgroup;
  if (content.data_mappings) attr.flags |= perfdata::kAttrMmapData;
  if (content.namespaces) attr.flags |= perfdata::kAttrNamespaces;
  if (content.only_user_code) attr = AttrOfUserCode(attr);
  return AttrForThreads(attr, content.inherit);
}

perfdata::EventAttr AttrOfUserCode(perfdata::EventAttr attr) {
  attr.flags |= perfdata::kExcludeKernel | perfdata::kExcludeHv;
  return attr;
}

perfdata::EventAttr AttrForThreads(perfdata::EventAttr attr, Inherit inherit) {
  if (inherit == Inherit::kYes) attr.flags |= perfdata::kInherit;
  return attr;
}

perfdata::EventAttr AttrForBpf(perfdata::EventAttr attr) {
  attr.sample_type &= ~static_cast<std::uint64_t>(perfdata::kCallchain | perfdata::kSampleCgroup |
                                                  perfdata::kRegsUser | perfdata::kStackUser);
  attr.read_format |= perfdata::kReadTotalTimeEnabled;
  // The kernel lets a program walk the stack of a precise event only if it walks it, too
  // (kernel/events/core.c, perf_event_set_bpf_handler).
  if ((attr.flags >> perfdata::kPreciseIpShift & 3) != 0) {
    attr.sample_type |= perfdata::kCallchain;
    attr.flags &=
        ~std::uint64_t{perfdata::kExcludeCallchainKernel | perfdata::kExcludeCallchainUser};
  }
  return attr;
}

}  // namespace perftape::record
