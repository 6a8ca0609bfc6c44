// SPDX-License-Identifier: Apache-2.0
// Checks whether bytes are a record. A record has a known type and the size of that type, and can
// be decoded with the format of one of the file's events.
#pragma once

#include <cstdint>
#include <string>

#include "formats/base/bytes.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::rewrite {

enum class Fit : std::uint8_t {
  kExact,   // has the size that its type and its event's format require
  kLoose,   // can be decoded, but bytes are left over, or misc has unknown bits
  kBroken,  // cannot be decoded: perf would stop at it, or after it
};

// `reason` explains why a record is not kExact. It is a literal; empty for kExact.
struct RecordCheck {
  Fit fit = Fit::kExact;
  const char* reason = "";
};

// Checks the body of a record. Its size must be right, or too large in the way of the kernel
// (formats/perfdata/kernel_size.h). If `events` is empty, kernel records are only checked for their
// minimum size. The time does not depend on the record's size; of a name at most 4 KiB are read.
RecordCheck CheckRecord(const perfdata::RecordView& stored, const perfdata::EventTable& events);

// Returns whether a record of unknown type may be valid: from a newer perf, or another tool's own
// type, such as simpleperf's from 32769 on. Only the header is checked.
bool MayBeForeign(const perfdata::RecordView& record);

// A record's header, and the number of its bytes in the stream.
struct Frame {
  perfdata::RecordView record;
  std::uint64_t size = 0;  // including following bytes that header.size does not count
};

enum class Framing : std::uint8_t {
  kWhole,      // the whole record is present
  kCut,        // header.size exceeds the bytes, or the header is incomplete
  kNotAFrame,  // header.size is less than 8
};

// Reads the frame at the start of `bytes` into `frame`, as far as the header is present. Its
// file_offset stays 0.
Framing ReadFrame(Bytes bytes, std::endian order, Frame& frame);

}  // namespace perftape::rewrite
