// SPDX-License-Identifier: Apache-2.0
// Where a bundle lies in a perf.data: behind all that its header speaks of, which perf therefore
// never looks at, with a footer at the file's very end:
//
//   perf.data | padding to 8 | bundle (tar.zst) | u64 offset, u64 size, u32 version, u32 reserved,
//                                                 "PERFTAPE"
//
// All little-endian, whatever the byte order of the perf.data. Offset and size are the bundle's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::bundle {

struct Extent {
  std::uint64_t offset = 0, size = 0;  // in the file, in bytes
};

inline constexpr std::size_t kFooterSize = 32;

// Where the bundle of a whole perf.data is; nothing where there is no footer. kCorrupt for a footer
// that points outside of the file.
Result<std::optional<Extent>> FindEmbedded(Bytes perf_data);

// Where in the open perf.data a bundle may begin: its size rounded up to 8, to which it is grown.
Result<std::uint64_t> BeginEmbedding(int fd);
// Writes the footer behind the bundle that goes from `offset` to the end of the file, and syncs.
Status EndEmbedding(int fd, std::uint64_t offset);

}  // namespace perftape::bundle
