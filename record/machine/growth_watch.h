// SPDX-License-Identifier: Apache-2.0
// Decides when a long recording searches a collection for elements that are no longer used: each
// time the collection has doubled, so that the search has a constant cost for each element.
#pragma once

#include <algorithm>
#include <cstddef>

namespace perftape::record {

class GrowthWatch {
 public:
  // A smaller collection is never searched.
  explicit GrowthWatch(std::size_t least) : least_(least), next_(least) {}

  bool IsDue(std::size_t size) const { return size > next_; }
  // It was searched, and has this size now.
  void Restart(std::size_t size) { next_ = std::max(least_, 2 * size); }

 private:
  std::size_t least_, next_;
};

}  // namespace perftape::record
