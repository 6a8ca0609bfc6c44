// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/gzip.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "formats/pprof/library_versions.h"

namespace perftape::pprof {
namespace {

// The maximum expansion ratio of deflate.
constexpr std::uint64_t kMaxRatio = 1032;

struct FreeCompressor {
  void operator()(libdeflate_compressor* it) const { libdeflate_free_compressor(it); }
};
struct FreeDecompressor {
  void operator()(libdeflate_decompressor* it) const { libdeflate_free_decompressor(it); }
};
using Decompressor = std::unique_ptr<libdeflate_decompressor, FreeDecompressor>;

// The first buffer size if no better estimate exists.
constexpr std::uint64_t kSomeRoom = 4096;

// The size in the last member, modulo 2^32. Only an estimate (RFC 1952, ISIZE).
std::uint64_t StatedSize(Bytes file) {
  if (file.size() < 4) return 0;
  return LoadFixed<std::uint32_t>(file.last(4).data(), std::endian::little);
}

// Appends the content of the next member to `plain` and removes the member from `file`. The buffer
// has `room` bytes at first and doubles while it is too small. So the work is proportional to the
// output.
Status AppendMember(libdeflate_decompressor& inflate, Bytes& file, std::uint64_t room,
                    std::uint64_t max_size, std::vector<std::byte>& plain) {
  const std::size_t start = plain.size();
  const std::uint64_t most = std::min<std::uint64_t>(max_size - start, file.size() * kMaxRatio);
  room = std::min(most, room);
  while (true) {
    plain.resize(start + room);
    std::size_t read = 0;
    std::size_t written = 0;
    switch (libdeflate_gzip_decompress_ex(&inflate, file.data(), file.size(), plain.data() + start,
                                          room, &read, &written)) {
      case LIBDEFLATE_SUCCESS:
        plain.resize(start + written);
        file = file.subspan(read);
        return {};
      case LIBDEFLATE_INSUFFICIENT_SPACE:
        if (room >= most) {
          return Fail(ErrorCode::kCorrupt,
                      "more than " + std::to_string(max_size) + " bytes when decompressed");
        }
        room = std::min(most, room * 2);
        break;
      default:
        return Fail(ErrorCode::kCorrupt, "damaged or cut gzip data");
    }
  }
}

}  // namespace

Result<std::vector<std::byte>> Gzip(Bytes plain, int level) {
  const std::unique_ptr<libdeflate_compressor, FreeCompressor> deflate(
      libdeflate_alloc_compressor(level));
  if (deflate == nullptr) return Fail(ErrorCode::kIo, "out of memory for gzip");
  const std::size_t room = libdeflate_gzip_compress_bound(deflate.get(), plain.size());
  // A vector would initialize the buffer, most of which is never used.
  const auto file = std::make_unique_for_overwrite<std::byte[]>(room);
  const std::size_t size =
      libdeflate_gzip_compress(deflate.get(), plain.data(), plain.size(), file.get(), room);
  return std::vector<std::byte>(file.get(), file.get() + size);
}

bool IsGzip(Bytes beginning) {
  return beginning.size() >= 2 && beginning[0] == std::byte{0x1f} &&
         beginning[1] == std::byte{0x8b};
}

std::vector<std::byte> GunzipBeginning(Bytes beginning, std::size_t size) {
  constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib.h, inflateInit2
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  z_stream stream = {};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return {};
  std::vector<std::byte> plain(std::min(size, kMost));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(beginning.data()));
  stream.avail_in = static_cast<uInt>(std::min(beginning.size(), kMost));
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  inflate(&stream, Z_SYNC_FLUSH);  // any output is the beginning, even after an error
  plain.resize(plain.size() - stream.avail_out);
  inflateEnd(&stream);
  return plain;
}

Result<std::vector<std::byte>> Gunzip(Bytes file, std::uint64_t max_size) {
  const Decompressor inflate(libdeflate_alloc_decompressor());
  if (inflate == nullptr) return Fail(ErrorCode::kIo, "out of memory for gzip");
  std::vector<std::byte> plain;
  std::uint64_t room = std::max(kSomeRoom, StatedSize(file));
  do {
    TRY(AppendMember(*inflate, file, room, max_size, plain));
    room = kSomeRoom;
  } while (!file.empty());
  return plain;
}

LibraryVersion ZlibVersion() {
  return {.name = "zlib", .version = zlibVersion()};
}

}  // namespace perftape::pprof
