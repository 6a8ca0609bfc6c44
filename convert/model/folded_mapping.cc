// SPDX-License-Identifier: Apache-2.0
#include "convert/model/folded_mapping.h"

#include "convert/model/hidden_kernel.h"
#include "formats/folded/folded.h"

namespace perftape::convert {

MappingId AddFoldedMapping(ProfileBuilder& builder, MappingType type, const MappingNames& names) {
  const std::string_view name =
      type == MappingType::kKernel ? folded::kKernelMappingName : folded::kMappingName;
  return builder.Add(Mapping{.filename = builder.Add(name), .type = type, .names = names});
}

bool IsOfFolded(const Profile& profile, const Mapping& mapping) {
  const std::string_view name = profile.text(mapping.filename);
  if (name == folded::kKernelMappingName) return !IsHiddenKernel(profile, mapping);
  return IsFoldedProgram(name);
}

bool IsOfFolded(std::string_view mapping_name, std::uint64_t address) {
  return IsFoldedProgram(mapping_name) ||
         (mapping_name == folded::kKernelMappingName && address == 0);
}

bool IsFoldedProgram(std::string_view mapping_name) {
  return mapping_name == folded::kMappingName;
}

bool HasName(const Profile& profile, const Location& location, const Line& line) {
  return profile[line.function].name != StringId{} ||
         IsFoldedProgram(profile.text(profile[location.mapping].filename));
}

}  // namespace perftape::convert
