// SPDX-License-Identifier: Apache-2.0
// The critical path as tables and as JSON.
#pragma once

#include "formats/json/value.h"
#include "tools/common/profiles/time_view_options.h"
#include "tools/report/command_line.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// Returns the section about a path: its windows, what it consists of, and what ran instead.
Section PathSection(const cli::PathFacts& path, const ReportPlan& plan);

// Returns {"windows": …, "window_ns": …, "explained_ns": …, "parts": […], "ran_instead": […]}, and
// "hops" with --hops.
json::Value PathJson(const cli::PathFacts& path, const ReportPlan& plan);

}  // namespace perftape::report_tool
