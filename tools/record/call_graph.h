// SPDX-License-Identifier: Apache-2.0
// The values of --call-graph.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "tools/common/cli/target.h"

namespace perftape::record_tool {

struct CallGraph {
  record::Callchains callchains = record::Callchains::kFramePointers;
  std::uint32_t stack_bytes = 0;  // RecordOptions::stack_bytes
};

// The methods, for help and completion.
std::vector<cli::Offer> CallGraphs();

// "fp", or "dwarf[,SIZE]" as in perf: SIZE is rounded up to a multiple of 8. Tests compare
// both in the same samples: "METHOD+dwarf[,SIZE]" is METHOD's call chain, and registers and stack.
Result<CallGraph> ParseCallGraph(std::string_view option, std::string_view text);

}  // namespace perftape::record_tool
