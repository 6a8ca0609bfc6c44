// SPDX-License-Identifier: Apache-2.0
// Opens files whose paths come from a recording, a binary or another user's directory. Such a path
// may name a device, which can act when it is opened, or a FIFO, which blocks the reader. These
// functions check the type of the file before they open it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape {
inline namespace base {

// Opens `path` for reading. Returns kUnsupported, and opens nothing, if it is not a regular file.
Result<UniqueFd> OpenRegularFile(const std::filesystem::path& path);

// The same for a descriptor that was opened with O_PATH. `name` is for messages. Needs /proc.
Result<UniqueFd> ReopenRegularFile(const UniqueFd& path_only, std::string_view name);

// Maps the file. A file without a size (in /proc) is empty.
Result<MappedFile> MapRegularFile(const std::filesystem::path& path);

// Reads the whole file, also in /proc, where sizes are not known. Returns kCorrupt if there are
// more than `limit` bytes.
Result<std::string> ReadRegularFile(const std::filesystem::path& path,
                                    std::uint64_t limit = std::uint64_t{256} << 20);

// Reads an open file to its end. `name` is for messages. Returns kCorrupt beyond `limit` bytes.
Result<std::string> ReadToEnd(int fd, std::string_view name, std::uint64_t limit);

}  // namespace base
}  // namespace perftape
