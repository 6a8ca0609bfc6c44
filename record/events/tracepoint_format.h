// SPDX-License-Identifier: Apache-2.0
// The layout of a tracepoint's raw record: a format file of tracefs
// (Documentation/trace/events.rst, section 2.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

struct TracepointField {
  std::string name = {};
  std::uint16_t offset = 0;
  std::uint16_t size = 0;
  bool is_signed = false;
  bool is_array = false;     // "char comm[16]"
  bool is_location = false;  // of variable length: __data_loc or __rel_loc
  bool is_relative_location = false;

  // Whether a condition can compare it.
  bool is_integer() const {
    return !is_array && !is_location && (size == 1 || size == 2 || size == 4 || size == 8);
  }
};

struct TracepointFormat {
  std::uint16_t id = 0;                 // the config of its perf event
  std::vector<TracepointField> fields;  // with those that all tracepoints have (common_pid)

  // The end of the last field with a fixed offset.
  std::uint16_t fixed_size() const;
  // The last field of variable length, or null.
  const TracepointField* last_location() const;
  const TracepointField* Find(std::string_view field) const;
};

// Fails with kCorrupt if the text has no id or no fields, or a field beyond the largest record.
Result<TracepointFormat> ParseTracepointFormat(std::string_view text);

}  // namespace perftape::record
