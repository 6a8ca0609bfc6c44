// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/reader_limits.h"

#include <algorithm>
#include <utility>

#include "formats/perfdata/record.h"

namespace perftape::rewrite {
namespace {

using perfdata::FeatureBit;
using perfdata::RecordType;

constexpr std::uint64_t kBranchBitsBeforeCounters = perfdata::kBranchCounters - 1;

// Bit 37 of the bit-field word is sigtrap, the last one before defer_callchain.
constexpr std::uint64_t kFlagsUpToSigtrap = perfdata::kDeferCallchain - 1;

// Since vector registers are recorded beside the general ones, bits from 24 on are general
// registers of APX on x86, the only processor with them (arch/x86/include/uapi/asm/perf_regs.h).
// Before that, they were vector registers.
constexpr std::uint64_t kGeneralRegistersBeforeApx = (std::uint64_t{1} << 24) - 1;

// Attribute sizes and record types were tried with each version. Branch counters exist since Linux
// 6.8.
constexpr ReaderLimits kReaders[] = {
    {.version = "6.1",
     .attr_size = 128,
     .last_kernel_type = RecordType::kAuxOutputHwId,
     .last_tool_type = RecordType::kFinishedInit,
     .last_feature = FeatureBit::kPmuCaps,
     .branch_sample_type = kBranchBitsBeforeCounters,
     .flags = kFlagsUpToSigtrap},
    {.version = "6.12",
     .attr_size = 136,
     .last_kernel_type = RecordType::kAuxOutputHwId,
     .last_tool_type = RecordType::kFinishedInit,
     .last_feature = FeatureBit::kPmuCaps,
     .branch_sample_type = ~std::uint64_t{0},
     .flags = kFlagsUpToSigtrap},
};

}  // namespace

bool ReaderLimits::Knows(RecordType type) const {
  const auto number = std::to_underlying(type);
  return IsKnown(type) &&
         number <= std::to_underlying(number < perfdata::kFirstToolType ? last_kernel_type
                                                                        : last_tool_type);
}

bool ReaderLimits::Knows(FeatureBit bit) const {
  return std::to_underlying(bit) <= std::to_underlying(last_feature);
}

perfdata::EventAttr ReaderLimits::Reduced(const perfdata::EventAttr& attr) const {
  perfdata::EventAttr reduced = attr;
  reduced.size = std::min(attr.size, attr_size);
  reduced.branch_sample_type &= branch_sample_type;
  reduced.flags &= flags;
  if (attr.simd_regs_enabled != 0) {
    reduced.sample_regs_user &= kGeneralRegistersBeforeApx;
    reduced.sample_regs_intr &= kGeneralRegistersBeforeApx;
    reduced.simd_regs_enabled = 0;  // beyond the size that is accepted
  }
  return reduced;
}

std::span<const ReaderLimits> AllReaderLimits() {
  return kReaders;
}

const ReaderLimits* FindReaderLimits(std::string_view version) {
  const auto* const found = std::ranges::find(kReaders, version, &ReaderLimits::version);
  return found == std::end(kReaders) ? nullptr : found;
}

}  // namespace perftape::rewrite
