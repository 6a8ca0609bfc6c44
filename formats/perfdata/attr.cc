// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/attr.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "formats/perfdata/kernel_events.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint32_t kFullSize = 176;  // PERF_ATTR_SIZE_VER10

// struct perf_event_attr, include/uapi/linux/perf_event.h.
template <class Cursor, class AttrRef>
void AttrLayout(Cursor& at, AttrRef& attr) {
  at.Fixed(attr.type);                // u32 type;
  at.Fixed(attr.size);                // u32 size;
  at.Fixed(attr.config);              // u64 config;
  at.Fixed(attr.sample_period);       // union { u64 sample_period, sample_freq; };
  at.Fixed(attr.sample_type);         // u64 sample_type;
  at.Fixed(attr.read_format);         // u64 read_format;
  at.Fixed(attr.flags);               // u64 disabled : 1, …;
  at.Fixed(attr.wakeup_events);       // union { u32 wakeup_events, wakeup_watermark; };
  at.Fixed(attr.bp_type);             // u32 bp_type;
  at.Fixed(attr.config1);             // union { u64 bp_addr, kprobe_func, uprobe_path, config1; };
  at.Fixed(attr.config2);             // union { u64 bp_len, kprobe_addr, probe_offset, config2; };
  at.Fixed(attr.branch_sample_type);  // u64 branch_sample_type;
  at.Fixed(attr.sample_regs_user);    // u64 sample_regs_user;
  at.Fixed(attr.sample_stack_user);   // u32 sample_stack_user;
  at.Fixed(attr.clockid);             // s32 clockid;
  at.Fixed(attr.sample_regs_intr);    // u64 sample_regs_intr;
  at.Fixed(attr.aux_watermark);       // u32 aux_watermark;
  at.Fixed(attr.sample_max_stack);    // u16 sample_max_stack;
  at.Padding(2);                      // u16 __reserved_2;
  at.Fixed(attr.aux_sample_size);     // u32 aux_sample_size;
  at.Fixed(attr.aux_action);          // union { u32 aux_action; … };
  at.Fixed(attr.sig_data);            // u64 sig_data;
  at.Fixed(attr.config3);             // u64 config3;
  at.Fixed(attr.config4);             // u64 config4;
  at.Fixed(attr.simd_regs_enabled);   // u16 sample_simd_regs_enabled;
  at.Fixed(attr.simd_predicate_words);  // u16 sample_simd_pred_reg_qwords;
  at.Fixed(attr.simd_vector_words);     // u16 sample_simd_vec_reg_qwords;
  at.Padding(2);                        // u16 __reserved_4;
  at.Fixed(attr.simd_predicates_intr);  // u32 sample_simd_pred_reg_intr;
  at.Fixed(attr.simd_predicates_user);  // u32 sample_simd_pred_reg_user;
  at.Fixed(attr.simd_vectors_intr);     // u64 sample_simd_vec_reg_intr;
  at.Fixed(attr.simd_vectors_user);     // u64 sample_simd_vec_reg_user;
}

// Compilers for big-endian machines allocate bit-fields from the most significant bit. After the
// bytes are swapped, the bits of the word are in reverse order. So are the bits of precise_ip (15
// and 16), the only field of two bits.
std::uint64_t ReversedFlags(std::uint64_t flags) {
  std::uint64_t reversed = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((flags >> bit & 1) != 0) reversed |= std::uint64_t{1} << (63 - bit);
  }
  constexpr std::uint64_t kPreciseIp = std::uint64_t{3} << kPreciseIpShift;
  const std::uint64_t precise = reversed >> kPreciseIpShift & 3;
  const std::uint64_t swapped = (precise >> 1 | precise << 1) & 3;
  return (reversed & ~kPreciseIp) | swapped << kPreciseIpShift;
}

// The modifiers that perf appends to the name of an event: ":u", ":pp", ":HG" (evsel__add_modifiers
// of tools/perf/util/evsel.c). H and G are omitted if exclude_guest has its default value: set
// without other modifiers, clear with them.
std::string Modifiers(const EventAttr& attr) {
  std::string modifiers;
  bool excludes_guest_by_default = false;
  if (attr.Has(kExcludeKernel) || attr.Has(kExcludeUser) || attr.Has(kExcludeHv)) {
    if (!attr.Has(kExcludeKernel)) modifiers += 'k';
    if (!attr.Has(kExcludeUser)) modifiers += 'u';
    if (!attr.Has(kExcludeHv)) modifiers += 'h';
    excludes_guest_by_default = true;
  }
  if (const std::uint64_t precise = attr.flags >> kPreciseIpShift & 3; precise != 0) {
    modifiers.append(precise, 'p');
    excludes_guest_by_default = true;
  }
  if (attr.Has(kExcludeHost) || attr.Has(kExcludeGuest) == excludes_guest_by_default) {
    if (!attr.Has(kExcludeHost)) modifiers += 'H';
    if (!attr.Has(kExcludeGuest)) modifiers += 'G';
  }
  return modifiers.empty() ? modifiers : ':' + modifiers;
}

}  // namespace

Result<EventAttr> DecodeAttr(Bytes bytes, std::endian order) {
  if (bytes.size() < EventAttr::kSmallestSize) {
    return Fail(ErrorCode::kTruncated,
                fmt::format("the attribute has {} bytes, fewer than the minimum of {}",
                            bytes.size(), EventAttr::kSmallestSize));
  }
  // perf: "if (sz == 0) sz = PERF_ATTR_SIZE_VER0" (header.c, read_attr).
  auto size = LoadFixed<std::uint32_t>(bytes.data() + 4, order);
  if (size == 0) size = EventAttr::kSmallestSize;
  if (size < EventAttr::kSmallestSize || size > bytes.size()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("the attribute declares {} bytes, but only {} are present", size,
                            bytes.size()));
  }
  EventAttr attr;
  ByteReader at(bytes.first(std::min(size, kFullSize)), order);
  AttrLayout(at, attr);
  attr.size = size;
  if (order != std::endian::native) attr.flags = ReversedFlags(attr.flags);
  return attr;
}

void EncodeAttr(const EventAttr& attr, std::vector<std::byte>& out) {
  const std::size_t start = out.size();
  ByteWriter at(out);
  AttrLayout(at, attr);
  out.resize(start + attr.size);
}

std::size_t SampleFormat::trailer_size() const {
  if (!sample_id_all) return 0;
  constexpr std::uint64_t kTrailerBits = kTid | kTime | kId | kStreamId | kCpu | kIdentifier;
  return sizeof(std::uint64_t) *
         static_cast<std::size_t>(std::popcount(sample_type & kTrailerBits));
}

SampleFormat FormatOf(const EventAttr& attr) {
  return {.sample_type = attr.sample_type,
          .read_format = attr.read_format,
          .branch_sample_type = attr.branch_sample_type,
          .regs_user_mask = attr.sample_regs_user,
          .regs_intr_mask = attr.sample_regs_intr,
          .sample_id_all = attr.Has(kSampleIdAll),
          .simd_regs = attr.simd_regs_enabled != 0};
}

std::string DefaultEventName(const EventAttr& attr) {
  if (const KernelEvent* const event = FindKernelEvent(attr.type, attr.config)) {
    return std::string(event->name) + Modifiers(attr);
  }
  if (attr.type == kTypeRaw) return fmt::format("raw {:#x}{}", attr.config, Modifiers(attr));
  // The name is in tracefs of the recording machine.
  if (attr.type == kTypeTracepoint) return fmt::format("tracepoint:{}", attr.config);
  return fmt::format("type {} config {:#x}", attr.type, attr.config);
}

}  // namespace perftape::perfdata
