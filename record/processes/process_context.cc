// SPDX-License-Identifier: Apache-2.0
#include "record/processes/process_context.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/otlp/process_context.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

using otlp::ProcessContextHeader;

// Of /proc/PID/maps: 65,530 mappings (vm.max_map_count) have less.
constexpr std::size_t kMostMapsBytes = std::size_t{8} << 20;

// Memory of the process that needs no file system.
struct Memory {
  std::uint64_t start = 0, end = 0;
  bool is_context = false;
};

// The device of all memfds and of shared memory without a file (shm_mnt in mm/shmem.c).
std::optional<dev_t> DeviceOfSharedMemory() {
  const UniqueFd file(memfd_create("perftape", MFD_CLOEXEC));
  struct stat status = {};
  if (!file || fstat(file.get(), &status) != 0) return std::nullopt;
  return status.st_dev;
}

bool NeedsNoFileSystem(const MapsLine& line) {
  if (line.device_major == 0 && line.device_minor == 0 && line.inode == 0) return true;
  static const std::optional<dev_t> shared = DeviceOfSharedMemory();
  return shared == gnu_dev_makedev(line.device_major, line.device_minor);
}

UniqueFd OpenOf(const std::filesystem::path& proc, std::uint32_t pid, const char* name) {
  return UniqueFd(open((proc / std::to_string(pid) / name).c_str(), O_RDONLY | O_CLOEXEC));
}

Result<std::string> ReadMaps(const UniqueFd& file) {
  std::string text;
  std::string part(std::size_t{64} << 10, '\0');
  while (text.size() < kMostMapsBytes) {
    const ssize_t got = read(file.get(), part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("maps", errno);
    if (got == 0) break;
    text.append(part, 0, static_cast<std::size_t>(got));
  }
  return text;
}

std::vector<Memory> MemoryIn(std::string_view maps) {
  std::vector<Memory> memory;
  while (const auto text = NextLine(maps)) {
    const std::optional<MapsLine> line = ParseMapsLine(*text);
    if (!line || (line->protection & PROT_READ) == 0 || !NeedsNoFileSystem(*line)) continue;
    memory.push_back({line->start, line->end, otlp::IsProcessContextMapping(line->name)});
  }
  return memory;
}

// Whether all of it is in one mapping, or in adjacent ones.
bool Contains(std::span<const Memory> memory, std::uint64_t start, std::uint64_t size) {
  if (size > UINT64_MAX - start) return false;
  std::uint64_t at = start;
  for (const Memory& one : memory) {
    if (one.start <= at && at < one.end) at = one.end;
  }
  return at >= start + size;
}

Result<std::vector<std::byte>> ReadMemory(const UniqueFd& file, std::uint64_t address,
                                          std::size_t size) {
  std::vector<std::byte> bytes(size);
  ssize_t got = 0;
  do {
    got = pread(file.get(), bytes.data(), size, static_cast<off_t>(address));
  } while (got < 0 && errno == EINTR);
  if (got < 0) return FailErrno("mem", errno);
  if (static_cast<std::size_t>(got) < size) {
    return Fail(ErrorCode::kNotFound, "mem: the process has ended");
  }
  return bytes;
}

}  // namespace

Result<std::vector<std::byte>> ReadProcessContext(const std::filesystem::path& proc,
                                                  std::uint32_t pid) {
  const UniqueFd memory_file = OpenOf(proc, pid, "mem");
  if (!memory_file) return FailErrno("mem", errno);
  const UniqueFd maps_file = OpenOf(proc, pid, "maps");
  if (!maps_file) return FailErrno("maps", errno);
  TRY_ASSIGN(const std::string maps, ReadMaps(maps_file));
  const std::vector<Memory> memory = MemoryIn(maps);
  const auto context = std::ranges::find_if(memory, &Memory::is_context);
  if (context == memory.end()) return Fail(ErrorCode::kNotFound, "maps: no OTEL_CTX");

  TRY_ASSIGN(std::vector<std::byte> bytes,
             ReadMemory(memory_file, context->start, ProcessContextHeader::kBytes));
  TRY_ASSIGN(const ProcessContextHeader header, otlp::DecodeProcessContextHeader(bytes));
  const bool is_readable = Contains(memory, header.payload, header.payload_bytes);
  if (header.published_ns == 0 || !is_readable) {
    return Fail(ErrorCode::kNotFound, "OTEL_CTX: no payload yet");
  }
  TRY_ASSIGN(const std::vector<std::byte> payload,
             ReadMemory(memory_file, header.payload, header.payload_bytes));
  TRY_ASSIGN(const std::vector<std::byte> again,
             ReadMemory(memory_file, context->start, ProcessContextHeader::kBytes));
  if (again != bytes) return Fail(ErrorCode::kNotFound, "OTEL_CTX: it changed while it was read");
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

}  // namespace perftape::record
