// SPDX-License-Identifier: Apache-2.0
// perftape-bundle: creates, lists, verifies, embeds, extracts and strips bundles of symbols.
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"
#include "tools/mains.h"

namespace perftape::bundle_tool {

int Main(int argc, char** argv) noexcept {
  return cli::MainOfVerbs(BundleCommand(), argc, argv);
}

}  // namespace perftape::bundle_tool
