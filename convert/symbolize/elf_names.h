// SPDX-License-Identifier: Apache-2.0
// Offsets in one ELF file to names: of the symbol that covers the offset, with the source line and
// what was inlined there where DWARF tells. The outermost function is named by the symbol, as perf
// and llvm-symbolizer do: it tells copies apart that the compiler made of a function ("f.cold").
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/symbolize/index_cache.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/base/addresses.h"
#include "formats/dwarf/source_index.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/searched_directories.h"
#include "formats/elf/symbols.h"
#include "formats/go/pc_line_table.h"

namespace perftape::symbolize {

struct ElfNameOptions {
  const elf::ElfFile* lines =
      nullptr;  // a third file of the binary, which is asked for DWARF first
  const elf::ElfFile* supplementary = nullptr;  // what dwz moved out of the image or its debug file
  elf::SearchedDirectories searched = {};       // for split units (.dwo)
  Demangling demangling = Demangling::kTemplates;
  SourceLines source_lines = SourceLines::kLinesAndInlines;
  std::filesystem::path index_cache = {};  // empty: none is kept
};

class ElfNames {
 public:
  ElfNames(const ElfNames&) = delete;
  ElfNames& operator=(const ElfNames&) = delete;
  // With the names of `debug` too, where there is one. The files must outlive this.
  ElfNames(const elf::ElfFile& image, const elf::ElfFile* debug,
           const ElfNameOptions& options = {});
  // Keeps what was built in the cache.
  ~ElfNames();

  // The answers are views of this and of the files.
  Resolved Resolve(FileOffset offset);
  // Many at once, on all processors. The answers are in the order of the offsets.
  std::vector<Resolved> ResolveAll(std::span<const FileOffset> offsets);

  // What of the debug information could not be used, for people; empty if there is no such thing.
  std::string problem() const;

 private:
  struct Name {
    std::string shown;   // demangled
    std::string linker;  // empty where it is no other
  };

  bool IsWorthKeeping() const;
  const Name& Show(std::string_view linker_name);
  std::vector<SourceFrame> FramesAt(ImageAddress address);
  std::vector<SourceFrame> GoFramesAt(ImageAddress address);

  const elf::ElfFile& image_;
  const ElfNameOptions options_;
  elf::SymbolTable symbols_;
  IndexCache::Entry restored_;                 // what of lines_ was built before
  std::unique_ptr<dwarf::SourceIndex> lines_;  // null: no DWARF, or none is wanted
  std::optional<go::PcLineTable> go_lines_;    // none: no Go binary, or its DWARF tells more
  // By where in the files the name is; hashing that is quicker than hashing names.
  struct HashView {
    std::size_t operator()(const std::pair<const char*, std::size_t>& view) const {
      return std::hash<const void*>()(view.first) ^ view.second;
    }
  };
  std::unordered_map<std::pair<const char*, std::size_t>, Name, HashView> shown_;
};

}  // namespace perftape::symbolize
