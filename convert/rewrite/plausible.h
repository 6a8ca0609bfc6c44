// SPDX-License-Identifier: Apache-2.0
// Whether bytes that claim to be a record are one: its type is known, its size is that of its type,
// and it reads under the format of an event that the file has.
#pragma once

#include <cstdint>
#include <string>

#include "formats/base/bytes.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"

namespace perftape::rewrite {

enum class Fit : std::uint8_t {
  kExact,   // as long as its type and its event's format make it
  kLoose,   // it reads, but bytes are left over, or its misc has bits that nobody sets
  kBroken,  // it does not read: perf would stop at it, or at what follows
};

// What is wrong with a record that does not fit exactly; a literal, empty where nothing is.
struct Judgement {
  Fit fit = Fit::kExact;
  const char* reason = "";
};

// Judges the body of a record whose size is true, or counts too much as the kernel's may
// (formats/perfdata/kernel_size.h). Without events (their attributes are not known
// yet) the records of the kernel are judged by their smallest size only. Takes time that does not
// follow the record's size, but for a name's, of which 4 KiB are looked at.
Judgement Judge(const perfdata::RecordView& stored, const perfdata::EventTable& events);

// COMPRESSED and COMPRESSED2: records inside.
bool IsCompressed(perfdata::RecordType type);

// Whether the header of a whole record of unknown type may be sound: of a newer perf, or of another
// tool's own types, such as simpleperf's from 32769 on. Only its header can be judged.
bool MayBeForeign(const perfdata::RecordView& record);

// A record's frame: its header, and how many bytes it takes.
struct Frame {
  perfdata::RecordView record;
  std::uint64_t size = 0;  // with the bytes behind it, which its own size does not count
};

enum class Framing : std::uint8_t {
  kWhole,      // all of it is there
  kCut,        // it says that it is longer than what is there, or its header is not whole
  kNotAFrame,  // its size is less than its header's
};

// The frame that begins at the front of `bytes`. `frame` is filled in as far as its header is
// there; its offset is left 0.
Framing ReadFrame(Bytes bytes, std::endian order, Frame& frame);

}  // namespace perftape::rewrite
