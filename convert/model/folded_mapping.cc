// SPDX-License-Identifier: Apache-2.0
#include "convert/model/folded_mapping.h"

#include "convert/model/hidden_kernel.h"
#include "formats/folded/folded.h"

namespace perftape::convert {

MappingId AddFoldedMapping(ProfileBuilder& builder, MappingType type, const MappingNames& names) {
  const std::string_view name =
      type == MappingType::kKernel ? folded::kMarkedMappingName : folded::kMappingName;
  return builder.Add(Mapping{.filename = builder.Add(name), .type = type, .names = names});
}

bool IsOfFolded(const Profile& profile, const Mapping& mapping) {
  const std::string_view name = profile.text(mapping.filename);
  if (name == folded::kMarkedMappingName) return !IsHiddenKernel(profile, mapping);
  return name == folded::kMappingName;
}

bool HasName(const Profile& profile, const Location& location, const Line& line) {
  return profile[line.function].name != StringId{} ||
         profile.text(profile[location.mapping].filename) == folded::kMappingName;
}

}  // namespace perftape::convert
