// SPDX-License-Identifier: Apache-2.0
// Opens paths that another process chose, as that process sees them.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/file.h"

namespace perftape {
inline namespace base {

// Opens `path` below `root` with O_PATH, which acts on no device. A link to a directory, or "..",
// does not lead out of `root`; a link at the end of the path is not followed. Empty, with errno, if
// there is no such file.
UniqueFd OpenPathWithin(const std::filesystem::path& root, std::string_view path);

}  // namespace base
}  // namespace perftape
