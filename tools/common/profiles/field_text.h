// SPDX-License-Identifier: Apache-2.0
// Messages about fields of tracepoints and labels that no sample has.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace perftape::cli {

// Returns "choose comm, pid or one of 12 more": the names that contain `wanted`, or else similar
// ones, or else all.
std::string ChooseText(std::string_view wanted, const std::set<std::string>& names);

}  // namespace perftape::cli
