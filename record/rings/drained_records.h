// SPDX-License-Identifier: Apache-2.0
// Records that were copied from rings and are not yet part of the recording. One thread copies them
// while another writes or waits for the disk.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape::record {

// Not thread-safe.
class DrainedRecords {
 public:
  // Process events of some ten seconds of a machine that starts programs as fast as it can.
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20;

  explicit DrainedRecords(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // True if no more should be copied before Release. What then does not fit into a ring, the kernel
  // counts in a LOST record.
  bool is_full() const { return copied_.size() >= most_bytes_; }
  // Appends a copy of a whole record.
  void Add(Bytes record);

  // Returns all records since the last call, one after another. Valid until the next call; Add
  // does not change it.
  Bytes Release();

 private:
  std::size_t most_bytes_;
  std::vector<std::byte> copied_;
  std::vector<std::byte> released_;
};

}  // namespace perftape::record
