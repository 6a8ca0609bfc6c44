// SPDX-License-Identifier: Apache-2.0
// perftape-record's options, and the recording that they describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/recorder.h"
#include "tools/common/cli/options.h"

namespace perftape::record_tool {

// A compression level of zstd, and whether only "-z" was given.
struct CompressionLevel {
  int value = 1;
  bool is_left_out = false;
};

struct Plan : cli::BaseOptions {
  record::RecordOptions record;
  // PlanOf computes the target, the command and the level from these.
  bool all_cpus = false;
  bool wakers = false;
  std::vector<pid_t> pids, tids;
  std::optional<CompressionLevel> compression;
  // Only checked, because there is only one of each.
  std::string call_graph, clock;
};

// What the command line asks for: a recording, or a list of events.
struct RecordRun : record::RecordOptions {
  std::optional<std::string> listed_events;  // a glob
  bool no_sandbox = false;
};

const cli::Command& RecordCommand();

// Checks a parsed plan and completes its RecordOptions. Fails with kInvalidArgument for usage
// errors. RecordOptions::command_line stays empty, because it is not from the options.
Result<RecordRun> PlanOf(Plan plan);

}  // namespace perftape::record_tool
