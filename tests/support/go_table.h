// SPDX-License-Identifier: Apache-2.0
// Makes Go's pc-line tables for tests, of any version, word size and byte order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/go/pclntab.h"

namespace perftape {

// A value for all instructions before `end`, which is an offset from the function's entry.
struct GoValue {
  std::uint32_t end = 0;
  std::int32_t value = 0;
};

struct GoInlinedCall {
  std::string name;
  std::uint32_t parent_pc = 0;  // offset from the function's entry
  std::uint32_t start_line = 0;
};

struct GoFunction {
  std::uint64_t entry = 0;  // since Go 1.18 an offset from the start of the code
  std::string name;
  std::string file;
  std::uint32_t start_line = 0;
  std::vector<GoValue> lines = {};
  std::vector<GoValue> stack_use = {};
  std::vector<GoValue> inline_index = {};
  std::vector<GoInlinedCall> calls = {};
};

struct GoTable {
  std::vector<std::byte> table;
  std::vector<std::byte> function_data;
};

struct GoTableFormat {
  go::TableVersion version = go::TableVersion::kGo118;
  std::uint8_t word_size = 8;
  std::uint8_t pc_quantum = 1;
  std::endian order = std::endian::little;
  std::uint64_t text_start = 0;
};

// Returns a table of the functions, which are sorted by entry. The end of the last one is the end
// of the code.
GoTable MakeGoTable(const GoTableFormat& format, const std::vector<GoFunction>& functions,
                    std::uint64_t end);

}  // namespace perftape
