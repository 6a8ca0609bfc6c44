// SPDX-License-Identifier: Apache-2.0
// What the verbs share: the bundle that they open, and the cache of build ids.
#pragma once

#include <filesystem>
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

// The directory of perf's build-id cache: $PERF_BUILDID_DIR, which perf sets for the programs that
// it runs, or ~/.debug; empty if HOME is not set.
std::filesystem::path DefaultBuildIdCache();

}  // namespace perftape::bundle_tool
