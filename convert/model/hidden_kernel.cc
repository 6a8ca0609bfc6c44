// SPDX-License-Identifier: Apache-2.0
#include "convert/model/hidden_kernel.h"

#include <algorithm>
#include <cstdint>
#include <limits>

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

}  // namespace perftape::convert
