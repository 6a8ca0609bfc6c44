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

// As they are named in a file, without what tells split DWARF from plain. A section that is not
// there, or cannot be expanded, is empty.
struct Sections {
  Bytes info, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists, aranges;
  Bytes cu_index;  // of a .dwp
  std::endian order = std::endian::native;

  std::uint64_t size() const;  // of all together
};

// ".debug_info", or ".debug_info.dwo".
enum class Part : std::uint8_t { kLinked, kSplit };

class LoadedSections {
 public:
  // Views of `file`, which must outlive this. There are none of a file whose sections refer to each
  // other by relocations (an object file, a kernel module). `problem` tells so, or which section
  // could not be expanded, and why.
  static LoadedSections Read(const elf::ElfFile& file, Part part);

  const Sections& get() const { return sections_; }
  const std::string& problem() const { return problem_; }

 private:
  Sections sections_;
  std::vector<elf::SectionBytes> expanded_;
  std::string problem_;
};

// Whether it is worth a look: without .debug_info there is nothing to tell.
bool HasDwarf(const elf::ElfFile& file, Part part);

}  // namespace perftape::dwarf
