// SPDX-License-Identifier: Apache-2.0
// The feature BUILD_ID, by path.
#pragma once

#include <map>
#include <string>

#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

using BuildIdTable = std::map<std::string, BuildId, std::less<>>;

// Empty where the file has no such feature, or none that can be read.
inline BuildIdTable BuildIdTableOf(const Reader& reader) {
  BuildIdTable ids;
  const auto value = reader.DecodedFeature(FeatureBit::kBuildId);
  const auto* table = value ? std::get_if<BuildIds>(&*value) : nullptr;
  if (table == nullptr) return ids;
  for (const BuildIdEntry& entry : table->entries) ids.emplace(entry.filename, entry.build_id);
  return ids;
}

}  // namespace perftape::perfdata
