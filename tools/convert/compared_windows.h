// SPDX-License-Identifier: Apache-2.0
// What a page says of --path --against: which windows are compared, and why they differ.
#pragma once

#include "convert/export/flame_graph/flame_graph.h"
#include "tools/common/profiles/time_view_options.h"

namespace perftape::convert_tool {

// Returns the comparison of a path with PathFacts::against; an empty one for other paths.
flame_graph::ComparedWindows ComparedWindowsOf(const cli::PathFacts& path,
                                               const cli::TimeViewOptions& options);

}  // namespace perftape::convert_tool
