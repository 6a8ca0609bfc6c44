// SPDX-License-Identifier: Apache-2.0
// Checks a tool's output before the work begins.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::cli {

// Returns the argument of -o as a path: "-" for stdout, and also for /dev/stdout and /dev/fd/1.
std::filesystem::path OutputNamed(std::string_view argument);

// Reports early the errors that OutputFile::Create would report after the work. Fails with
// kInvalidArgument for a file that must not be replaced. Fails with kNotFound, kPermission or kIo
// if no file can be created in its directory.
Result<OutputTarget> CheckOutput(const std::filesystem::path& path, IfExists if_exists);

// Fails with kInvalidArgument if the output is a terminal. `what` ("pprof", "bundle") is a binary
// format.
Status RefuseTerminal(const OutputTarget& target, std::string_view what);

// Fails with kInvalidArgument if both a JSON report and the output go to stdout.
Status CheckReportOutput(bool is_json, const std::filesystem::path& output);

}  // namespace perftape::cli
