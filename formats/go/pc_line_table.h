// SPDX-License-Identifier: Apache-2.0
// Go's pc-line table. It contains the functions of a Go binary, and for each instruction the file,
// the line and the inlined calls. The decoding follows src/debug/gosym/pclntab.go and the runtime's
// tracebacks (src/runtime/symtab.go, symtabinl.go).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/go/pclntab.h"

namespace perftape::go {

// The names are views of the file.
struct GoFrame {
  std::string_view function;     // "main.(*T).Method"
  std::string_view file;         // empty if unknown
  std::uint32_t line = 0;        // 0 if unknown
  std::uint32_t start_line = 0;  // first line of the function; 0 if unknown
};

class PcLineTable {
 public:
  // The inputs: the table, and facts from the rest of the binary.
  struct Parts {
    Bytes table;
    std::endian order = std::endian::little;
    ImageAddress text;    // start of the code, since Go 1.18
    Bytes function_data;  // from "go:func.*" on, since Go 1.18; empty if unknown
  };
  // All parts must outlive the table. Returns kCorrupt if its header is invalid.
  static Result<PcLineTable> FromParts(const Parts& parts);

  // `file` must outlive the table. Returns kNotFound if it is not a Go binary, and kUnsupported if
  // the address of its code is unknown.
  static Result<PcLineTable> Read(const elf::ElfFile& file);

  // Finds the function at `address`, after the functions that were inlined there, innermost first.
  // Empty if no Go function contains the address. For a return address, subtract one. Inlined calls
  // are available since Go 1.18. O(log n), plus the length of the function's own tables.
  std::vector<GoFrame> Find(ImageAddress address) const;
  // Whether a function begins at `address`.
  bool IsEntry(ImageAddress address) const;

  std::uint64_t functions() const { return header_.functions; }
  // The start of a function, by its index in the table. The highest address if there is none.
  ImageAddress entry(std::uint64_t function) const;
  // The name of a function, by its index; a view of the file. Empty if its record is damaged.
  std::string_view name(std::uint64_t function) const;

  // How much of the stack a function uses from an instruction on, without the return address.
  struct StackUse {
    std::uint64_t start = 0;  // address
    std::int32_t bytes = 0;   // from the stack pointer to that at the function's entry
  };
  // All of a function, by its index, in order of addresses. Empty if the table does not contain
  // them, as for a damaged record.
  std::vector<StackUse> stack_use(std::uint64_t function) const;

  // The ranges of the file that are read, besides the ELF header and section headers. A copy with
  // the same offsets must keep them to give the same names. Empty for a table from parts.
  std::vector<elf::FileRange> RangesRead() const;

 private:
  // The fields of a function: _func in src/runtime/runtime2.go.
  struct Record {
    std::uint64_t entry = 0;
    // Offsets of its name and values by pc.
    std::uint32_t name = 0, stack_use = 0, files = 0, lines = 0;
    std::uint32_t unit = 0;  // index of its unit's first file
    std::uint32_t start_line = 0;
    std::uint32_t inline_index = 0;                 // offset of values by pc; 0: none
    std::optional<std::uint32_t> inline_tree = {};  // offset in the function data
  };
  // An inlined call: inlinedCall in src/runtime/symtabinl.go.
  struct InlinedCall {
    std::uint32_t name = 0, parent_pc = 0, start_line = 0;
  };

  PcLineTable(const Parts& parts, const TableHeader& header) : parts_(parts), header_(header) {}

  // The index of the first function that begins after the address.
  std::uint64_t FirstAfter(ImageAddress address) const;
  // From the fields of a function on, to the end of the table.
  std::optional<Bytes> RecordBytes(std::uint64_t function) const;
  std::optional<Record> RecordOf(std::uint64_t function) const;
  void ReadInlining(Bytes tables, std::uint32_t value_tables, std::uint8_t data_tables,
                    Record& made) const;
  std::int32_t ValueAt(std::uint32_t table, std::uint64_t entry, std::uint64_t pc) const;
  std::optional<InlinedCall> CallOf(const Record& record, std::int32_t index) const;
  GoFrame FrameAt(const Record& record, std::uint64_t pc) const;
  std::string_view FileOf(const Record& record, std::int32_t number) const;
  std::string_view TextAt(std::uint64_t table, std::uint64_t offset) const;

  Parts parts_;
  TableHeader header_;
  const std::byte* file_ = nullptr;  // the first byte of the file; null for a table from parts
  Bytes module_data_;                // the part of it that was read
};

}  // namespace perftape::go
