// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/elf_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "formats/elf/build_id.h"
#include "formats/elf/libelf_handle.h"

namespace perftape::elf {
namespace {

constexpr std::uint64_t kPageMask = 4095;

std::vector<Segment> LoadSegments(const ElfFile::Handle& handle) {
  std::vector<Segment> segments;
  std::size_t count = 0;
  if (elf_getphdrnum(handle.elf, &count) != 0) return segments;
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(handle.elf, static_cast<int>(i), &header) == nullptr) break;
    if (header.p_type != PT_LOAD || header.p_filesz == 0) continue;
    segments.push_back({.offset = {header.p_offset},
                        .address = {header.p_vaddr},
                        .size = header.p_filesz,
                        .executable = (header.p_flags & PF_X) != 0});
  }
  return segments;
}

std::vector<Segment> LoadedSections(const ElfFile::Handle& handle) {
  std::vector<Segment> segments;
  const bool has_addresses = handle.header.e_type != ET_REL;
  ForEachSection(handle, [&](Elf_Scn*, const GElf_Shdr& header) {
    if (!IsLoaded(header) || header.sh_size == 0) return;
    segments.push_back({.offset = {header.sh_offset},
                        .address = {has_addresses ? header.sh_addr : header.sh_offset},
                        .size = header.sh_size,
                        .executable = (header.sh_flags & SHF_EXECINSTR) != 0});
  });
  return segments;
}

Status OpenLibelf(ElfFile::Handle& handle) {
  elf_version(EV_CURRENT);
  // libelf wants it writable, but writes only where it is told to update.
  auto* image = reinterpret_cast<char*>(const_cast<std::byte*>(handle.image.data()));
  if (!handle.image.empty()) handle.elf = elf_memory(image, handle.image.size());
  if (handle.elf == nullptr || elf_kind(handle.elf) != ELF_K_ELF ||
      gelf_getehdr(handle.elf, &handle.header) == nullptr) {
    return Fail(ErrorCode::kCorrupt, "not an ELF file");
  }
  return {};
}

}  // namespace

Result<ElfFile> ElfFile::Open(const std::filesystem::path& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return FailErrno(path.native(), errno);
  if (!S_ISREG(status.st_mode)) {
    return Fail(ErrorCode::kUnsupported, path.native() + ": not a regular file");
  }
  auto handle = std::make_unique<Handle>();
  TRY_ASSIGN(handle->mapping, MappedFile::Open(path));
  handle->image = handle->mapping->bytes();
  if (auto opened = OpenLibelf(*handle); !opened) {
    return Fail(InContext(path.native(), std::move(opened).error()));
  }
  return ElfFile(std::move(handle));
}

Result<ElfFile> ElfFile::FromBytes(Bytes image) {
  auto handle = std::make_unique<Handle>();
  handle->image = image;
  TRY(OpenLibelf(*handle));
  return ElfFile(std::move(handle));
}

ElfFile::ElfFile(std::unique_ptr<Handle> handle)
    : handle_(std::move(handle)),
      segments_(LoadSegments(*handle_)),
      build_id_(BuildIdOf(handle_->image).value_or(BuildId{})) {
  if (segments_.empty()) segments_ = LoadedSections(*handle_);
}

ElfFile::ElfFile(ElfFile&& other) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&& other) noexcept = default;
ElfFile::~ElfFile() = default;

std::optional<ImageAddress> ElfFile::ToImage(FileOffset offset) const {
  const Segment* best = nullptr;
  int best_rank = 0;
  for (const Segment& segment : segments_) {
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
  // Modulo 2^64: right also where the offset lies before the segment.
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
