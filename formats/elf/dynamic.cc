// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/dynamic.h"

#include <algorithm>
#include <cstdint>

#include "formats/elf/symbol_entries.h"

namespace perftape::elf {
namespace {

// Damaged files may have any number of entries.
constexpr std::size_t kMostLibraries = 1024;

void SplitAtColons(std::string_view list, std::vector<std::string_view>& out) {
  while (!list.empty() && out.size() < kMostLibraries) {
    const std::size_t colon = list.find(':');
    if (colon != 0) out.push_back(list.substr(0, colon));
    list.remove_prefix(colon == std::string_view::npos ? list.size() : colon + 1);
  }
}

}  // namespace

DynamicLinks ReadDynamicLinks(const ElfFile& file) {
  DynamicLinks links;
  const auto sections = file.sections();
  const auto found = std::ranges::find(sections, std::uint32_t{SHT_DYNAMIC}, &Section::type);
  if (found == sections.end() || found->link >= sections.size()) return links;
  const std::string_view strings = AsText(file.RawBytes(sections[found->link]));
  const auto text_at = [&](std::uint64_t offset) {
    const std::string_view rest =
        offset < strings.size() ? strings.substr(offset) : std::string_view();
    return rest.substr(0, rest.find('\0'));
  };
  // { word tag, value; }
  FieldReader at(file.RawBytes(*found), file.header());
  while (at.ok()) {
    std::uint64_t tag = DT_NULL, value = 0;
    at.Word(tag);
    at.Word(value);
    if (!at.ok() || tag == DT_NULL) break;
    if (tag == DT_NEEDED && links.needed.size() < kMostLibraries) {
      links.needed.push_back(text_at(value));
    }
    if (tag == DT_RUNPATH || tag == DT_RPATH) SplitAtColons(text_at(value), links.run_path);
  }
  return links;
}

std::vector<std::string_view> ReadImports(const ElfFile& file) {
  std::vector<std::string_view> names;
  for (const Section& section : file.sections()) {
    if (section.type != SHT_DYNSYM) continue;
    const SymbolEntries entries(file, section);
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const SymbolEntry entry = entries[i];
      if (entry.section == SHN_UNDEF && entry.name != 0) names.push_back(entries.NameOf(entry));
    }
  }
  return names;
}

}  // namespace perftape::elf
