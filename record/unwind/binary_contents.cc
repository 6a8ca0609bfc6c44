// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/binary_contents.h"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>
#include <utility>

#include "formats/base/regular_file.h"
#include "formats/perfdata/mapping_name.h"
#include "record/symbols/kernel_symbols.h"
#include "record/symbols/mapped_file.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kEndOf32BitAddresses = std::uint64_t{1} << 32;

// Opens the file that the process has mapped. /proc/PID/map_files leads to it even if it was
// deleted, but needs privileges. The last path is of processes that have ended.
Result<UniqueFd> OpenMapped(std::uint32_t pid, const perfdata::Region& region) {
  std::string_view name = perfdata::WithoutDeleted(region.dso->path);
  if (name.starts_with('/')) name.remove_prefix(1);
  const std::filesystem::path process = std::filesystem::path("/proc") / std::to_string(pid);
  for (const std::filesystem::path& path :
       {process / "map_files" / MapFileName(region), process / "root" / name,
        std::filesystem::path("/") / name}) {
    const UniqueFd path_only(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (path_only && IsFileOf(*region.dso, path_only.get())) {
      return ReopenRegularFile(path_only, path.native());
    }
  }
  return Fail(ErrorCode::kNotFound, region.dso->path + ": cannot be opened");
}

// Code in memory without a file is of a compiler at run time, or the kernel's. Such compilers keep
// frame pointers.
bool HasNoFile(std::string_view name) {
  return perfdata::MayHoldJitCode(name) &&
         perfdata::SourceOf(name) != perfdata::MappingSource::kMemfd;
}

void ReadTable(const unwind::TableCache& tables, BinaryContents& contents) {
  Result<unwind::Table> table = tables.Load(*contents.elf);
  if (table && !table->empty()) contents.table.emplace(*std::move(table));
}

}  // namespace

// A linker may put code and other segments into the same page of the file, which is then mapped for
// each of them at another address. So the offset alone does not tell the address.
std::optional<ImageAddress> BinaryContents::StartOf(const perfdata::Region& region) const {
  if (!elf) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const elf::Segment& segment : elf->segments()) {
    const std::uint64_t offset = segment.offset.value;
    if (!segment.executable || region.page_offset < offset / page * page ||
        region.page_offset >= offset + segment.size) {
      continue;
    }
    return ImageAddress{segment.address.value + (region.page_offset - offset)};
  }
  return elf->ToImage(FileOffset{region.page_offset});
}

// A file that is not ELF holds code that was compiled at run time.
Result<std::shared_ptr<const BinaryContents>> ReadBinary(const unwind::TableCache& tables,
                                                         std::uint32_t pid,
                                                         const perfdata::Region& region) {
  auto contents = std::make_shared<BinaryContents>();
  if (region.dso->path == perfdata::kVdsoMappingName && region.start >= kEndOf32BitAddresses) {
    TRY_ASSIGN(elf::ElfFile elf, elf::ElfFile::FromBytes(VdsoOfThisProcess()));
    contents->elf.emplace(std::move(elf));
    ReadTable(tables, *contents);
    return contents;
  }
  if (HasNoFile(region.dso->path)) return contents;
  TRY_ASSIGN(const UniqueFd fd, OpenMapped(pid, region));
  TRY_ASSIGN(MappedFile file, MappedFile::FromFd(fd.get(), region.dso->path));
  contents->file.emplace(std::move(file));
  Result<elf::ElfFile> elf = elf::ElfFile::FromBytes(contents->file->bytes());
  if (!elf) return contents;
  contents->elf.emplace(*std::move(elf));
  ReadTable(tables, *contents);
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
