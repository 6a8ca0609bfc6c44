// SPDX-License-Identifier: Apache-2.0
// Every command that perf 6.1 and perf 7.3 list (perf --list-cmds, perf help), and what perftape
// does for it. The man page of perftape-perf is made of these rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace perftape::perf_tool {

enum class RunBy : std::uint8_t {
  kVerb,     // a verb of perftape-perf
  kTool,     // the tool perftape-NAME
  kNothing,  // `instead` says what to do
};

struct PerfCommand {
  std::string_view name;
  RunBy run_by = RunBy::kNothing;
  std::string_view instead = {};  // a sentence without a final dot
};

// The name under which perftape-perf, or the file with all tools, is perf.
inline constexpr std::string_view kPerf = "perf";

// In alphabetical order.
std::span<const PerfCommand> PerfCommands();

// Returns null for a word that is no command of perf.
const PerfCommand* FindPerfCommand(std::string_view name);

// Returns "unknown command 'lst'; did you mean list?", or the command that does what `word` does in
// samply, pprof, bpftrace or hotspot: "unknown command 'load': ... 'perftape view FILE' ...".
std::string UnknownCommandText(std::string_view word);

// Returns the rows as a list of definitions in Markdown, for the man page.
std::string CommandsMarkdown();

// Returns what does in perftape what a command of samply, pprof, bpftrace or hotspot does; empty
// for other words.
std::string_view InsteadOfForeignVerb(std::string_view word);

}  // namespace perftape::perf_tool
