// SPDX-License-Identifier: Apache-2.0
// The current path of an open file, which others may rename, replace or delete.
#pragma once

#include <filesystem>
#include <optional>

namespace perftape::record {

// Returns the absolute path of the file that `fd` is open on; nothing if the file was deleted or
// /proc does not show the path.
std::optional<std::filesystem::path> NameOfOpenFile(int fd);

}  // namespace perftape::record
