// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/binary_contents.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "formats/perfdata/mapping_name.h"
#include "record/symbols/file_request.h"
#include "record/symbols/kernel_symbols.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kEndOf32BitAddresses = std::uint64_t{1} << 32;

// Code in memory without a file is of a compiler at run time, or the kernel's. Such compilers keep
// frame pointers.
bool HasNoFile(std::string_view name) {
  return perfdata::MayHoldJitCode(name) && !perfdata::MayHoldElfFile(name);
}

// A process may have as many mappings as segments, and each mapping looks for its segment.
constexpr std::size_t kMostSegments = 1024;

}  // namespace

unwind::TableLimits LimitsOfSmall(std::size_t rows) {
  unwind::TableLimits limits;
  limits.rows = rows;
  limits.bytes = std::uint64_t{8} << 20;
  limits.undescribed_bytes = std::uint64_t{256} << 10;
  limits.symbol_bytes = std::uint64_t{16} << 20;
  return limits;
}

// A linker may put code and other segments into the same page of the file, which is then mapped for
// each of them at another address. So the offset alone does not tell the address.
std::optional<ImageAddress> BinaryContents::StartOf(const perfdata::Region& region) const {
  if (!elf) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const auto segments = elf->segments().first(std::min(elf->segments().size(), kMostSegments));
  for (const elf::Segment& segment : segments) {
    const std::uint64_t offset = segment.offset.value;
    if (!segment.executable || region.page_offset < offset / page * page ||
        region.page_offset >= offset + segment.size) {
      continue;
    }
    return ImageAddress{segment.address.value + (region.page_offset - offset)};
  }
  return elf::ToImage(segments, FileOffset{region.page_offset});
}

std::uint64_t BinaryContents::table_bytes() const {
  std::uint64_t bytes = 0;
  if (table) bytes += table->rows().size_bytes() + table->rules().size_bytes();
  if (elf) bytes += elf->sections().size_bytes() + elf->segments().size_bytes();
  return bytes;
}

// /proc/PID/map_files leads to the file even if it was deleted, but needs privileges. The last path
// is of processes that have ended.
Result<UniqueFd> BinaryReader::OpenMapped(std::uint32_t pid, const perfdata::Region& region) const {
  if (perfdata::SourceOf(region.dso->path) == perfdata::MappingSource::kSpecial) {
    return Fail(ErrorCode::kNotFound, region.dso->path + ": not a file");
  }
  std::string_view name = perfdata::WithoutDeleted(region.dso->path);
  if (name.starts_with('/')) name.remove_prefix(1);
  const std::filesystem::path process = std::filesystem::path("/proc") / std::to_string(pid);
  for (const std::filesystem::path& path :
       {process / "map_files" / MapFileName(region), process / "root" / name,
        std::filesystem::path("/") / name}) {
    OpenedFile opened = files_.OpenMapped(pid, path, *region.dso);
    if (opened.outcome == FileOutcome::kOpened) return std::move(opened.file);
    if (opened.outcome == FileOutcome::kNoAnswer) break;
  }
  return Fail(ErrorCode::kNotFound, region.dso->path + ": cannot be opened");
}

void BinaryReader::ReadTable(const unwind::TableLimits& limits, BinaryContents& contents) const {
  Result<unwind::Table> table = tables_.Load(*contents.elf, limits);
  if (!table) return;
  contents.limit_reached = table->limit_reached();
  if (!table->empty()) contents.table.emplace(*std::move(table));
}

// A file that is not ELF holds code that was compiled at run time.
Result<std::shared_ptr<const BinaryContents>> BinaryReader::Read(
    std::uint32_t pid, const perfdata::Region& region, const unwind::TableLimits& limits) const {
  auto contents = std::make_shared<BinaryContents>();
  const std::string& path = region.dso->path;
  if (path == perfdata::kVdsoMappingName && region.start >= kEndOf32BitAddresses) {
    TRY_ASSIGN(elf::ElfFile elf, elf::ElfFile::FromBytes(VdsoOfThisProcess()));
    contents->elf.emplace(std::move(elf));
    ReadTable(limits, *contents);
    return contents;
  }
  if (HasNoFile(path)) return contents;
  TRY_ASSIGN(const UniqueFd fd, OpenMapped(pid, region));
  TRY_ASSIGN(MappedFile file, MappedFile::FromFd(fd.get(), path));
  contents->file.emplace(std::move(file));
  Result<elf::ElfFile> elf = elf::ElfFile::FromBytes(contents->file->bytes());
  if (!elf) return contents;
  contents->elf.emplace(*std::move(elf));
  ReadTable(limits, *contents);
  // The kernel reads the few pages again that are needed. All of them would count as our memory.
  const Bytes bytes = contents->file->bytes();
  (void)madvise(const_cast<std::byte*>(bytes.data()), bytes.size(), MADV_DONTNEED);
  return contents;
}

KnownBinaries::Key KnownBinaries::KeyOf(const perfdata::Dso& dso) {
  return {dso.path, dso.device, dso.inode, dso.build_id};
}

std::shared_ptr<const BinaryContents> KnownBinaries::Find(const perfdata::Dso& dso) const {
  const Key key = KeyOf(dso);
  const std::lock_guard lock(mutex_);
  const auto found = binaries_.find(key);
  return found == binaries_.end() ? nullptr : found->second;
}

void KnownBinaries::Add(const perfdata::Dso& dso, std::shared_ptr<const BinaryContents> contents) {
  Key key = KeyOf(dso);
  const std::lock_guard lock(mutex_);
  binaries_.insert_or_assign(std::move(key), std::move(contents));
}

void KnownBinaries::Remove(const perfdata::Dso& dso) {
  const Key key = KeyOf(dso);
  const std::lock_guard lock(mutex_);
  binaries_.erase(key);
}

}  // namespace perftape::record
