// SPDX-License-Identifier: Apache-2.0
// Unpacks a tar, with any supported compression, into one unlinked file. Never uses member names as
// paths on this machine. Expands a compressed file that is not a tar in the same way.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::bundle {

// Limits for the unpacked size of an archive, including its headers. An archive beyond a limit may
// be an attack, and the result is kUnsupported. Binaries compress to a quarter of their size. Slim
// copies, which consist mostly of holes, compress to a hundredth. Pages of zeros become holes and
// compress to almost nothing. They have their own limit because another user's binary may contain
// symbol tables full of zeros. No profile contains such pages, so Expand counts them like others.
struct UnpackLimits {
  std::uint64_t total = std::uint64_t{64} << 30;  // in bytes
  // In bytes. Even the smallest archive may unpack to this size.
  std::uint64_t always = std::uint64_t{64} << 20;
  std::uint64_t ratio = 1000;  // a larger one may unpack to this multiple of its size
  // In bytes: pages of zeros that do not count. Only Unpack uses it.
  std::uint64_t zeros = std::uint64_t{8} << 30;
  std::uint64_t members = 1'000'000;
};

struct UnpackedMember {
  std::string name;          // as CleanName returns it
  std::uint64_t offset = 0;  // in the unpacked bytes
  std::uint64_t size = 0;
  std::string target = {};  // of a symbolic link, which has no bytes

  bool is_link() const { return !target.empty(); }
};

// The number of ignored members, by reason.
struct PassedOver {
  std::uint64_t unsafe_names = 0;  // absolute, with "..", too long; links that lead outside
  std::uint64_t kinds = 0;         // hard links, devices, pipes, sparse files
  std::uint64_t duplicates = 0;    // names that occurred before; the first one counts

  std::uint64_t sum() const { return unsafe_names + kinds + duplicates; }
};

struct UnpackedArchive {
  MappedFile file;  // the bytes of all members
  std::vector<UnpackedMember> members;
  PassedOver passed_over;

  Bytes BytesOf(const UnpackedMember& member) const {
    return file.bytes().subspan(member.offset, member.size);
  }
};

// Returns kTruncated if the archive ends too early, kCorrupt if it is damaged or not an archive,
// and kUnsupported if it exceeds `limits` or is compressed more than once.
Result<UnpackedArchive> Unpack(Bytes archive, const UnpackLimits& limits);

// Returns the bytes of the first member if it is a file with this name, otherwise nothing. Unpacks
// no other member. Returns kUnsupported if it has more than `most` bytes. Other errors are those of
// Unpack.
Result<std::optional<std::vector<std::byte>>> ReadFirstMember(Bytes archive, std::string_view name,
                                                              std::size_t most);

// Expands one file that was compressed with gzip, bzip2, xz or zstd, into an unlinked file. Returns
// kTruncated or kCorrupt with the offset, or kUnsupported if the result exceeds total, always and
// ratio of `limits`. Pages of zeros count.
Result<MappedFile> Expand(Bytes compressed, const UnpackLimits& limits);

// Expands only the beginning of such a file, into memory. Returns at most `size` bytes, and fewer
// if the file is shorter or damaged. Bytes that are not compressed are returned as they are.
std::vector<std::byte> ExpandBeginning(Bytes compressed, std::size_t size);

}  // namespace perftape::bundle
