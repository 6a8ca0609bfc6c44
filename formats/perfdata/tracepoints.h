// SPDX-License-Identifier: Apache-2.0
// The tracepoints in TRACING_DATA by id, which is the config of their attribute: their names, and
// the fields of their samples' RAW. The section contains tracefs files (tracing_files.h). Each
// describes one tracepoint (kernel/trace/trace_events.c, f_show):
//
//   name: sched_process_exec
//   ID: 365
//   format:
//           field:int common_pid;   offset:4;       size:4; signed:1;
//
//           field:__data_loc char[] filename;       offset:8;       size:4; signed:0;
//           field:pid_t pid;        offset:12;      size:4; signed:1;
//
//   print fmt: "filename=%s pid=%d", __get_str(filename), REC->pid
//
// `print fmt` is not interpreted here. Values are written as libtraceevent writes a field without
// it (tep_print_field_content of event-parse.c).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/record.h"

namespace perftape::perfdata {

struct TracepointField {
  // What the bytes are. The type of the field decides it.
  enum class Content : std::uint8_t {
    kSigned,    // an integer of 1, 2, 4 or 8 bytes
    kUnsigned,  // the same
    kHex,       // the same, printed in hex: a pointer, or unsigned with "long" in its type
    kText,      // an array of char, up to its NUL
    kArray,     // any other array, or a struct: elements of element_size bytes
  };
  // Where the bytes are.
  enum class Storage : std::uint8_t {
    kInline,
    // The field is a u32: the offset from the start of RAW in the low half, the size in the high
    // half. ("__data_loc")
    kDataLocation,
    // The same, with the offset from the end of this field. ("__rel_loc", Linux 5.17)
    kRelativeLocation,
  };

  std::string name;  // "prev_comm"
  std::uint32_t offset = 0, size = 0;
  Content content = Content::kUnsigned;
  Storage storage = Storage::kInline;
  std::uint8_t element_size = 1;  // 1, 2, 4 or 8

  // Whether all tracepoints have the field. perf script does not print such fields.
  bool is_common() const { return name.starts_with("common_"); }
  // Whether the field is an integer at its offset.
  bool is_integer() const { return storage == Storage::kInline && IsInteger(content); }

  static bool IsInteger(Content content) {
    return content != Content::kText && content != Content::kArray;
  }
};

struct TracepointFormat {
  std::string name;  // "sched:sched_switch"
  std::uint64_t id = 0;
  std::endian order = std::endian::native;  // of RAW
  std::vector<TracepointField> fields;      // in the order of the file
  // What follows "print fmt:": PrintFormat interprets it (print_format.h).
  std::string print_format = {};

  // Returns the field of this name, or null.
  const TracepointField* Find(std::string_view field_name) const;
  // Returns the end of the last field, in bytes from the start of RAW. The bytes at a location are
  // after it.
  std::uint64_t fixed_size() const;
  // Returns the location with the highest offset, or null. Its bytes are the last of RAW.
  const TracepointField* last_location() const;
};

// The sizes of the machine that recorded.
struct TracingMachine {
  std::endian order = std::endian::native;
  std::uint8_t long_size = 8;
};

// Parses the text of a format file. The name has no subsystem. Lines that are no field are left
// out; without a line "ID:" or "name:", returns nothing.
std::optional<TracepointFormat> ParseTracepointFormat(std::string_view text,
                                                      const TracingMachine& machine = {});

using Tracepoints = std::map<std::uint64_t, std::shared_ptr<const TracepointFormat>>;

// Returns the formats that a TRACING_DATA record carries: after it, as perf writes them, or inside
// it, as simpleperf does. Nothing for other records. A view of the record.
Bytes TracingDataIn(const RecordView& record);

// Returns the tracepoints by id. Tracepoints after damage are missing.
Tracepoints ReadTracepoints(Bytes tracing_data);

// The value of a field in one sample.
struct FieldValue {
  TracepointField::Content content = TracepointField::Content::kUnsigned;
  std::uint64_t number = 0;    // of an integer; a signed one is extended to 64 bits
  std::string_view text = {};  // of a text; valid as long as `raw`
  Bytes array = {};            // of an array; the same
  std::uint8_t element_size = 1;
  std::endian order = std::endian::native;

  bool is_number() const { return TracepointField::IsInteger(content); }
  // The elements of an array, in the form "0x7f". Those after the last whole one are left out.
  std::vector<std::string> Elements() const;
};

// Reads a field from a sample's RAW. Returns nothing if the field is not completely in `raw`.
std::optional<FieldValue> ValueOf(const TracepointField& field, Bytes raw, std::endian order);

// "-1", "0xffff88817bece800", "swapper/0", "{0x1,0x2}". An array is written as the kernel's
// __print_array does.
std::string TextOf(const FieldValue& value);

}  // namespace perftape::perfdata
