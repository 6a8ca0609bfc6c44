// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/elf_file.h"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/base/regular_file.h"
#include "formats/base/symbol_limits.h"
#include "formats/elf/build_id.h"
#include "formats/elf/stored_file.h"

namespace perftape::elf {
namespace {

constexpr std::uint64_t kPageMask = 4095;

// Debug files (objcopy --only-keep-debug) contain only the memory size of a segment. Those from GNU
// ld have no offsets; then the offsets are computed from the addresses.
Segment SegmentOf(const ProgramHeader& header, std::uint64_t first_address) {
  Segment segment = {.offset = {header.offset},
                     .address = {header.address},
                     .size = header.file_size,
                     .executable = (header.flags & PF_X) != 0};
  if (header.file_size == 0 && segment.executable) {
    segment.size = header.memory_size;
    if (header.offset == 0) segment.offset.value = header.address - first_address;
  }
  return segment;
}

std::vector<Segment> LoadSegments(std::span<const ProgramHeader> headers) {
  std::vector<Segment> segments;
  std::optional<std::uint64_t> first_address;
  for (const ProgramHeader& header : headers) {
    if (header.type != PT_LOAD) continue;
    if (!first_address) first_address = header.address - header.offset;
    const Segment segment = SegmentOf(header, *first_address);
    if (segment.size != 0) segments.push_back(segment);
  }
  return segments;
}

// Includes code sections without bytes, as in debug files.
std::vector<Segment> LoadedSections(std::span<const Section> sections, std::uint16_t file_type) {
  std::vector<Segment> segments;
  const bool has_addresses = file_type != ET_REL;
  for (const Section& section : sections) {
    if ((!section.is_loaded() && !section.is_code()) || section.size == 0) continue;
    segments.push_back({.offset = {section.offset},
                        .address = {has_addresses ? section.address : section.offset},
                        .size = section.size,
                        .executable = section.is_code()});
  }
  return segments;
}

}  // namespace

Result<ElfFile> ElfFile::Open(const std::filesystem::path& path) {
  ElfFile file;
  file.path_ = path;
  TRY_ASSIGN(file.mapping_, MapRegularFile(path));
  file.image_ = file.mapping_->bytes();
  if (IsCompressed(file.image_)) {
    auto expanded = ExpandFile(file.image_, symbol_limits::kExpandedFile);
    if (!expanded) return Fail(InContext(path.native(), std::move(expanded).error()));
    file.owned_ = *std::move(expanded);
    file.image_ = file.owned_;
    file.mapping_.reset();
  } else if (IsBootImage(file.image_)) {
    return Fail(ErrorCode::kUnsupported, path.native() + ": " + std::string(kBootImage));
  }
  auto decoded = Decode(std::move(file));
  if (!decoded) return Fail(InContext(path.native(), std::move(decoded).error()));
  return decoded;
}

Result<ElfFile> ElfFile::FromBytes(Bytes image) {
  ElfFile file;
  file.image_ = image;
  return Decode(std::move(file));
}

Result<ElfFile> ElfFile::Owning(std::vector<std::byte> image) {
  ElfFile file;
  file.owned_ = std::move(image);
  file.image_ = file.owned_;
  return Decode(std::move(file));
}

Result<ElfFile> ElfFile::Decode(ElfFile file) {
  TRY_ASSIGN(file.header_, ReadFileHeader(file.image_));
  file.sections_ = ReadSections(file.image_, file.header_);
  file.segments_ = LoadSegments(ReadProgramHeaders(file.image_, file.header_));
  if (file.segments_.empty()) {
    file.segments_ = LoadedSections(file.sections_, file.header_.type);
  }
  file.build_id_ = BuildIdOf(file.image_).value_or(BuildId{});
  return file;
}

const Section* ElfFile::FindSection(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

Bytes ElfFile::RawBytes(const Section& section) const {
  if (section.type == SHT_NOBITS || section.type == SHT_NULL) return {};
  if (section.offset >= image_.size()) return {};
  const Bytes rest = image_.subspan(section.offset);
  return rest.first(std::min<std::uint64_t>(section.size, rest.size()));
}

std::optional<ImageAddress> ElfFile::ToImage(FileOffset offset) const {
  return elf::ToImage(segments_, offset);
}

std::optional<ImageAddress> ToImage(std::span<const Segment> segments, FileOffset offset) {
  const Segment* best = nullptr;
  int best_rank = 0;
  for (const Segment& segment : segments) {
    const std::uint64_t first_page = segment.offset.value & ~kPageMask;
    if (offset.value < first_page) continue;
    const bool inside = offset >= segment.offset;
    if (inside && offset.value - segment.offset.value >= segment.size) continue;
    const int rank = 1 + (segment.executable ? 1 : 0) + (inside ? 2 : 0);
    if (rank > best_rank) {
      best = &segment;
      best_rank = rank;
    }
  }
  if (best == nullptr) return std::nullopt;
  // Modulo 2^64, so it is right even if the offset is before the segment.
  return ImageAddress{offset.value - best->offset.value + best->address.value};
}

std::optional<FileOffset> ElfFile::ToFile(ImageAddress address) const {
  for (const Segment& segment : segments_) {
    if (address < segment.address) continue;
    const std::uint64_t distance = address.value - segment.address.value;
    if (distance < segment.size) return FileOffset{segment.offset.value + distance};
  }
  return std::nullopt;
}

}  // namespace perftape::elf
