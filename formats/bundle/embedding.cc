// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/embedding.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/perfdata_magic.h"

namespace perftape::bundle {
namespace {

constexpr std::uint32_t kFooterVersion = 1;
constexpr std::uint64_t kFooterMagic = 0x4550415446524550;  // "PERFTAPE"
constexpr std::uint64_t kPipeHeaderSize = 16;

struct Footer {
  Extent extent;
  std::uint32_t version = kFooterVersion;
  std::uint32_t reserved = 0;
  std::uint64_t magic = kFooterMagic;
};

template <class Cursor, class FooterRef>
void FooterLayout(Cursor& at, FooterRef& footer) {
  at.Fixed(footer.extent.offset);
  at.Fixed(footer.extent.size);
  at.Fixed(footer.version);
  at.Fixed(footer.reserved);
  at.Fixed(footer.magic);
}

// Reads `size` bytes at `offset` of an open file, or fewer if it ends there.
Result<std::vector<std::byte>> ReadAt(int fd, std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got =
        pread(fd, bytes.data() + have, size - have, static_cast<off_t>(offset + have));
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return FailErrno("read", errno);
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Result<std::uint64_t> SizeOf(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0) return FailErrno("fstat", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

Result<std::uint64_t> SeekTo(int fd, std::uint64_t offset) {
  if (lseek(fd, static_cast<off_t>(offset), SEEK_SET) < 0) return FailErrno("lseek", errno);
  return offset;
}

// Decodes the footer from the last bytes of a file of `file_size` bytes.
Result<std::optional<Extent>> DecodeFooter(Bytes last, std::uint64_t file_size) {
  if (last.size() < kFooterSize || file_size < kFooterSize) return std::nullopt;
  ByteReader at(last.last(kFooterSize), std::endian::little);
  Footer footer;
  FooterLayout(at, footer);
  if (footer.magic != kFooterMagic) return std::nullopt;
  const std::string position = "bundle footer at " + std::to_string(file_size - kFooterSize) + ": ";
  if (footer.version != kFooterVersion) {
    return Fail(ErrorCode::kUnsupported,
                position + "version " + std::to_string(footer.version) + ", this perftape reads 1");
  }
  const std::uint64_t end = file_size - kFooterSize;
  if (footer.extent.offset > end || footer.extent.size != end - footer.extent.offset) {
    return Fail(ErrorCode::kCorrupt,
                position + std::to_string(footer.extent.size) + " bytes at offset " +
                    std::to_string(footer.extent.offset) + " do not end where it begins");
  }
  return footer.extent;
}

}  // namespace

bool IsPerfData(Bytes beginning) {
  if (beginning.size() < sizeof kPerfDataMagic) return false;
  const auto magic = LoadFixed<std::uint64_t>(beginning.data(), std::endian::little);
  return magic == kPerfDataMagic || magic == std::byteswap(kPerfDataMagic);
}

bool IsPipeForm(Bytes beginning) {
  // The pipe header is { u64 magic; u64 size; }, with its own size.
  if (!IsPerfData(beginning) || beginning.size() < kPipeHeaderSize) return false;
  const auto magic = LoadFixed<std::uint64_t>(beginning.data(), std::endian::little);
  const std::endian order = magic == kPerfDataMagic ? std::endian::little : std::endian::big;
  return LoadFixed<std::uint64_t>(beginning.data() + 8, order) == kPipeHeaderSize;
}

Result<std::optional<Extent>> FindEmbedded(Bytes perf_data) {
  if (!IsPerfData(perf_data) || IsPipeForm(perf_data)) return std::nullopt;
  return DecodeFooter(perf_data, perf_data.size());
}

Bytes WithoutEmbedded(Bytes perf_data) {
  const auto embedded = FindEmbedded(perf_data);
  if (!embedded || !*embedded) return perf_data;
  return perf_data.first((*embedded)->offset);
}

Result<std::uint64_t> BeginEmbedding(int fd) {
  TRY_ASSIGN(const std::uint64_t size, SizeOf(fd));
  if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) return SeekTo(fd, size);
  TRY_ASSIGN(const std::vector<std::byte> beginning, ReadAt(fd, 0, kPipeHeaderSize));
  if (!IsPerfData(beginning)) return Fail(ErrorCode::kCorrupt, "is not a perf.data");
  if (IsPipeForm(beginning)) {
    return Fail(ErrorCode::kUnsupported,
                "is in pipe form, and its readers would read a bundle as records");
  }
  const std::uint64_t footer_at = size < kFooterSize ? 0 : size - kFooterSize;
  TRY_ASSIGN(const std::vector<std::byte> last, ReadAt(fd, footer_at, kFooterSize));
  TRY_ASSIGN(const std::optional<Extent> earlier, DecodeFooter(last, size));
  const std::uint64_t offset = earlier ? earlier->offset : size;
  if (earlier && ftruncate(fd, static_cast<off_t>(offset)) != 0) {
    return FailErrno("ftruncate", errno);
  }
  return SeekTo(fd, offset);
}

std::vector<std::byte> EncodeFooter(const Extent& bundle) {
  const Footer footer{.extent = bundle};
  std::vector<std::byte> bytes;
  ByteWriter at(bytes);
  FooterLayout(at, footer);
  return bytes;
}

Status EndEmbedding(int fd, std::uint64_t offset) {
  TRY_ASSIGN(const std::uint64_t end, SizeOf(fd));
  if (end < offset) return Fail(ErrorCode::kIo, "has become smaller meanwhile");
  TRY(WriteAllAt(fd, EncodeFooter({.offset = offset, .size = end - offset}), end));
  if (fsync(fd) != 0) return FailErrno("fsync", errno);
  return {};
}

Status EmbedWith(int fd, const std::function<Status(UniqueFd end)>& append) {
  TRY_ASSIGN(const std::uint64_t offset, BeginEmbedding(fd));
  UniqueFd end = Duplicate(fd);
  if (!end) return FailErrno("duplicating its descriptor", errno);
  Status embedded = append(std::move(end));
  if (embedded) embedded = EndEmbedding(fd, offset);
  if (!embedded && ftruncate(fd, static_cast<off_t>(offset)) != 0) {
    return Fail(InContext("a part of the bundle stays at its end", std::move(embedded).error()));
  }
  return embedded;
}

Status Embed(int fd, Bytes archive) {
  return EmbedWith(fd, [&](UniqueFd end) {
    return WriteAllAt(end.get(), archive,
                      static_cast<std::uint64_t>(lseek(end.get(), 0, SEEK_CUR)));
  });
}

}  // namespace perftape::bundle
