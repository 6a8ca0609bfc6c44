// SPDX-License-Identifier: Apache-2.0
// Outputs that a library makes by itself, where OutputFile does not ask.
#pragma once

#include <filesystem>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::cli {

// kInvalidArgument, in the words of OutputFile::Create, where `path` is a regular file that must
// not be replaced. "-" is stdout.
Status CheckOutput(const std::filesystem::path& path, IfExists if_exists);

}  // namespace perftape::cli
