// SPDX-License-Identifier: Apache-2.0
// Go's pc-line table: the functions of a Go binary, and for each of its instructions the file, the
// line and the calls that were inlined there. As src/debug/gosym/pclntab.go and the runtime's
// tracebacks (src/runtime/symtab.go, symtabinl.go) read it.
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

// Views are of the file.
struct GoFrame {
  std::string_view function;     // "main.(*T).Method"
  std::string_view file;         // empty where unknown
  std::uint32_t line = 0;        // 0 where unknown
  std::uint32_t start_line = 0;  // where the function begins; 0 where unknown
};

class PcLineTable {
 public:
  // What it is read from: the table, and what the rest of the binary tells of it.
  struct Parts {
    Bytes table;
    std::endian order = std::endian::little;
    ImageAddress text;    // where the code begins, since 1.18
    Bytes function_data;  // from "go:func.*" on, since 1.18; empty where that is not known
  };
  // All of which must outlive it. kCorrupt where the table does not begin as one.
  static Result<PcLineTable> FromParts(const Parts& parts);

  // `file` must outlive the table. kNotFound where it is no Go binary, kUnsupported where it does
  // not tell where its code lies.
  static Result<PcLineTable> Read(const elf::ElfFile& file);

  // The function that `address` lies in, and before it those that were inlined there, innermost
  // first; empty where no function of Go's reaches. For a return address, one less. Calls that were
  // inlined are known since Go 1.18. O(log n), and the length of the function's own tables.
  std::vector<GoFrame> Find(ImageAddress address) const;

  std::uint64_t functions() const { return header_.functions; }
  ImageAddress entry(std::uint64_t function) const;

  // All of the file that was read, or will be, beside its ELF and section headers: what a copy of
  // it, with all offsets the same, must keep to give the same names. Empty of one from parts.
  std::vector<elf::FileRange> RangesRead() const;

 private:
  // What is told of a function: _func in src/runtime/runtime2.go.
  struct Record {
    std::uint64_t entry = 0;
    std::uint32_t name = 0, files = 0, lines = 0;  // offsets of its name and values by pc
    std::uint32_t unit = 0;                        // where its unit's files begin
    std::uint32_t start_line = 0;
    std::uint32_t inline_index = 0;                 // offset of values by pc; 0 without
    std::optional<std::uint32_t> inline_tree = {};  // offset from the function data
  };
  // A call that was inlined: inlinedCall in src/runtime/symtabinl.go.
  struct InlinedCall {
    std::uint32_t name = 0, parent_pc = 0, start_line = 0;
  };

  PcLineTable(const Parts& parts, const TableHeader& header) : parts_(parts), header_(header) {}

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
  const std::byte* file_ = nullptr;  // where the file's bytes begin, if it is of one
  Bytes module_data_;                // what of it told the parts
};

}  // namespace perftape::go
