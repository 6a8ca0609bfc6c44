// SPDX-License-Identifier: Apache-2.0
// The options of `perf report`. If one of them is given, perftape-report prints the table of perf
// report --stdio (perf_view.h) instead of its own report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/histogram/histogram.h"
#include "convert/histogram/read_histograms.h"
#include "formats/base/result.h"
#include "tools/common/cli/options.h"
#include "tools/common/profiles/symbol_options.h"
#include "tools/report/perf_layout.h"

namespace perftape::report_tool {

struct PerfPlan : cli::SymbolPlan {
  std::string sort, fields;               // empty: not given
  std::optional<std::string> call_graph;  // the argument of -g, which may be empty
  std::optional<bool> children;           // nothing: if there are callchains
  bool is_inverted = false;               // -G
  bool shows_samples = false, shows_periods = false, shows_utilization = false;
  bool is_hierarchy = false;
  std::string comms, dsos, symbols, pids, tids;  // lists with commas
  std::vector<int> cpus;
  std::string parent;
  std::string ignore_callees;
  std::optional<double> percent_limit;
  bool is_relative = false;  // --percentage relative
  bool shows_statistics = false;

  histogram::ReadOptions read;
  // Made of the above by PlanOfPerf. `settings` depend on whether the file has callchains.
  PerfLayout layout;
  bool no_pager = false;
};

const cli::Command& PerfReportCommand();

// Whether the words after the program's name ask for perf's table: they have an option that only
// perf report has, or --stdio, or --sort with a key of perf.
bool AsksForPerf(std::span<const std::string> words);

// Joins -g and its argument to one word, as the parser needs it: "-g", "caller" become "-gcaller".
// As in perf, the next word is the argument of -g unless it is an option. Unlike perf, a word that
// cannot be one is an operand.
std::vector<std::string> JoinCallGraph(std::vector<std::string> words);

// Checks a parsed plan. Fails with kInvalidArgument for usage errors.
Result<PerfPlan> PlanOfPerf(PerfPlan plan);

// Returns what the histograms of a file are made with, and sets plan.layout. Fails with
// kInvalidArgument for unknown keys and wrong arguments of -g.
Result<histogram::Settings> SettingsOf(PerfPlan& plan, bool has_callchains);

}  // namespace perftape::report_tool
