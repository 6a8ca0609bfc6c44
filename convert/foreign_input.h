// SPDX-License-Identifier: Apache-2.0
// Recognizes input formats that cannot be read, and explains how to convert them.
#pragma once

#include <optional>
#include <string>

#include "formats/base/input.h"

namespace perftape::convert {

// Returns a sentence such as "is a directory, and no perf.data of several files, ...". Recognizes
// pprof's old text and binary formats, and directories that are not a perf.data. Returns nothing
// for any other input.
std::optional<std::string> DescribeForeign(const Input& input);

// The same for well-known profiles of other programs, by their first bytes. A supported format can
// begin with the same bytes, so call this only after no supported format matched.
std::optional<std::string> DescribeUnread(const Input& input);

}  // namespace perftape::convert
