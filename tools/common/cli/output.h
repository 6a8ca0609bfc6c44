// SPDX-License-Identifier: Apache-2.0
// A tool's output: checks before the work begins, and the pager that shows a long text on stdout.
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

// Returns whether stdout is a terminal.
bool IsTerminal();

// Starts $PAGER, or less, and sends it what is written to stdout from now on. The pager shows a
// short text without waiting for a key (LESS=FRX, as git does). The destructor closes stdout and
// waits until the user leaves the pager. Does nothing if $PAGER is empty or "cat", or if the pager
// cannot be started.
class Pager {
 public:
  Pager();
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  int pid_ = -1;
};

}  // namespace perftape::cli
