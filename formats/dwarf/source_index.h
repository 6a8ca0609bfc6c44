// SPDX-License-Identifier: Apache-2.0
// Maps addresses to source lines and to the functions that were inlined there. The index of a unit
// is built in one pass when the first address in it is looked up. A library that is called per
// address needs milliseconds for each. This index costs some time per unit and very little per
// address.
//
//   if (auto index = SourceIndex::Open(image, debug_file, {.path = path})) {
//     index->Prepare(addresses);
//     for (const CallFrame& frame : index->Find(addresses[0])) …
//
// Reads DWARF 2 to 5, plain or split, of either byte order, with the entries that dwz moved into a
// supplementary file. Results equal those of llvm-symbolizer --inlines before it consults symbol
// tables.
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

// A function, and the source position of the address, or of the call that was inlined.
struct CallFrame {
  // The linkage name, or else the name in the source with its scope: namespaces and types, up to an
  // enclosing function. Empty if DWARF contains no name. Valid as long as the index.
  std::string_view function;
  // The linkage name of the function in which `function` is declared, as lambdas and members of
  // local classes are. Empty if there is none, or if `function` is a linkage name.
  std::string_view enclosing = {};
  // Absolute if the directory is known. Empty if unknown. Valid as long as the index.
  std::string_view filename;
  std::uint32_t line = 0;        // 0 if unknown
  std::uint32_t column = 0;      // 0 if unknown
  std::uint32_t start_line = 0;  // the first line of the function; 0 if unknown
};

struct Surroundings {
  // The path of the file with the DWARF. Split units are searched beside it.
  std::filesystem::path path = {};
  const elf::ElfFile* shared = nullptr;    // its supplementary file (.gnu_debugaltlink), or null
  elf::SearchedDirectories searched = {};  // more directories that may contain split units
};

class SourceIndex {
 public:
  // `image` determines what is code, and `dwarf` contains the debug information. They may be the
  // same file. Both and `shared` must outlive the index. Returns null if `dwarf` has no debug
  // information.
  static std::unique_ptr<SourceIndex> Open(const elf::ElfFile& image, const elf::ElfFile& dwarf,
                                           const Surroundings& surroundings);
  ~SourceIndex();

  // Builds the units that contain `addresses`, with up to one thread for each processor, at most 8.
  // Find does the same for its address.
  void Prepare(std::span<const ImageAddress> addresses);

  // Returns frames with the innermost first. Empty if no unit covers the address. If only the line
  // is known, returns one frame without a function.
  std::vector<CallFrame> Find(ImageAddress address);

  // A message about damaged units and missing split files, which were left out. Empty if there were
  // none.
  std::string problem() const;

  // The size of all DWARF sections in bytes. Below some megabytes, an index is not worth saving.
  std::uint64_t size() const;

  // Encodes the units that are built. The caller must identify the file to which they belong.
  std::vector<std::byte> Save() const;
  // Uses the units of a saved index, which must outlive this one. Ignores a damaged index and one
  // of another format or file.
  void Restore(Bytes saved);
  bool has_built() const;  // whether a unit was built, rather than restored

 private:
  struct Parts;
  explicit SourceIndex(std::unique_ptr<Parts> parts);
  void Build(std::span<const std::uint32_t> units);
  void BuildOne(std::uint32_t unit, UnitIndexBuilder& builder);

  std::unique_ptr<Parts> parts_;
};

}  // namespace perftape::dwarf
