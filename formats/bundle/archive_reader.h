// SPDX-License-Identifier: Apache-2.0
// Unpacks a tar, compressed in any supported way, into one unlinked file. Member names are never
// used as paths on this machine. A compressed file that is no tar is unpacked the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::bundle {

// How much an archive may unpack to, its headers included, before it is taken for an attack:
// kUnsupported then. Binaries compress to a quarter; slimmed ones, which are holes for the larger
// part, to a hundredth. Pages of zeros, which become holes and compress to nothing, have a limit of
// their own: symbol tables in a binary of others may be made of them.
struct UnpackLimits {
  std::uint64_t total = std::uint64_t{64} << 30;   // bytes
  std::uint64_t always = std::uint64_t{64} << 20;  // bytes that even the smallest may unpack to
  std::uint64_t ratio = 1000;                      // as many times its own size, above that
  std::uint64_t zeros = std::uint64_t{8} << 30;    // bytes that do not count for these
  std::uint64_t members = 1'000'000;
};

struct UnpackedMember {
  std::string name;          // clean, as CleanName gives it
  std::uint64_t offset = 0;  // in the unpacked bytes
  std::uint64_t size = 0;
  std::string target = {};  // of a symbolic link; such has no bytes

  bool is_link() const { return !target.empty(); }
};

// Members that were passed over, by the reason.
struct PassedOver {
  std::uint64_t unsafe_names = 0;  // absolute, with "..", too long; links that lead outside
  std::uint64_t kinds = 0;         // hard links, devices, pipes, sparse files
  std::uint64_t duplicates = 0;    // the first of a name is the one that counts

  std::uint64_t sum() const { return unsafe_names + kinds + duplicates; }
};

struct UnpackedArchive {
  MappedFile file;  // all members' bytes
  std::vector<UnpackedMember> members;
  PassedOver passed_over;

  Bytes BytesOf(const UnpackedMember& member) const {
    return file.bytes().subspan(member.offset, member.size);
  }
};

// kTruncated where the archive ends too early, kCorrupt where it is damaged or none.
Result<UnpackedArchive> Unpack(Bytes archive, const UnpackLimits& limits);

// One file that gzip, bzip2, xz or zstd has compressed, expanded into an unlinked file. kTruncated,
// kCorrupt, naming the offset; kUnsupported where it becomes more than `limits` allow.
Result<MappedFile> Expand(Bytes compressed, const UnpackLimits& limits);

}  // namespace perftape::bundle
