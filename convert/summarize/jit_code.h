// SPDX-License-Identifier: Apache-2.0
// Code that was made at run time, by a compiler within the program.
#pragma once

#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"
#include "formats/perf_map/jit_runtimes.h"

namespace perftape::summarize {

// Returns the runtimes that generated code without a name in mappings called `filename`, if the
// stacks with this code and their threads show it; otherwise the runtimes whose binaries have
// samples. Each occurs once, in the order of the samples.
std::vector<const perf_map::JitRuntime*> FindRuntimes(const convert::Profile& profile,
                                                      const convert::FrameTable& frames,
                                                      convert::EventId event,
                                                      convert::StringId filename);

// Returns the runtimes whose binaries have samples, each once.
std::vector<const perf_map::JitRuntime*> FindRuntimes(const convert::Profile& profile);

}  // namespace perftape::summarize
