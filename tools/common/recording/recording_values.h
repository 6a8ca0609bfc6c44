// SPDX-License-Identifier: Apache-2.0
// The values of the options in recording_options.h: events, rates, names, --call-graph, waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/events/event_spec.h"
#include "record/recorder_options.h"
#include "tools/common/cli/target.h"

namespace perftape::recording {

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

// The methods, for help and completion. A tool that cannot use copies of the stack offers the
// others.
std::vector<cli::Offer> CallGraphs();
std::vector<cli::Offer> CallGraphsWithoutCopies();

// "fp", or "dwarf[,SIZE]" as in perf: SIZE is rounded up to a multiple of 8. Tests compare
// both in the same samples: "METHOD+dwarf[,SIZE]" is METHOD's call chain, and registers and stack.
Result<CallGraph> ParseCallGraph(std::string_view option, std::string_view text);

// "500us", "1.5ms", "2s" or "0". Without a unit it is in milliseconds, as perf's --off-cpu-thresh.
Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text);

// A percentage of a CPU, above 0.
Result<double> ParseCpuLimit(std::string_view option, std::string_view text);

}  // namespace perftape::recording
