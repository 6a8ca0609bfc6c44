// SPDX-License-Identifier: Apache-2.0
// The samples of a profile as costs of source lines and of calls, as callgrind counts them: what a
// line costs itself, and what each function that it calls costs with everything below it.
//
// A stack contains a recursive function several times, so its calls would be counted several times.
// Therefore each level of a recursion is a separate function: a stack then contains each function
// and each call only once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/to_folded.h"
#include "convert/model/profile.h"

namespace perftape::viewers {

struct CostFunction {
  std::string_view name;    // the thread for a root frame; empty if a folded file has it so
  std::string_view file;    // of the source; empty if unknown
  std::string_view object;  // the mapped file; empty if unknown
  std::int64_t line = 0;    // where its source begins; 0 if unknown
  std::uint32_t level = 1;  // above 1 if the stack has the function, or one of equal name and file,
                            // already
};

inline constexpr auto kNoCallee = std::numeric_limits<std::uint32_t>::max();

// The costs of one line of a function: of itself, or of one function that it calls.
struct Cost {
  std::uint32_t function = 0;        // its index in `functions`
  std::uint32_t callee = kNoCallee;  // its index in `functions`, or kNoCallee
  std::int64_t line = 0;             // 0 if unknown
  std::uint32_t numbers = 0;         // the index of the first one in `numbers`
};

struct CostGraph {
  std::vector<convert::EventId> events;  // the columns
  std::vector<CostFunction> functions;   // by file, object, name and level
  std::vector<Cost> costs;               // by function and line; a line's own before its calls
  std::vector<std::int64_t> numbers;     // one of each event for each cost; never negative
  std::uint64_t negative_samples = 0;    // left out

  std::span<const std::int64_t> NumbersOf(const Cost& cost) const {
    return std::span(numbers).subspan(cost.numbers, events.size());
  }
};

// The file of root frames, which are threads.
inline constexpr std::string_view kThreadFile = "[thread]";
// The root frame of stacks without a thread. Each stack has a root frame, which nothing calls. If a
// function has callers, callgrind_annotate computes its costs from them, and would lose the stacks
// that begin with this function.
inline constexpr std::string_view kNoThread = "[all]";

// Returns the graph of all events that have samples. Of `options`, uses `value` and `root`. `texts`
// are those of `profile`; names in the graph live as long as both.
CostGraph CostGraphOf(const convert::Profile& profile, const convert::FoldedOptions& options,
                      convert::FrameTexts& texts);

}  // namespace perftape::viewers
