// SPDX-License-Identifier: Apache-2.0
// What the verbs have in common: one bundle to look at.
#pragma once

#include <string>

#include "formats/base/result.h"
#include "formats/bundle/bundle.h"
#include "tools/common/cli/console.h"

namespace perftape::bundle_tool {

// The bundle of that name, "-" for stdin; its errors name it. Tells of members that were passed
// over.
Result<bundle::Bundle> OpenNamed(const std::string& name, cli::Console& console);

// The only operand. kInvalidArgument if there is none, or more than one.
Result<std::string> OnlyBundle(const cli::BaseOptions& options);

// "2 members with a path outside of the directory, 1 member with a repeated name"; empty if there
// are none.
std::string TextOf(const bundle::PassedOver& passed_over);

}  // namespace perftape::bundle_tool
