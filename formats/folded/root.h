// SPDX-License-Identifier: Apache-2.0
// The first frame of a folded line may say whose stack it is, as stackcollapse-perf.pl and inferno
// write it.
#pragma once

#include <cstdint>

namespace perftape::folded {

enum class Root : std::uint8_t {
  kNone,        // the outermost function comes first
  kComm,        // "comm"
  kCommPid,     // "comm-pid"
  kCommPidTid,  // "comm-pid/tid"
};

}  // namespace perftape::folded
