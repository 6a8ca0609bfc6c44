// SPDX-License-Identifier: Apache-2.0
// The position of a bundle in a perf.data. (An archive with only recording.json, which is no
// bundle, has the same place: recording_notes.h.) The bundle is appended after all sections that
// the header lists, so perf never reads it. A footer follows at the end of the file:
//
//   perf.data | bundle (tar.zst) | u64 offset, u64 size, u32 version, u32 reserved, "PERFTAPE"
//
// The footer is little-endian whatever the byte order of the perf.data. Offset and size are those
// of the bundle. So the offset is the original size of the perf.data; cutting the file there
// removes the bundle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::bundle {

struct Extent {
  std::uint64_t offset = 0, size = 0;  // in the file, in bytes
};

inline constexpr std::size_t kFooterSize = 32;

// Whether these are the first bytes of a perf.data of either byte order.
bool IsPerfData(Bytes beginning);
// Whether the perf.data is in pipe form, which cannot contain a bundle.
bool IsPipeForm(Bytes beginning);

// Finds the bundle in a whole perf.data. Returns nothing without a footer, kCorrupt if the footer
// points outside of the file, and kUnsupported for a later version.
Result<std::optional<Extent>> FindEmbedded(Bytes perf_data);
// The original bytes of the perf.data, without bundle and footer. A view of `perf_data`.
Bytes WithoutEmbedded(Bytes perf_data);

// The footer of a bundle, kFooterSize bytes.
std::vector<std::byte> EncodeFooter(const Extent& bundle);

// Prepares a perf.data, open for reading and writing, for a bundle. Cuts off a previous bundle,
// sets the position of `fd` to the end, and returns that offset. Returns kUnsupported for a
// recording in pipe form, because its readers would interpret the bundle as records. If `fd` is
// open for writing only, the file must be a new recording without a bundle, and is not checked.
Result<std::uint64_t> BeginEmbedding(int fd);
// Writes the footer after the bundle, which extends from `offset` to the end of the file. Then
// syncs.
Status EndEmbedding(int fd, std::uint64_t offset);
// Embeds the bundle that `append` writes to a copy of `fd`, from its position on. If that fails,
// the perf.data has no bundle.
Status EmbedWith(int fd, const std::function<Status(UniqueFd end)>& append);
// Embeds a whole bundle. If that fails, the perf.data has no bundle.
Status Embed(int fd, Bytes archive);

}  // namespace perftape::bundle
