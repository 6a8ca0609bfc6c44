// SPDX-License-Identifier: Apache-2.0
// Outputs that a library makes by itself, where OutputFile does not ask.
#pragma once

#include <filesystem>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::cli {

// Tells before the work what would fail behind it, in the words of OutputFile::Create:
// kInvalidArgument where `path` is a regular file that must not be replaced, kNotFound, kPermission
// or kIo where no file can be made beside it. "-" is stdout.
Status CheckOutput(const std::filesystem::path& path, IfExists if_exists);

}  // namespace perftape::cli
