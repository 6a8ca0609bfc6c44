// SPDX-License-Identifier: Apache-2.0
// The common content of tracers' texts: stacks of names, each with a number.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace perftape::stack_text {

// All texts are views of the input.
struct CountedStack {
  // Innermost first, without offsets. An address without a name is "0xffffffff81000100".
  std::vector<std::string_view> frames = {};
  // The first of these frames are of the kernel, as far as the text shows it.
  std::size_t kernel_frames = 0;
  std::string_view comm = {};               // empty if unknown
  std::optional<std::uint32_t> pid = {};    // nothing if unknown
  std::vector<std::string_view> keys = {};  // of a map, besides the stack and the comm
  std::string_view map = {};                // of bpftrace: "stacks" of "@stacks"; may be empty
  std::int64_t count = 0;
};

// The content of the text besides stacks.
struct TextCounts {
  std::uint64_t stacks = 0;
  std::uint64_t others = 0;       // entries without a stack, such as "@total: 7"
  std::uint64_t bad_lines = 0;    // that belong to no entry
  std::uint64_t first_bad = 0;    // the number of the first one, from 1
  std::uint64_t lost_stacks = 0;  // that the tracer says it lost
};

// More frames of a stack are bad lines.
inline constexpr std::size_t kMostFrames = 65'536;

// The stack is valid during the call.
using StackSink = std::function<void(const CountedStack&)>;

}  // namespace perftape::stack_text
