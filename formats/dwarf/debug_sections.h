// SPDX-License-Identifier: Apache-2.0
// The DWARF sections of a file, expanded if they are compressed.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/sections.h"

namespace perftape::dwarf {

// The sections by their names in the file, without the suffix of split DWARF. A section that is
// absent or cannot be expanded is empty.
struct Sections {
  Bytes info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists, aranges;
  Bytes cu_index;  // of a .dwp
  std::endian order = std::endian::native;

  std::uint64_t size() const;  // of all sections together
};

// Selects ".debug_info" or ".debug_info.dwo".
enum class Part : std::uint8_t { kLinked, kSplit };

class LoadedSections {
 public:
  // Returns views of `file`, which must outlive the result. Reads nothing from a file whose
  // sections need relocation (an object file, a kernel module). problem() reports that, or which
  // section could not be expanded, and why.
  static LoadedSections Read(const elf::ElfFile& file, Part part);

  const Sections& get() const { return sections_; }
  const std::string& problem() const { return problem_; }

 private:
  Sections sections_;
  std::vector<elf::SectionBytes> expanded_;
  std::string problem_;
};

// Whether the file has a .debug_info, without which the other sections are useless.
bool HasDwarf(const elf::ElfFile& file, Part part);

}  // namespace perftape::dwarf
