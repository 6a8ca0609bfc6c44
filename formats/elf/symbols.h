// SPDX-License-Identifier: Apache-2.0
// The functions of an ELF file, sorted by address. They are from .symtab, .dynsym, the procedure
// linkage table and MiniDebugInfo (.gnu_debugdata, an xz-compressed ELF file whose .symtab
// complements .dynsym). perf's rules choose among several names at an address, and determine the
// extent of symbols without a size (tools/perf/util/symbol.c: symbols__fixup_end,
// choose_best_symbol). So names agree with perf report. Names are linkage names; they are not
// demangled.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/elf/candidates.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct Symbol {
  std::string_view name;  // without "@VERSION"; linkage table entries as "memcpy@plt"
  ImageAddress start;
  std::uint64_t size = 0;  // never 0
};

// Returns the ELF file in .gnu_debugdata. Returns nothing if there is none or if it is damaged.
std::optional<ElfFile> ReadMiniDebugInfo(const ElfFile& file);

class SymbolTable {
 public:
  // Reads as much of the tables as possible. A file without tables gives an empty SymbolTable. The
  // views point into `file` and `debug_file`, which must outlive the table, but may be moved.
  static SymbolTable Read(const ElfFile& file);
  // The same, with the .symtab of the separate debug file (objcopy --only-keep-debug).
  static SymbolTable Read(const ElfFile& file, const ElfFile& debug_file);

  // A move does not change the addresses of the symbols.
  SymbolTable(SymbolTable&&) noexcept = default;
  SymbolTable& operator=(SymbolTable&&) noexcept = default;
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;
  ~SymbolTable() = default;

  // Finds the function at `address`, the innermost of nested ones. Null if there is none. Valid as
  // long as the table. O(log n), or O(1) if functions are spread evenly.
  const Symbol* Find(ImageAddress address) const;

  std::span<const Symbol> symbols() const { return symbols_; }  // sorted by start, which is unique
  // The number of ignored symbols with an invalid section or name.
  std::uint64_t damaged() const { return counts_.damaged; }
  // The bytes of tables that were not read because they exceed symbol_limits.h.
  std::uint64_t left_out() const { return counts_.left_out; }

 private:
  // From `start` up to the next range, all addresses belong to one symbol, or to none.
  struct Range {
    ImageAddress start;
    std::uint32_t symbol;
  };

  SymbolTable() = default;
  static SymbolTable Build(std::span<const ElfFile* const> files);
  void Append(const ElfFile& file, std::vector<Candidate>& candidates);
  void CutIntoRanges();
  void IndexRanges();

  std::vector<Symbol> symbols_;
  std::vector<Range> ranges_;
  // first_in_[i] is the index of the first range that starts in or after stride i of the addresses.
  // Strides count from the start of the first range.
  std::vector<std::uint32_t> first_in_;
  unsigned stride_bits_ = 0;

  std::vector<ElfFile> embedded_;       // owned files that names view
  std::deque<std::string> made_names_;  // names that are in no string table
  CandidateCounts counts_;
};

}  // namespace perftape::elf
