// SPDX-License-Identifier: Apache-2.0
// Where a bundle lies in a perf.data: behind all that its header speaks of, which perf therefore
// never looks at, with a footer at the file's very end:
//
//   perf.data | bundle (tar.zst) | u64 offset, u64 size, u32 version, u32 reserved, "PERFTAPE"
//
// All little-endian, whatever the byte order of the perf.data. Offset and size are the bundle's;
// the offset is therefore the size that the perf.data had before, and to cut it there takes the
// bundle out again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::bundle {

struct Extent {
  std::uint64_t offset = 0, size = 0;  // in the file, in bytes
};

inline constexpr std::size_t kFooterSize = 32;

// Whether these are the first bytes of a perf.data, of either byte order.
bool IsPerfData(Bytes beginning);
// Whether that is in the form of a pipe, which can have no bundle in it.
bool IsPipeForm(Bytes beginning);

// Where the bundle of a whole perf.data is; nothing where there is no footer. kCorrupt for a footer
// that points outside of the file, kUnsupported for one of a later version.
Result<std::optional<Extent>> FindEmbedded(Bytes perf_data);
// The perf.data without its bundle and footer: the bytes it had before.
Bytes WithoutEmbedded(Bytes perf_data);

// What comes behind a bundle.
std::vector<std::byte> EncodeFooter(const Extent& bundle);

// Where in the perf.data, open for reading and writing, a bundle begins: at its end, which a bundle
// that is there already is cut off for. `fd` then stands there. kUnsupported for a recording in the
// form of a pipe, whose reader would take the bundle for records.
Result<std::uint64_t> BeginEmbedding(int fd);
// Writes the footer behind the bundle that goes from `offset` to the end of the file, and syncs.
Status EndEmbedding(int fd, std::uint64_t offset);
// Both, with a whole bundle between them. Where it fails, the perf.data has no bundle.
Status Embed(int fd, Bytes archive);

}  // namespace perftape::bundle
