// SPDX-License-Identifier: Apache-2.0
// The names in a binary: in one ELF file, and in all files that were found for it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convert/symbolize/debug_files.h"
#include "convert/symbolize/symbol_options.h"
#include "convert/symbolize/symbolizer.h"
#include "formats/base/addresses.h"
#include "formats/dwarf/source_index.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/index_cache.h"
#include "formats/elf/searched_directories.h"
#include "formats/elf/symbols.h"
#include "formats/go/pc_line_table.h"

namespace perftape::symbolize {

struct ElfNameOptions {
  const elf::ElfFile* lines = nullptr;  // a third file of the binary; its DWARF is preferred
  const elf::ElfFile* supplementary = nullptr;  // the part of the DWARF that dwz moved out
  elf::SearchedDirectories searched = {};       // for split units (.dwo)
  Demangling demangling = Demangling::kTemplates;
  SourceLines source_lines = SourceLines::kLinesAndInlines;
  std::filesystem::path index_cache = {};  // empty: no cache
};

// Resolves offsets in one ELF file to the name of the symbol that covers the offset. DWARF adds the
// source line and inlined functions. The outermost function is named by the symbol, as in perf and
// llvm-symbolizer. The symbol distinguishes copies that the compiler made of a function ("f.cold").
class ElfNames {
 public:
  ElfNames(const ElfNames&) = delete;
  ElfNames& operator=(const ElfNames&) = delete;
  // Also uses the names of `debug` if it is not null. The files must outlive this object.
  ElfNames(const elf::ElfFile& image, const elf::ElfFile* debug,
           const ElfNameOptions& options = {});
  // Stores new indexes in the cache.
  ~ElfNames();

  // The result has views of this object and of the files.
  Resolved Resolve(FileOffset offset);
  // Resolves many offsets at once, on all processors. The results are in the order of the offsets.
  std::vector<Resolved> ResolveAll(std::span<const FileOffset> offsets);

  // Returns why part of the debug information cannot be used, for messages; empty if all can be
  // used.
  std::string problem() const;

 private:
  struct Name {
    std::string shown;   // demangled
    std::string linker;  // empty if it is the same
  };

  bool IsWorthKeeping() const;
  elf::IndexCache LineCache() const;
  // `enclosing` is the linker name of the function around it; empty if there is none.
  const Name& Show(std::string_view linker_name, std::string_view enclosing = {});
  std::vector<SourceFrame> FramesAt(ImageAddress address);
  std::vector<SourceFrame> GoFramesAt(ImageAddress address);

  const elf::ElfFile& image_;
  const ElfNameOptions options_;
  elf::SymbolTable symbols_;
  elf::IndexCache::Entry restored_;            // the cached index of lines_
  std::unique_ptr<dwarf::SourceIndex> lines_;  // null: no DWARF, or not wanted
  std::optional<go::PcLineTable> go_lines_;  // nothing if it is no Go binary, or if DWARF has more
  // By the address of the name in the files; hashing that is faster than hashing names.
  struct HashView {
    std::size_t operator()(const std::pair<const char*, std::size_t>& view) const {
      return std::hash<const void*>()(view.first) ^ view.second;
    }
  };
  std::unordered_map<std::pair<const char*, std::size_t>, Name, HashView> shown_;
};

// A binary with all files that were found for it, and the names in them. Not thread-safe. Cannot be
// moved, because the names refer to the files.
class ElfBinary {
 public:
  ElfBinary(DebugFile found, const SymbolOptions& options);
  ElfBinary(const ElfBinary&) = delete;
  ElfBinary& operator=(const ElfBinary&) = delete;

  const DebugFile& file() const { return file_; }
  // Returns null if there is no image. The first call reads the symbols, and what locates the DWARF
  // of an address.
  ElfNames* names();

 private:
  DebugFile file_;
  const ElfNameOptions name_options_;
  std::unique_ptr<ElfNames> names_;
};

// Binaries that stay open, by what identifies them.
template <class Key>
using OpenBinaries = std::map<Key, std::unique_ptr<ElfBinary>>;

// Returns a binary that is open, or calls `find`, which returns one. A binary that was found by its
// build id serves all recordings of a run, as `shared_key` in `shared`. One that was not found, or
// that has no build id and so no `shared_key`, serves one recording, as `own_key` in `own`.
template <class SharedKey, class OwnKey, class Find>
ElfBinary& OpenOnce(OpenBinaries<SharedKey>& shared, const std::optional<SharedKey>& shared_key,
                    OpenBinaries<OwnKey>& own, const OwnKey& own_key, Find find) {
  if (shared_key) {
    if (const auto known = shared.find(*shared_key); known != shared.end()) return *known->second;
  }
  if (const auto known = own.find(own_key); known != own.end()) return *known->second;
  std::unique_ptr<ElfBinary> binary = find();
  const bool is_shared = shared_key && binary->file().image;
  return *((is_shared ? shared[*shared_key] : own[own_key]) = std::move(binary));
}

// Resolves all offsets. The source is reported with its content: "/usr/bin/ls (symbols, DWARF)". If
// no file was found, all offsets get its miss.
Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets);

}  // namespace perftape::symbolize
