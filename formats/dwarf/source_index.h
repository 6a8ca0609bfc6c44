// SPDX-License-Identifier: Apache-2.0
// From addresses to source lines and to the functions that were inlined there, by an index that is
// built of each unit when the first address in it is asked for, in one pass. Asking a library per
// address costs milliseconds each; this costs some time per unit, and next to nothing per address.
//
//   if (auto index = SourceIndex::Open(image, debug_file, {.path = path})) {
//     index->Prepare(addresses);
//     for (const CallFrame& frame : index->Find(addresses[0])) …
//
// Reads DWARF 2 to 5, split or not, of either byte order, with what dwz moved into a supplementary
// file. Answers are those of llvm-symbolizer --inlines, before it looks into symbol tables.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/dwarf/unit_index.h"
#include "formats/dwarf/unit_map.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/searched_directories.h"

namespace perftape::dwarf {

// A function, and where in it the address, or the call of what was inlined, is.
struct CallFrame {
  // As the linker knows it; the source's name for it where DWARF does not tell that; empty where it
  // tells neither. Valid as long as the index.
  std::string_view function;
  // Absolute where that can be told; empty where unknown. Valid as long as the index.
  std::string_view filename;
  std::uint32_t line = 0;        // 0 where unknown
  std::uint32_t column = 0;      // 0 where unknown
  std::uint32_t start_line = 0;  // where the function begins; 0 where unknown
};

struct Surroundings {
  std::filesystem::path path = {};  // where the file with the DWARF lies; beside it are its parts
  const elf::ElfFile* shared = nullptr;    // its supplementary file (.gnu_debugaltlink), if any
  elf::SearchedDirectories searched = {};  // where its split units may be, besides
};

class SourceIndex {
 public:
  // `image` tells what is code, `dwarf` has the debug information; they may be the same, and must
  // outlive the index, as must `shared`. Null where `dwarf` has none.
  static std::unique_ptr<SourceIndex> Open(const elf::ElfFile& image, const elf::ElfFile& dwarf,
                                           const Surroundings& surroundings);
  ~SourceIndex();

  // Builds what `addresses` need, with as many threads as there are processors. Find does so for
  // its one address.
  void Prepare(std::span<const ImageAddress> addresses);

  // Innermost first; empty where no unit tells anything. Where only the line is known, there is one
  // frame without a function.
  std::vector<CallFrame> Find(ImageAddress address);

  // What was left out, for people: damaged units, split files that are not there. Empty if nothing.
  std::string problem() const;

  // How much is to be read for all units together; below some megabytes it is not worth keeping.
  std::uint64_t size() const;

  // The units that are built, to be kept for another time; and taking them up again. Which they
  // belong to is for the caller to know. A span must outlive the index.
  std::vector<std::byte> Save() const;
  // Takes nothing of what is damaged, or of another format.
  void Restore(Bytes saved);
  bool has_built() const;  // anything that was not restored

 private:
  struct Parts;
  explicit SourceIndex(std::unique_ptr<Parts> parts);
  void Build(std::span<const std::uint32_t> units);
  void BuildOne(std::uint32_t unit, UnitIndexBuilder& builder);

  std::unique_ptr<Parts> parts_;
};

}  // namespace perftape::dwarf
