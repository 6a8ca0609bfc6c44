// SPDX-License-Identifier: Apache-2.0
#include "tools/bundle/build_id_cache.h"

#include <cstdlib>

namespace perftape::bundle_tool {

std::filesystem::path DefaultBuildIdCache() {
  const char* home = std::getenv("HOME");  // NOLINT(concurrency-mt-unsafe): never set here
  if (home == nullptr || *home == '\0') return {};
  return std::filesystem::path(home) / ".debug";
}

}  // namespace perftape::bundle_tool
