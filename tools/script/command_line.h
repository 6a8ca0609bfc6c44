// SPDX-License-Identifier: Apache-2.0
// perftape-script's options, and the text that they describe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/script/options.h"
#include "formats/base/output_target.h"
#include "tools/common/cli/options.h"
#include "tools/common/profiles/symbol_options.h"

namespace perftape::script_tool {

// The comments before the samples.
enum class Header : std::uint8_t { kNone, kShown, kOnly };

// Where the lines of an event go.
enum class Dump : std::uint8_t { kOneOutput, kFilePerEvent };

struct ScriptPlan : cli::SymbolPlan {
  std::filesystem::path input = "perf.data";  // "-" is stdin
  std::filesystem::path output = "-";
  IfExists if_exists = IfExists::kRefuse;
  Dump dump = Dump::kOneOutput;
  Header header = Header::kNone;
  bool no_pager = false;

  listing::Options listing;
  std::vector<std::string> field_arguments;  // of -F, in their order
  std::vector<std::string> field_warnings;
  std::vector<std::string> comms, dsos, symbols, events;  // arguments, comma lists
  std::vector<std::int64_t> pids, tids;
  std::vector<int> cpus;
};

const cli::Command& ScriptCommand();

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors and
// refused options.
Result<ScriptPlan> PlanOf(ScriptPlan plan);

// Begins a sandbox in which the plan can be carried out (tools/common/sandbox).
Status Confine(const ScriptPlan& plan);

// The file of an event with --per-event-dump: "perf.data.cpu-clock.dump".
std::filesystem::path DumpPath(const ScriptPlan& plan, std::string_view event);

}  // namespace perftape::script_tool
