// SPDX-License-Identifier: Apache-2.0
// perftape-bundle: creates, lists, verifies, embeds, extracts and strips bundles of symbols.
#include "tools/bundle/verbs.h"
#include "tools/common/cli/console.h"

int main(int argc, char** argv) noexcept {
  return perftape::cli::MainOfVerbs(perftape::bundle_tool::BundleCommand(), argc, argv);
}
