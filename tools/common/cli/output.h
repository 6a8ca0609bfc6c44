// SPDX-License-Identifier: Apache-2.0
// Checks of a tool's output before the work begins.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::cli {

// The argument of -o as a path: "-" for stdout, also for /dev/stdout and /dev/fd/1.
std::filesystem::path OutputNamed(std::string_view argument);

// Reports, before the work, the errors that OutputFile::Create would report after it:
// kInvalidArgument for a file that must not be replaced; kNotFound, kPermission or kIo if no file
// can be created in its directory.
Result<OutputTarget> CheckOutput(const std::filesystem::path& path, IfExists if_exists);

// kInvalidArgument if the output is a terminal. `what` ("pprof", "bundle") is binary.
Status RefuseTerminal(const OutputTarget& target, std::string_view what);

// kInvalidArgument if a JSON report goes to stdout, and so does the output.
Status CheckReportOutput(bool is_json, const std::filesystem::path& output);

}  // namespace perftape::cli
