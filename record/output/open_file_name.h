// SPDX-License-Identifier: Apache-2.0
// Where an open file lies now: others may rename, replace or delete it while it is written.
#pragma once

#include <filesystem>
#include <optional>

namespace perftape::record {

// The absolute path of the file that `fd` is open on; nothing where it has no name any more, or
// /proc does not tell.
std::optional<std::filesystem::path> NameOfOpenFile(int fd);

}  // namespace perftape::record
