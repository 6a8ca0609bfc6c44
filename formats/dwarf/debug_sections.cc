// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/debug_sections.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace perftape::dwarf {
namespace {

struct KnownSection {
  std::string_view name;
  Bytes Sections::*member;
};

constexpr std::array kKnown = {
    KnownSection{".debug_info", &Sections::info},
    KnownSection{".debug_abbrev", &Sections::abbrev},
    KnownSection{".debug_line", &Sections::line},
    KnownSection{".debug_str", &Sections::str},
    KnownSection{".debug_line_str", &Sections::line_str},
    KnownSection{".debug_str_offsets", &Sections::str_offsets},
    KnownSection{".debug_addr", &Sections::addr},
    KnownSection{".debug_ranges", &Sections::ranges},
    KnownSection{".debug_rnglists", &Sections::rnglists},
    KnownSection{".debug_aranges", &Sections::aranges},
    KnownSection{".debug_cu_index", &Sections::cu_index},
};

// Null for a section that is not needed, or that belongs to the other part. The index of a package
// (.dwp) has no ".dwo" in its name, but belongs to the split part.
Bytes Sections::*MemberOf(std::string_view section, Part part) {
  constexpr std::string_view kSplitEnding = ".dwo";
  std::string name = elf::PlainName(section);
  const bool is_split = name.ends_with(kSplitEnding) || name == ".debug_cu_index";
  if (is_split != (part == Part::kSplit)) return nullptr;
  if (name.ends_with(kSplitEnding)) name.resize(name.size() - kSplitEnding.size());
  for (const KnownSection& known : kKnown) {
    if (known.name == name) return known.member;
  }
  return nullptr;
}

// Whether references between the sections still need relocation. That is so in object files and
// kernel modules, but not in the output of dwz, whose type is relocatable too.
bool NeedsRelocation(const elf::ElfFile& file) {
  return std::ranges::any_of(file.sections(), [](const elf::Section& section) {
    return (section.type == SHT_RELA || section.type == SHT_REL) &&
           section.name.find(".debug_") != std::string_view::npos && section.size != 0;
  });
}

}  // namespace

std::uint64_t Sections::size() const {
  std::uint64_t sum = 0;
  for (const KnownSection& known : kKnown) sum += (this->*known.member).size();
  return sum;
}

LoadedSections LoadedSections::Read(const elf::ElfFile& file, Part part) {
  LoadedSections loaded;
  loaded.sections_.order = file.header().order;
  if (file.header().type == ET_REL && part == Part::kLinked && NeedsRelocation(file)) {
    if (HasDwarf(file, part)) loaded.problem_ = "debug information of a file that was not linked";
    return loaded;
  }
  for (const elf::Section& section : file.sections()) {
    Bytes Sections::*const member = MemberOf(section.name, part);
    if (member == nullptr || !(loaded.sections_.*member).empty()) continue;
    auto bytes = elf::ReadSection(file, section);
    if (!bytes) {
      loaded.problem_ = std::move(bytes).error().message;
      continue;
    }
    loaded.sections_.*member = bytes->bytes();
    loaded.expanded_.push_back(*std::move(bytes));
  }
  return loaded;
}

bool HasDwarf(const elf::ElfFile& file, Part part) {
  const auto is_info = [part](const elf::Section& section) {
    return section.type != SHT_NOBITS && section.size != 0 &&
           MemberOf(section.name, part) == &Sections::info;
  };
  return std::ranges::any_of(file.sections(), is_info);
}

}  // namespace perftape::dwarf
