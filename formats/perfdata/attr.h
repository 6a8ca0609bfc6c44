// SPDX-License-Identifier: Apache-2.0
// struct perf_event_attr, and the layout that it defines for the records of its event.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"

namespace perftape::perfdata {

struct TracepointFormat;  // tracepoints.h

// struct perf_event_attr of include/uapi/linux/perf_event.h with all fields up to those added after
// Linux 7.3. Fields beyond the end of a smaller attribute are zero.
struct EventAttr {
  std::uint32_t type = 0;
  std::uint32_t size = kSize;  // as stored; Encode writes this many bytes
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;  // or sample_freq, if kFreq is set
  std::uint64_t sample_type = 0;    // of SampleBit
  std::uint64_t read_format = 0;    // of ReadBit
  std::uint64_t flags = 0;          // of AttrFlag; the bit order is the same for all machines
  std::uint32_t wakeup_events = 0;
  std::uint32_t bp_type = 0;
  std::uint64_t config1 = 0;
  std::uint64_t config2 = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::uint32_t sample_stack_user = 0;
  std::int32_t clockid = 0;
  std::uint64_t sample_regs_intr = 0;
  std::uint32_t aux_watermark = 0;
  std::uint16_t sample_max_stack = 0;
  std::uint32_t aux_sample_size = 0;
  std::uint32_t aux_action = 0;
  std::uint64_t sig_data = 0;
  std::uint64_t config3 = 0;
  std::uint64_t config4 = 0;
  // Vector registers (PERF_ATTR_SIZE_VER10). A width is in words of 64 bits; masks are of
  // registers.
  std::uint16_t simd_regs_enabled = 0;
  std::uint16_t simd_predicate_words = 0, simd_vector_words = 0;
  std::uint32_t simd_predicates_intr = 0, simd_predicates_user = 0;
  std::uint64_t simd_vectors_intr = 0, simd_vectors_user = 0;

  // PERF_ATTR_SIZE_VER5, which every perf since 4.x reads. perf refuses a file whose attributes are
  // larger than its own struct perf_event_attr (128 bytes for perf 6.1).
  static constexpr std::uint32_t kSize = 112;
  static constexpr std::uint32_t kSmallestSize = 64;  // PERF_ATTR_SIZE_VER0

  bool Has(AttrFlag flag) const { return (flags & flag) != 0; }
};

// The attribute at the start of `bytes`. Its size field counts its bytes; perf and this function
// read 0 as 64. Fields beyond those of EventAttr are ignored. kTruncated if `bytes` has fewer than
// 64 bytes; kCorrupt if the size is below 64 or larger than `bytes`.
Result<EventAttr> DecodeAttr(Bytes bytes, std::endian order);

// Appends attr.size bytes in native order, the format of files and of perf_event_open(2).
void EncodeAttr(const EventAttr& attr, std::vector<std::byte>& out);

// The fields of an attribute that define the layout of its event's records.
struct SampleFormat {
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t regs_user_mask = 0;
  std::uint64_t regs_intr_mask = 0;
  bool sample_id_all = false;
  bool simd_regs = false;  // vector registers may follow the general ones

  bool Has(SampleBit bit) const { return (sample_type & bit) != 0; }
  // The size in bytes of the trailer, which ends every kernel record except SAMPLE. 0 without
  // sample_id_all.
  std::size_t trailer_size() const;
};
SampleFormat FormatOf(const EventAttr& attr);

// An event of the file: its attribute, its kernel ids and its name.
struct Event {
  EventAttr attr;
  SampleFormat format;
  std::vector<std::uint64_t> ids;  // one for each file descriptor of the event (one per CPU)
  std::string name;  // "cpu-clock"; from EVENT_DESC, EVENT_UPDATE, or DefaultEventName
  // The fields of RAW of a tracepoint, from TRACING_DATA. Null for other events, and if the format
  // is missing.
  std::shared_ptr<const TracepointFormat> tracepoint = {};
};

// perf's name for an event without a name in the file, with perf's modifiers: "cpu-clock",
// "cycles:HG" (guests are included), "raw 0x1a8".
std::string DefaultEventName(const EventAttr& attr);

}  // namespace perftape::perfdata
