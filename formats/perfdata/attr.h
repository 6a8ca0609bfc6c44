// SPDX-License-Identifier: Apache-2.0
// struct perf_event_attr, and the shape that it gives to the records of its event.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/abi.h"

namespace perftape::perfdata {

// struct perf_event_attr of include/uapi/linux/perf_event.h, all fields to Linux 6.18. Fields
// behind the end of a smaller attribute are zero.
struct EventAttr {
  std::uint32_t type = 0;
  std::uint32_t size = kSize;  // as stored; Encode writes this many bytes
  std::uint64_t config = 0;
  std::uint64_t sample_period = 0;  // or sample_freq, where kFreq is set
  std::uint64_t sample_type = 0;    // of SampleBit
  std::uint64_t read_format = 0;    // of ReadBit
  std::uint64_t flags = 0;          // of AttrFlag; the order of the bits is the same on any machine
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

  // PERF_ATTR_SIZE_VER5: every perf since 4.x reads it. perf refuses a file whose attributes are
  // larger than its own (128 for perf 6.1).
  static constexpr std::uint32_t kSize = 112;
  static constexpr std::uint32_t kSmallestSize = 64;  // PERF_ATTR_SIZE_VER0

  bool Has(AttrFlag flag) const { return (flags & flag) != 0; }
};

// The attribute at the start of `bytes`, which holds as many bytes as its size field says (64 where
// that is 0, as perf reads it). Fields beyond those known here are ignored. kTruncated, kCorrupt.
Result<EventAttr> DecodeAttr(Bytes bytes, std::endian order);

// Appends attr.size bytes: as the file stores it and, in native order, as perf_event_open(2) takes
// it.
void EncodeAttr(const EventAttr& attr, std::vector<std::byte>& out);

// How the records of an event are laid out: worked out once per attribute.
struct SampleFormat {
  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t regs_user_mask = 0;
  std::uint64_t regs_intr_mask = 0;
  bool sample_id_all = false;

  bool Has(SampleBit bit) const { return (sample_type & bit) != 0; }
  // Of the trailer that ends every kernel record but SAMPLE; 0 without sample_id_all.
  std::size_t trailer_size() const;
};
SampleFormat FormatOf(const EventAttr& attr);

// An event of the file: its attribute, its kernel ids and its name.
struct Event {
  EventAttr attr;
  SampleFormat format;
  std::vector<std::uint64_t> ids;  // one for each file descriptor (each CPU) it was opened with
  std::string name;  // "cpu-clock"; from EVENT_DESC, EVENT_UPDATE, or made of the attr
};

// perf's name for an event that the file does not name, with perf's modifiers: "cpu-clock",
// "cycles:HG" (guests were not left out), "raw 0x1a8".
std::string DefaultEventName(const EventAttr& attr);

}  // namespace perftape::perfdata
