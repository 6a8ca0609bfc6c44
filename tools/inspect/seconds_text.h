// SPDX-License-Identifier: Apache-2.0
// Times as perf shows them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "formats/base/duration.h"

namespace perftape::inspect {

// Returns "12.000000345" for a time in nanoseconds.
inline std::string SecondsText(std::uint64_t ns) {
  return fmt::format("{}.{:09}", ns / kNsPerSecond, ns % kNsPerSecond);
}

}  // namespace perftape::inspect
