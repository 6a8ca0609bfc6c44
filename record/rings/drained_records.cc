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

Bytes DrainedRecords::Release() {
  released_.clear();
  if (released_.capacity() > kKeptBytes) released_ = {};
  released_.swap(copied_);
  return released_;
}

}  // namespace perftape::record
