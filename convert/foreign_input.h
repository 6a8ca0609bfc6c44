// SPDX-License-Identifier: Apache-2.0
// Recognizes inputs in formats that cannot be read here, and says how to convert them.
#pragma once

#include <optional>
#include <string>

#include "formats/base/input.h"

namespace perftape::convert {

// "is the output of perf script; convert the perf.data itself, ..." for text of perf script,
// pprof's old text and binary formats, and directories that are no perf.data. Nothing for all else.
std::optional<std::string> DescribeForeign(const Input& input);

}  // namespace perftape::convert
