// SPDX-License-Identifier: Apache-2.0
// The values of options for recordings: events, rates, names, --call-graph, rotating files, flight
// recordings, waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/events/event_spec.h"
#include "record/options.h"
#include "tools/common/cli/target.h"

namespace perftape::record_tool {

// Returns kernel.perf_event_max_sample_rate; nothing if it cannot be read.
std::optional<std::uint64_t> HighestFrequency();

// "99", or "max" for the highest rate of this kernel.
Result<record::SamplingRate> ParseFrequency(std::string_view option, std::string_view text);

// Events as record::ParseEvents reads them; EventOffers returns those that help and completion
// name.
Result<std::vector<record::EventSpec>> ParseEventList(std::string_view option,
                                                      std::string_view text);
std::vector<cli::Offer> EventOffers();

// Names of cgroups, containers, pods or threads, separated by commas.
Result<std::vector<std::string>> ParseNames(std::string_view option, std::string_view text);

struct CallGraph {
  record::Callchains callchains = record::Callchains::kFramePointers;
  std::uint32_t stack_bytes = 0;  // RecordOptions::stack_bytes
};

// The methods, for help and completion.
std::vector<cli::Offer> CallGraphs();

// "fp", or "dwarf[,SIZE]" as in perf: SIZE is rounded up to a multiple of 8. Tests compare
// both in the same samples: "METHOD+dwarf[,SIZE]" is METHOD's call chain, and registers and stack.
Result<CallGraph> ParseCallGraph(std::string_view option, std::string_view text);

// The MODE of --switch-output; both empty for a signal.
struct SwitchMode {
  std::optional<std::uint64_t> bytes = {};
  std::optional<std::chrono::nanoseconds> interval = {};
};

// "signal" or nothing, a size with a unit (formats/base/byte_size.h), or a time with a unit
// (formats/base/duration.h).
Result<SwitchMode> ParseSwitchMode(std::string_view option, std::string_view text);

// A number of files, 1 or more.
Result<std::uint64_t> ParseFileCount(std::string_view option, std::string_view text);

// A command for the shell. Must not be empty.
Result<std::string> ParseShellCommand(std::string_view option, std::string_view text);

// A condition as trigger_spec.h describes it; a list of one.
Result<std::vector<record::TriggerSpec>> ParseTriggerOption(std::string_view option,
                                                            std::string_view text);

// "500us", "1.5ms", "2s" or "0". Without a unit it is in milliseconds, as perf's --off-cpu-thresh.
Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text);

// A percentage of a CPU, above 0.
Result<double> ParseCpuLimit(std::string_view option, std::string_view text);

}  // namespace perftape::record_tool
