// SPDX-License-Identifier: Apache-2.0
// The functions of an ELF file by address, from .symtab, .dynsym, the procedure linkage table, and
// MiniDebugInfo: .gnu_debugdata, an xz of an ELF file with a .symtab of what .dynsym has not.
// Which of several names an address gets, and how far a symbol without size reaches, follows perf
// (tools/perf/util/symbol.c: symbols__fixup_end, choose_best_symbol), so that names agree with perf
// report's; names are as the linker knows them, not demangled.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/elf/candidates.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct Symbol {
  std::string_view name;  // without "@VERSION"; entries of the linkage table as "memcpy@plt"
  ImageAddress start;
  std::uint64_t size = 0;  // never 0
};

class SymbolTable {
 public:
  // What can be read of the tables; a file without any gives an empty one. Views are of `file` and
  // of `debug_file`, which must outlive the table, but may be moved.
  static SymbolTable Read(const ElfFile& file);
  // The same, with the .symtab of the file's separate debug file (objcopy --only-keep-debug) added.
  static SymbolTable Read(const ElfFile& file, const ElfFile& debug_file);

  // Of what is moved, symbols stay where they are.
  SymbolTable(SymbolTable&&) noexcept = default;
  SymbolTable& operator=(SymbolTable&&) noexcept = default;
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;
  ~SymbolTable() = default;

  // The function that `address` lies in; of nested ones the innermost. Null where no symbol
  // reaches. Valid as long as the table. O(log n), and O(1) where functions are spread evenly.
  const Symbol* Find(ImageAddress address) const;

  std::span<const Symbol> symbols() const { return symbols_; }  // by start; one for each
  // Symbols left out since they contradict the file: no such section, a name outside its table.
  std::uint64_t damaged() const { return counts_.damaged; }
  // Bytes of tables that were not read, since they are larger than symbol_limits.h allows.
  std::uint64_t left_out() const { return counts_.left_out; }

 private:
  // From `start` up to the next range the address belongs to one symbol, or to none.
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
  // first_in_[i] is the first range that starts at or behind the i-th stride of addresses, counted
  // from the first range.
  std::vector<std::uint32_t> first_in_;
  unsigned stride_bits_ = 0;

  std::vector<ElfFile> embedded_;       // what names are views of besides the caller's files
  std::deque<std::string> made_names_;  // those that stand in no string table
  CandidateCounts counts_;
};

}  // namespace perftape::elf
