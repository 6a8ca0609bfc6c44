// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/expand.h"

#include <libdeflate.h>
#include <lzma.h>

#include <algorithm>
#include <new>
#include <string>

#include "formats/base/zstd.h"
#include "formats/elf/library_versions.h"

namespace perftape::elf {
namespace {

struct FreeInflate {
  void operator()(libdeflate_decompressor* it) const { libdeflate_free_decompressor(it); }
};

// One byte of deflate expands to at most 1032 bytes. zstd can expand more, but no section of a
// program is that repetitive.
constexpr std::uint64_t kMostPerByte = 1032;
constexpr std::uint64_t kFirstGzipStep = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostExpanded = std::uint64_t{4} << 30;

Status CheckSize(Bytes compressed, std::uint64_t size) {
  if (size > kMostExpanded || size / kMostPerByte > compressed.size()) {
    return Fail(ErrorCode::kCorrupt, "claims to expand " + std::to_string(compressed.size()) +
                                         " bytes to " + std::to_string(size));
  }
  return {};
}

}  // namespace

Result<ExpandedBytes> ExpandedBytes::WithRoomFor(std::uint64_t size) {
  ExpandedBytes bytes;
  bytes.data_.reset(new (std::nothrow) std::byte[size]);
  if (!bytes.data_) {
    return Fail(ErrorCode::kUnsupported, "no memory for " + std::to_string(size) + " bytes");
  }
  bytes.size_ = size;
  return bytes;
}

Result<ExpandedBytes> ExpandZlib(Bytes compressed, std::uint64_t size) {
  TRY(CheckSize(compressed, size));
  TRY_ASSIGN(ExpandedBytes expanded, ExpandedBytes::WithRoomFor(size));
  const std::unique_ptr<libdeflate_decompressor, FreeInflate> inflate(
      libdeflate_alloc_decompressor());
  if (!inflate) return Fail(ErrorCode::kUnsupported, "no memory for a decompressor");
  const libdeflate_result result =
      libdeflate_zlib_decompress(inflate.get(), compressed.data(), compressed.size(),
                                 expanded.room().data(), expanded.room().size(), nullptr);
  if (result != LIBDEFLATE_SUCCESS) {
    return Fail(ErrorCode::kCorrupt, "not the zlib stream of " + std::to_string(size) + " bytes");
  }
  return expanded;
}

Result<ExpandedBytes> ExpandZstd(Bytes compressed, std::uint64_t size) {
  TRY(CheckSize(compressed, size));
  TRY_ASSIGN(ExpandedBytes expanded, ExpandedBytes::WithRoomFor(size));
  ZstdDecompressor decompressor;
  TRY_ASSIGN(const std::size_t made, decompressor.Expand(compressed, expanded.room()));
  if (made != size) {
    return Fail(ErrorCode::kCorrupt, "not the zstd stream of " + std::to_string(size) + " bytes");
  }
  return expanded;
}

Result<std::vector<std::byte>> ExpandXz(Bytes compressed, std::uint64_t limit) {
  struct Stream {
    lzma_stream lzma = LZMA_STREAM_INIT;
    ~Stream() { lzma_end(&lzma); }
  } stream;
  if (lzma_stream_decoder(&stream.lzma, limit, LZMA_CONCATENATED) != LZMA_OK) {
    return Fail(ErrorCode::kUnsupported, "xz: no memory for a decompressor");
  }
  stream.lzma.next_in = reinterpret_cast<const std::uint8_t*>(compressed.data());
  stream.lzma.avail_in = compressed.size();
  std::vector<std::byte> expanded;
  while (true) {
    const std::size_t before = expanded.size();
    if (before >= limit) {
      return Fail(ErrorCode::kUnsupported,
                  "xz: expands to more than " + std::to_string(limit) + " bytes");
    }
    // The first step is the usual expanded size.
    const std::uint64_t step = before == 0 ? compressed.size() * std::uint64_t{4} + 4096 : before;
    expanded.resize(before + std::min(step, limit - before));
    stream.lzma.next_out = reinterpret_cast<std::uint8_t*>(expanded.data() + before);
    stream.lzma.avail_out = expanded.size() - before;
    lzma_ret result = LZMA_OK;
    while (result == LZMA_OK && stream.lzma.avail_out != 0) {
      result = lzma_code(&stream.lzma, LZMA_FINISH);
    }
    expanded.resize(expanded.size() - stream.lzma.avail_out);
    if (result == LZMA_STREAM_END) return expanded;
    if (result == LZMA_MEMLIMIT_ERROR || result == LZMA_MEM_ERROR) {
      return Fail(ErrorCode::kUnsupported, "xz: needs too much memory");
    }
    if (result != LZMA_OK) return Fail(ErrorCode::kCorrupt, "xz: damaged, or cut short");
  }
}

Result<std::vector<std::byte>> ExpandGzip(Bytes compressed, std::uint64_t limit) {
  const std::unique_ptr<libdeflate_decompressor, FreeInflate> inflate(
      libdeflate_alloc_decompressor());
  if (!inflate) return Fail(ErrorCode::kUnsupported, "no memory for a decompressor");
  for (std::uint64_t room = kFirstGzipStep;; room *= 4) {
    std::vector<std::byte> expanded(std::min(room, limit));
    std::size_t size = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress(inflate.get(), compressed.data(), compressed.size(),
                                   expanded.data(), expanded.size(), &size);
    if (result == LIBDEFLATE_SUCCESS) {
      expanded.resize(size);
      return expanded;
    }
    if (result != LIBDEFLATE_INSUFFICIENT_SPACE) {
      return Fail(ErrorCode::kCorrupt, "gzip: damaged, or cut short");
    }
    if (room >= limit) {
      return Fail(ErrorCode::kUnsupported,
                  "gzip: expands to more than " + std::to_string(limit) + " bytes");
    }
  }
}

LibraryVersion LzmaVersion() {
  return {.name = "liblzma", .version = lzma_version_string()};
}

LibraryVersion LibdeflateVersion() {
  return {.name = "libdeflate", .version = LIBDEFLATE_VERSION_STRING};
}

}  // namespace perftape::elf
