// SPDX-License-Identifier: Apache-2.0
// The options of perftape-view.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/common/cli/options.h"

namespace perftape::view_tool {

struct ViewPlan : cli::BaseOptions {
  std::vector<std::string> inputs;
  std::filesystem::path output;  // empty: a new file in $TMPDIR
  bool only_print = false;       // the address, without a browser
};

const cli::Command& ViewCommand();

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors.
Result<ViewPlan> PlanOf(ViewPlan plan);

}  // namespace perftape::view_tool
