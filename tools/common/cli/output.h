// SPDX-License-Identifier: Apache-2.0
// What a tool asks of its output before the work begins.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::cli {

// The argument of -o as a path: "-" for stdout, also where it is named /dev/stdout or /dev/fd/1.
std::filesystem::path OutputNamed(std::string_view argument);

// Reports before the work what would fail behind it, in the words of OutputFile::Create:
// kInvalidArgument for a file that must not be replaced, kNotFound, kPermission or kIo where no
// file can be made beside it.
Result<OutputTarget> CheckOutput(const std::filesystem::path& path, IfExists if_exists);

// kInvalidArgument where the output is a terminal: `what` ("pprof", "bundle") is no text.
Status RefuseTerminal(const OutputTarget& target, std::string_view what);

}  // namespace perftape::cli
