// SPDX-License-Identifier: Apache-2.0
// The messages of profile.proto as plain structs. A text is an index of the string table, whose
// first entry is "". The writer chooses the ids of mappings, locations and functions. They are
// unique in their table and not 0, which means "none".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perftape::pprof {

using StringIndex = std::int64_t;

struct ValueType {
  StringIndex type = 0;  // "cpu"
  StringIndex unit = 0;  // "nanoseconds"
  bool operator==(const ValueType&) const = default;
};

// Either `str` or `num` is set. Go's parser drops a number 0 that has no unit, and an empty `str`.
struct Label {
  StringIndex key = 0;
  StringIndex str = 0;
  std::int64_t num = 0;
  StringIndex num_unit = 0;
  bool operator==(const Label&) const = default;
};

struct Sample {
  std::vector<std::uint64_t> location_ids = {};  // leaf first
  std::vector<std::int64_t> values = {};         // one for each sample type
  std::vector<Label> labels = {};
  bool operator==(const Sample&) const = default;
};

struct Mapping {
  std::uint64_t id = 0;
  std::uint64_t memory_start = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t file_offset = 0;  // offset in the file of memory_start
  StringIndex filename = 0;
  StringIndex build_id = 0;  // in hexadecimal
  // pprof does not resolve names itself if one of the first three is set.
  bool has_functions = false;
  bool has_filenames = false;
  bool has_line_numbers = false;
  bool has_inline_frames = false;
  bool operator==(const Mapping&) const = default;
};

struct Line {
  std::uint64_t function_id = 0;
  std::int64_t line = 0;
  std::int64_t column = 0;
  bool operator==(const Line&) const = default;
};

struct Location {
  std::uint64_t id = 0;
  std::uint64_t mapping_id = 0;
  std::uint64_t address = 0;     // in memory; for a caller, its return address - 1
  std::vector<Line> lines = {};  // innermost first
  bool is_folded = false;        // several functions share this code (identical code folding)
  // Our own field: 1 + the offset of the address from the start of its symbol; 0 if unknown. Other
  // readers skip it. Only the windows of perftape-serve have it.
  std::uint64_t symbol_offset = 0;
  bool operator==(const Location&) const = default;
};

struct Function {
  std::uint64_t id = 0;
  StringIndex name = 0;
  // pprof demangles and shortens `name` if both are equal, and shows it unchanged if not.
  StringIndex system_name = 0;
  StringIndex filename = 0;
  std::int64_t start_line = 0;
  bool operator==(const Function&) const = default;
};

// All fields of a Profile message except its tables.
struct Header {
  std::vector<ValueType> sample_types = {};
  StringIndex drop_frames = 0;  // regular expressions
  StringIndex keep_frames = 0;
  std::int64_t time_nanos = 0;  // wall clock, since 1970
  std::int64_t duration_nanos = 0;
  std::optional<ValueType> period_type = {};
  std::int64_t period = 0;
  std::vector<StringIndex> comments = {};
  StringIndex default_sample_type = 0;  // a `type`; 0: that of the last of sample_types
  StringIndex doc_url = 0;
  bool operator==(const Header&) const = default;
};

struct Profile {
  Header header = {};
  std::vector<Sample> samples = {};
  std::vector<Mapping> mappings = {};
  std::vector<Location> locations = {};
  std::vector<Function> functions = {};
  std::vector<std::string> string_table = {};
  bool operator==(const Profile&) const = default;
};

}  // namespace perftape::pprof
