// SPDX-License-Identifier: Apache-2.0
// Opens files whose paths come from a recording, a binary or somebody else's directory. Such a path
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

// A descriptor for reading. kUnsupported if `path` is not a regular file: then nothing was opened.
Result<UniqueFd> OpenRegularFile(const std::filesystem::path& path);

// The same for a descriptor that was opened with O_PATH. `name` is for messages. Needs /proc.
Result<UniqueFd> ReopenRegularFile(const UniqueFd& path_only, std::string_view name);

// The file, mapped. What has no size (a file in /proc) is empty.
Result<MappedFile> MapRegularFile(const std::filesystem::path& path);

// All that can be read, also from a file in /proc, whose size is not known. kCorrupt beyond `limit`
// bytes.
Result<std::string> ReadRegularFile(const std::filesystem::path& path,
                                    std::uint64_t limit = std::uint64_t{256} << 20);

// All that can be read from an open file. `name` is for messages.
Result<std::string> ReadToEnd(int fd, std::string_view name, std::uint64_t limit);

}  // namespace base
}  // namespace perftape
