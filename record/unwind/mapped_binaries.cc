// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapped_binaries.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "formats/base/regular_file.h"
#include "formats/elf/index_cache.h"
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

// Returns the address in the file's own terms of the start of an executable mapping. A linker may
// put code and other segments into the same page of the file, which is then mapped for each of them
// at another address. So the offset alone does not tell the address.
std::optional<ImageAddress> ImageStart(const elf::ElfFile& elf, const perfdata::Region& region) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (const elf::Segment& segment : elf.segments()) {
    const std::uint64_t offset = segment.offset.value;
    if (!segment.executable || region.page_offset < offset / page * page ||
        region.page_offset >= offset + segment.size) {
      continue;
    }
    return ImageAddress{segment.address.value + (region.page_offset - offset)};
  }
  return elf.ToImage(FileOffset{region.page_offset});
}

}  // namespace

MappedBinaries::MappedBinaries(const UnwindMaps& maps)
    : cache_(elf::UsualIndexCache()), store_(maps) {}

MappedBinaries::Contents MappedBinaries::ReadVdso() const {
  Contents contents;
  Result<elf::ElfFile> elf = elf::ElfFile::FromBytes(VdsoOfThisProcess());
  contents.is_unreadable = !elf;
  if (!elf) return contents;
  contents.elf.emplace(*std::move(elf));
  ReadTable(contents);
  return contents;
}

// A file that is not ELF holds code that was compiled at run time.
MappedBinaries::Contents MappedBinaries::Read(const Mapping& mapping) const {
  const perfdata::Region& region = mapping.region;
  if (region.dso->path == perfdata::kVdsoMappingName && region.start >= kEndOf32BitAddresses) {
    return ReadVdso();
  }
  Contents contents;
  if (HasNoFile(region.dso->path)) return contents;
  const Result<UniqueFd> fd = OpenMapped(mapping.pid, region);
  contents.is_unreadable = !fd;
  if (!fd) return contents;
  Result<MappedFile> file = MappedFile::FromFd(fd->get(), region.dso->path);
  contents.is_unreadable = !file;
  if (!file) return contents;
  contents.file.emplace(*std::move(file));
  Result<elf::ElfFile> elf = elf::ElfFile::FromBytes(contents.file->bytes());
  if (!elf) return contents;
  contents.elf.emplace(*std::move(elf));
  ReadTable(contents);
  return contents;
}

void MappedBinaries::ReadTable(Contents& contents) const {
  Result<unwind::Table> table = cache_.Load(*contents.elf);
  if (table && !table->empty()) contents.table.emplace(*std::move(table));
}

// A binary without a table was compiled with frame pointers, if its chains are to be complete.
MappedBinaries::Binary MappedBinaries::Store(Contents contents, std::uint64_t now_ns) {
  Binary binary;
  binary.file = std::move(contents.file);
  binary.elf = std::move(contents.elf);
  binary.table = WIRE_UNWIND_BY_FP;
  if (!contents.table) return binary;
  binary.base = contents.table->base();
  binary.table = store_.Add(*std::move(contents.table), now_ns).value_or(WIRE_UNWIND_UNKNOWN);
  return binary;
}

void MappedBinaries::ReadAll(std::span<const Mapping> mappings, std::uint64_t now_ns) {
  std::unordered_map<const perfdata::Dso*, std::size_t> numbers;
  std::vector<const Mapping*> unread;
  for (const Mapping& mapping : mappings) {
    const perfdata::Dso* const dso = mapping.region.dso;
    if (binaries_.contains(dso) || !numbers.emplace(dso, unread.size()).second) continue;
    unread.push_back(&mapping);
  }
  std::vector<Contents> contents(unread.size());
  std::atomic<std::size_t> next = 0;
  const auto read = [&] {
    for (std::size_t i = next++; i < unread.size(); i = next++) contents[i] = Read(*unread[i]);
  };
  constexpr std::size_t kBinariesPerThread = 8, kMostThreads = 8;
  const std::size_t threads =
      std::min({unread.size() / kBinariesPerThread, kMostThreads,
                static_cast<std::size_t>(std::thread::hardware_concurrency())});
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(read);
  read();
  for (std::thread& other : others) other.join();
  for (std::size_t i = 0; i < unread.size(); ++i) {
    if (contents[i].is_unreadable) continue;  // another process may give access to it
    binaries_.emplace(unread[i]->region.dso, Store(std::move(contents[i]), now_ns));
  }
}

wire_unwind_mapping MappedBinaries::WireMapping(const Mapping& mapping) {
  const perfdata::Region& region = mapping.region;
  wire_unwind_mapping wire = {
      .start = region.start, .end = region.end, .bias = 0, .table = WIRE_UNWIND_UNKNOWN, .pad = 0};
  const auto found = binaries_.find(region.dso);
  if (found == binaries_.end()) {
    const auto waiting = std::ranges::find_if(unread_, [&](const std::vector<Mapping>& mappings) {
      return mappings.front().region.dso == region.dso;
    });
    if (waiting != unread_.end()) {
      waiting->push_back(mapping);
    } else {
      unread_.push_back({mapping});
    }
    return wire;
  }
  const Binary& binary = found->second;
  wire.table = binary.table;
  if (!binary.elf || binary.table >= WIRE_UNWIND_UNKNOWN) return wire;
  const auto image = ImageStart(*binary.elf, region);
  if (!image) {
    wire.table = WIRE_UNWIND_UNKNOWN;
    return wire;
  }
  wire.bias = region.start - (image->value - binary.base.value);
  return wire;
}

std::vector<std::uint32_t> MappedBinaries::ReadNext(std::uint64_t now_ns) {
  if (unread_.empty()) return {};
  const std::vector<Mapping> mappings = std::move(unread_.front());
  unread_.pop_front();
  for (const Mapping& mapping : mappings) {
    Contents contents = Read(mapping);
    if (contents.is_unreadable) continue;  // another process may give access to it
    binaries_.emplace(mapping.region.dso, Store(std::move(contents), now_ns));
    std::vector<std::uint32_t> processes;
    for (const Mapping& ready : mappings) processes.push_back(ready.pid);
    return processes;
  }
  return {};
}

}  // namespace perftape::record
