// SPDX-License-Identifier: Apache-2.0
// The build ids of the feature BUILD_ID by path.
#pragma once

#include <map>
#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

using BuildIdTable = std::map<std::string, BuildId, std::less<>>;

// Empty if the file has no feature BUILD_ID, or if it cannot be decoded.
inline BuildIdTable BuildIdTableOf(const Reader& reader) {
  BuildIdTable ids;
  const auto value = reader.DecodedFeature(FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<BuildIds>(&*value) : nullptr;
  if (table == nullptr) return ids;
  for (const BuildIdEntry& entry : table->entries) ids.emplace(entry.filename, entry.build_id);
  return ids;
}

}  // namespace perftape::perfdata
