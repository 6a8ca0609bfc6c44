// SPDX-License-Identifier: Apache-2.0
#include "formats/dwarf/split_units.h"

#include <algorithm>
#include <utility>

namespace perftape::dwarf {
namespace {

// The contributions of one unit to a package: { u32 offset; u32 size } for each listed section.
struct Contributions {
  Extent info, abbrev, str_offsets, rnglists;
};

// .debug_cu_index (DWARF 5, section 7.3.5.3): { u32 version (GNU), or u16 version and u16 padding;
// u32 sections, units, slots; u64 ids[slots]; u32 rows[slots]; u32 section ids[sections]; u32
// offsets[units][sections]; u32 sizes[units][sections] }. Rows count from 1; 0 marks a free slot.
class PackageIndex {
 public:
  PackageIndex(Bytes section, std::endian order) : section_(section), order_(order) {
    Cursor at(section_, 0, order_);
    version_ = at.Fixed<std::uint32_t>();
    if (version_ != 2) version_ = Cursor(section_, 0, order_).Fixed<std::uint16_t>();
    columns_ = at.Fixed<std::uint32_t>();
    rows_ = at.Fixed<std::uint32_t>();
    slots_ = at.Fixed<std::uint32_t>();
    if (!at.ok() || slots_ > at.remaining() / 12) slots_ = 0;
  }

  std::optional<Contributions> Find(std::uint64_t id) const {
    Cursor ids(section_, kHeader, order_);
    Cursor rows(section_, kHeader + 8 * slots_, order_);
    for (std::uint64_t i = 0; i < slots_; ++i) {
      const auto slot_id = ids.Fixed<std::uint64_t>();
      const auto row = rows.Fixed<std::uint32_t>();
      if (slot_id == id && row != 0 && row <= rows_) return Row(row);
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t kHeader = 16;

  std::optional<Contributions> Row(std::uint64_t row) const {
    const std::uint64_t table = kHeader + 12 * slots_, width = 4 * columns_;
    Cursor names(section_, table, order_);
    Cursor offsets(section_, table + width * row, order_);
    Cursor sizes(section_, table + width * (rows_ + row), order_);
    Contributions found;
    for (std::uint64_t i = 0; i < columns_ && names.ok(); ++i) {
      const auto name = names.Fixed<std::uint32_t>();
      const std::uint64_t start = offsets.Fixed<std::uint32_t>();
      const Extent extent = {start, start + sizes.Fixed<std::uint32_t>()};
      if (name == DW_SECT_INFO) found.info = extent;
      if (name == DW_SECT_ABBREV) found.abbrev = extent;
      if (name == DW_SECT_STR_OFFSETS) found.str_offsets = extent;
      if (name == DW_SECT_RNGLISTS && version_ >= 5) found.rnglists = extent;
    }
    if (!names.ok() || !offsets.ok() || !sizes.ok()) return std::nullopt;
    return found;
  }

  Bytes section_;
  std::endian order_;
  std::uint32_t version_ = 0;
  std::uint64_t columns_ = 0, rows_ = 0, slots_ = 0;
};

}  // namespace

Result<Unit> SplitUnits::Open(const Unit& skeleton, std::uint64_t& work) {
  const elf::LinkSearchPaths search_paths = SearchPathsOf(skeleton);
  std::string problem = search_paths.Refusal();
  for (const std::filesystem::path& path : search_paths.paths) {
    const Opened& opened = OpenFile(path);
    if (opened.file == nullptr) {
      if (problem.empty()) problem = opened.problem;
      continue;
    }
    if (auto unit = FindIn(*opened.file, skeleton, work)) return *std::move(unit);
  }
  if (!problem.empty()) problem = " (" + problem + ")";
  return Fail(ErrorCode::kNotFound, std::string(skeleton.dwo_name) + ": not found" + problem);
}

elf::LinkSearchPaths SplitUnits::SearchPathsOf(const Unit& skeleton) const {
  const std::filesystem::path name(skeleton.dwo_name), directory(skeleton.directory);
  std::filesystem::path beside = program_.parent_path();
  if (beside.empty() && !program_.empty()) beside = ".";
  elf::LinkSearchPaths search_paths;
  if ((directory / name).is_absolute()) {
    search_paths = elf::SearchPathsOfLink(name, directory, beside, searched_);
  }
  if (program_.empty()) return search_paths;
  std::filesystem::path package = program_;
  package += ".dwp";
  search_paths.paths.insert(search_paths.paths.begin(), std::move(package));
  for (const std::filesystem::path& part : {name.relative_path(), name.filename()}) {
    std::filesystem::path path = (beside / part).lexically_normal();
    if (elf::IsBelow(path, beside)) search_paths.paths.push_back(std::move(path));
  }
  return search_paths;
}

const SplitUnits::Opened& SplitUnits::OpenFile(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex_);
  const auto [known, is_new] = files_.try_emplace(path);
  Opened& opened = known->second;
  if (!is_new) return opened;
  auto elf = elf::ElfFile::Open(path);
  if (!elf) {
    if (elf.error().code != ErrorCode::kNotFound) opened.problem = std::move(elf).error().message;
    return opened;
  }
  if (!HasDwarf(*elf, Part::kSplit)) return opened;
  auto file = std::make_unique<File>(File{.elf = *std::move(elf)});
  file->sections = LoadedSections::Read(file->elf, Part::kSplit);
  const Sections& sections = file->sections.get();
  file->headers = ReadUnitHeaders(sections.info, sections.order);
  opened.file = std::move(file);
  return opened;
}

std::optional<Unit> SplitUnits::FindIn(const File& file, const Unit& skeleton,
                                       std::uint64_t& work) {
  const Sections& sections = file.sections.get();
  if (!sections.cu_index.empty()) return FindInPackage(file, skeleton, work);
  for (const UnitHeader& header : file.headers) {
    if (header.is_type_unit()) continue;
    auto unit = ReadSplitUnit(sections, header, {}, skeleton, work);
    if (unit && unit->dwo_id == skeleton.dwo_id) return *std::move(unit);
  }
  return std::nullopt;
}

std::optional<Unit> SplitUnits::FindInPackage(const File& file, const Unit& skeleton,
                                              std::uint64_t& work) {
  const Sections& sections = file.sections.get();
  const auto found =
      PackageIndex(sections.cu_index, sections.order).Find(skeleton.dwo_id.value_or(0));
  if (!found) return std::nullopt;
  const auto header =
      std::ranges::lower_bound(file.headers, found->info.start, {}, &UnitHeader::offset);
  if (header == file.headers.end() || header->offset != found->info.start) return std::nullopt;
  const UnitBases bases = {.abbrev = found->abbrev.start,
                           .str_offsets = found->str_offsets.start,
                           .rnglists = found->rnglists.start};
  auto unit = ReadSplitUnit(sections, *header, bases, skeleton, work);
  if (!unit) return std::nullopt;
  return *std::move(unit);
}

}  // namespace perftape::dwarf
