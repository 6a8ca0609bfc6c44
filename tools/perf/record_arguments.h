// SPDX-License-Identifier: Apache-2.0
// The defaults of perf record, as options of perftape-record.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace perftape::perf_tool {

// Returns `words`, the arguments of `perf record`, after the options that give perftape-record the
// defaults of perf: the event cycles, at most 4000 Hz (tools/perf/builtin-record.c), and no call
// chains. Each is left out if `words` choose something else. Words that perftape-record does not
// accept are returned unchanged, so that its message is about them.
std::vector<std::string> RecordArguments(std::span<const std::string> words);

}  // namespace perftape::perf_tool
