// SPDX-License-Identifier: Apache-2.0
// What was mapped in each process at any time of a recording. Samples whose stacks are unwound need
// it in file order, which is not time order. Memory grows with the number of mappings.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "convert/import/epoch.h"
#include "formats/perfdata/address_space.h"

namespace perftape::convert {

class RegionHistory {
 public:
  // Notes what a process has mapped from `epoch` on. Epochs must not decrease from call to call.
  // The dsos must outlive this object.
  void Note(std::uint32_t pid, Epoch epoch, const perfdata::AddressSpace& space);

  // Returns what the process has mapped at an epoch, sorted by address.
  std::vector<perfdata::Region> At(std::uint32_t pid, Epoch epoch) const;

 private:
  // A mapped region, in the epochs [from, to).
  struct Lifetime {
    perfdata::Region region;
    Epoch from = 0, to = 0;
  };
  struct Process {
    std::vector<Lifetime> ended;
    std::vector<Lifetime> mapped;  // at the last Note, sorted by address; `to` is not set
    std::uint64_t fingerprint = 0;
  };

  std::unordered_map<std::uint32_t, Process> processes_;  // by pid
};

}  // namespace perftape::convert
