// SPDX-License-Identifier: Apache-2.0
// A perf event's ring buffer as perf_event_open(2) maps it: a page of control words, then data
// pages, whose number is a power of two. The kernel writes whole records into these, and wraps at
// the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

struct perf_event_mmap_page;

namespace perftape::record {

// Reads a ring that the caller has mapped. The memory must outlive this object.
class Ring {
 public:
  // `data_size` is the size of `data` in bytes, without the control page: a power of two.
  Ring(perf_event_mmap_page* control, const std::byte* data, std::size_t data_size)
      : control_(control), data_(data), data_size_(data_size) {}

  // Calls `on_record` for each record in the ring, header included; copies a record that wraps. The
  // record is valid during the call only. Then frees the space for the kernel. Returns the number
  // of records. Fails with kCorrupt if a size or the head is invalid; then everything in the ring
  // is dropped, and the next call continues after it.
  Result<std::size_t> Drain(const std::function<void(Bytes)>& on_record);

 private:
  Result<std::size_t> HandOn(std::uint64_t from, std::uint64_t to,
                             const std::function<void(Bytes)>& on_record);
  Bytes RecordAt(std::uint64_t position, std::size_t size);
  void CopyOut(std::uint64_t position, std::size_t size, std::byte* to) const;

  perf_event_mmap_page* control_;
  const std::byte* data_;
  std::size_t data_size_;
  std::vector<std::byte> unwrapped_;
};

}  // namespace perftape::record
