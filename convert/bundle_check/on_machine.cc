// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "convert/bundle_check/bundle_check.h"
#include "formats/elf/debug_search_paths.h"
#include "formats/elf/elf_file.h"

namespace perftape::bundle_check {
namespace {

using bundle::FileKind;

// Sections that names and lines need. Files of the same build id may differ in having them.
constexpr std::array<std::string_view, 2> kSections = {".symtab", ".debug_info"};

bool Has(const elf::ElfFile& file, std::string_view name) {
  const elf::Section* section = file.FindSection(name);
  return section != nullptr && section->type != SHT_NULL && section->type != SHT_NOBITS;
}

bool LacksNothingOf(const elf::ElfFile& file, const elf::ElfFile& other) {
  return std::ranges::all_of(
      kSections, [&](std::string_view name) { return Has(file, name) || !Has(other, name); });
}

std::vector<std::filesystem::path> PathsOf(const bundle::BundledFile& file) {
  std::vector<std::filesystem::path> paths;
  if (file.path.starts_with('/')) paths.emplace_back(file.path);
  if (file.kind == FileKind::kDebug) {
    const auto by_id =
        elf::SearchPathsIn("/usr/lib/debug", file.build_id, elf::BuildIdFile::kDebug, file.path);
    paths.insert(paths.end(), by_id.begin(), by_id.end());
  }
  return paths;
}

}  // namespace

bool IsOnMachine(const bundle::BundledFile& file, Bytes content) {
  if (file.kind != FileKind::kElf && file.kind != FileKind::kDebug) return false;
  const Result<elf::ElfFile> bundled = elf::ElfFile::FromBytes(content);
  if (!bundled) return false;
  return std::ranges::any_of(PathsOf(file), [&](const std::filesystem::path& path) {
    const Result<elf::ElfFile> here = elf::ElfFile::Open(path);
    return here && !here->build_id().empty() && here->build_id().Matches(file.build_id) &&
           LacksNothingOf(*here, *bundled);
  });
}

}  // namespace perftape::bundle_check
