// SPDX-License-Identifier: Apache-2.0
#include "record/rings/drained_records.h"

namespace perftape::record {
namespace {

// Larger buffers, of a burst, go back to the system.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

}  // namespace

void DrainedRecords::Add(Bytes record) {
  copied_.insert(copied_.end(), record.begin(), record.end());
}

Bytes DrainedRecords::Take() {
  taken_.clear();
  if (taken_.capacity() > kKeptBytes) taken_ = {};
  taken_.swap(copied_);
  return taken_;
}

}  // namespace perftape::record
