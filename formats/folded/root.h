// SPDX-License-Identifier: Apache-2.0
// The first frame of a folded line may say whose stack it is, as stackcollapse-perf.pl and inferno
// write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::folded {

enum class Root : std::uint8_t {
  kNone,        // the outermost function comes first
  kComm,        // "comm"
  kCommPid,     // "comm-pid"
  kCommPidTid,  // "comm-pid/tid"
};

// Whose stack it is. What is not known is "?" in the frame, a comm "[unknown]".
struct RootFrame {
  std::string comm = {};  // empty where unknown
  std::optional<std::uint32_t> pid = {}, tid = {};
  bool operator==(const RootFrame&) const = default;
};

// The name of the frame, which is still to be escaped; of kNone the empty one.
std::string RootName(Root root, const RootFrame& frame);

// What a frame's name says, unescaped. A comm may have '-' and '/' in it: the last ones count.
// Nothing where the name is not of that form, as of kNone none is.
std::optional<RootFrame> ParseRoot(Root root, std::string_view name);

}  // namespace perftape::folded
