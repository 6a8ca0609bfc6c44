// SPDX-License-Identifier: Apache-2.0
// Functions that the verbs share: they open one bundle.
#pragma once

#include <string>

#include "formats/base/result.h"
#include "formats/bundle/bundle.h"
#include "tools/common/cli/console.h"

namespace perftape::bundle_tool {

// Opens the bundle with that name, "-" for stdin. Errors contain the name. Reports members that
// were skipped.
Result<bundle::Bundle> OpenNamed(const std::string& name, cli::Console& console);

// Returns the only operand. Fails with kInvalidArgument if there is none, or more than one.
Result<std::string> OnlyBundle(const cli::BaseOptions& options);

// Returns "2 members with a path outside of the directory, 1 member with a repeated name"; empty if
// there are none.
std::string TextOf(const bundle::PassedOver& passed_over);

}  // namespace perftape::bundle_tool
