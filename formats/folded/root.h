// SPDX-License-Identifier: Apache-2.0
// The first frame of a folded line may name the process and thread of the stack, as in the output
// of stackcollapse-perf.pl and inferno.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::folded {

enum class Root : std::uint8_t {
  kNone,        // no such frame: the outermost function is first
  kComm,        // "comm"
  kCommPid,     // "comm-pid"
  kCommPidTid,  // "comm-pid/tid"
};

// The process and thread of a stack. In the frame, an unknown number is "?", an unknown comm
// "[unknown]".
struct RootFrame {
  std::string comm = {};  // empty if unknown
  std::optional<std::uint32_t> pid = {}, tid = {};
  bool operator==(const RootFrame&) const = default;
};

// The name of the frame, not yet escaped. Empty for kNone.
std::string RootName(Root root, const RootFrame& frame);

// Parses the name of a frame, which is unescaped. A comm may contain '-' and '/'; the last ones are
// the separators. Returns nothing if the name does not have the form of `root`, and for kNone.
std::optional<RootFrame> ParseRoot(Root root, std::string_view name);

}  // namespace perftape::folded
