// SPDX-License-Identifier: Apache-2.0
#include "convert/model/mappings_without_files.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "formats/folded/folded.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {
namespace {

constexpr std::uint64_t kAllAddresses = std::numeric_limits<std::uint64_t>::max();

}  // namespace

MappingId AddHiddenKernel(ProfileBuilder& builder) {
  return builder.Add(Mapping{.filename = builder.Add(kHiddenKernelName),
                             .limit = kAllAddresses,
                             .type = MappingType::kKernel});
}

bool IsHiddenKernel(const Profile& profile, const Mapping& mapping) {
  return mapping.type == MappingType::kKernel && mapping.limit == kAllAddresses &&
         profile.text(mapping.filename) == kHiddenKernelName;
}

std::string_view WhyHidden(const Profile& profile) {
  const auto is_known = [&](const Mapping& mapping) {
    return mapping.type == MappingType::kKernel && !IsHiddenKernel(profile, mapping) &&
           perfdata::SourceOf(profile.text(mapping.filename)) == perfdata::MappingSource::kKernel;
  };
  return std::ranges::any_of(profile.mappings(), is_known)
             ? "in no mapping of the kernel: in a module whose address was not recorded"
             : "recorded without CAP_SYSLOG: no kernel names";
}

MappingId AddFoldedMapping(ProfileBuilder& builder, MappingType type, const MappingNames& names) {
  const std::string_view name =
      type == MappingType::kKernel ? folded::kMarkedMappingName : folded::kMappingName;
  return builder.Add(Mapping{.filename = builder.Add(name), .type = type, .names = names});
}

bool IsOfFolded(const Profile& profile, const Mapping& mapping) {
  const std::string_view name = profile.text(mapping.filename);
  if (name == folded::kMarkedMappingName) return !IsHiddenKernel(profile, mapping);
  return IsFoldedProgram(name);
}

bool IsOfFolded(std::string_view mapping_name, std::uint64_t address) {
  return IsFoldedProgram(mapping_name) ||
         (mapping_name == folded::kMarkedMappingName && address == 0);
}

bool IsFoldedProgram(std::string_view mapping_name) {
  return mapping_name == folded::kMappingName;
}

bool HasName(const Profile& profile, const Location& location, const Line& line) {
  return profile[line.function].name != StringId{} ||
         IsFoldedProgram(profile.text(profile[location.mapping].filename));
}

}  // namespace perftape::convert
