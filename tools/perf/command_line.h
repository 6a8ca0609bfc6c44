// SPDX-License-Identifier: Apache-2.0
// The options of perftape-perf before the command, as perf has them.
#pragma once

#include <string>

#include "tools/common/cli/options.h"

namespace perftape::perf_tool {

// What is printed instead of running a command.
enum class PerfAnswer : std::uint8_t {
  kNone,
  kCommands,     // --list-cmds
  kOptions,      // --list-opts
  kExecPath,     // --exec-path
  kHtmlPath,     // --html-path
  kPerfVersion,  // -v
};

struct PerfPlan : cli::BaseOptions {
  PerfAnswer answer = PerfAnswer::kNone;
  bool no_pager = false;
  // Only accepted, as perf does: a pager is started anyway, tracefs is found, and libraries print
  // nothing.
  bool paginate = false;
  std::string buildid_dir, debugfs_dir, debug;
};

// Its operands are a command of perf and the command's arguments.
const cli::Command& PerfCommandLine();

}  // namespace perftape::perf_tool
