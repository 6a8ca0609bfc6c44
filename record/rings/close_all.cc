// SPDX-License-Identifier: Apache-2.0
#include "record/rings/close_all.h"

#include "formats/base/parallel.h"

namespace perftape::record {

void CloseAll(std::vector<UniqueFd> descriptors) {
  constexpr unsigned kMostThreads = 64;  // they only wait
  ParallelFor(descriptors.size(), kMostThreads,
              [&](std::size_t i, unsigned /*worker*/) { descriptors[i].Reset(); });
}

}  // namespace perftape::record
