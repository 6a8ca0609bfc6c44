// SPDX-License-Identifier: Apache-2.0
// Another tool as a program.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/result.h"

namespace perftape::cli {

// Returns the file to execute for a tool, "perftape-convert": the file of this name beside this
// program, or this program if it has all tools. In both cases argv[0] must be the name.
Result<std::filesystem::path> FileOfTool(std::string_view name);

}  // namespace perftape::cli
