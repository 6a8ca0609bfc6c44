// SPDX-License-Identifier: Apache-2.0
#include "convert/import/mapping_type.h"

#include "formats/base/addresses.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::convert {

MappingType TypeOfMapping(std::string_view filename, std::uint64_t start) {
  switch (perfdata::SourceOf(filename)) {
    case perfdata::MappingSource::kKernel:
    case perfdata::MappingSource::kGuestKernel:
    case perfdata::MappingSource::kModule:
      return MappingType::kKernel;
    default:
      break;
  }
  // Mappings of a process, such as [vsyscall], may be in the upper half.
  const bool is_in_kernel = IsInKernelHalf(start) && !filename.starts_with('[');
  return is_in_kernel ? MappingType::kKernel : MappingType::kUser;
}

}  // namespace perftape::convert
