// SPDX-License-Identifier: Apache-2.0
#include "record/rings/perf_ring.h"

#include <fmt/core.h>
#include <linux/perf_event.h>

#include <atomic>
#include <cstring>

#include "formats/perfdata/abi.h"

namespace perftape::record {

Result<std::size_t> Ring::Drain(const std::function<void(Bytes)>& on_record) {
  // The kernel writes records before it advances data_head, and reuses space only after data_tail
  // has advanced (include/uapi/linux/perf_event.h). Both never wrap; the offset in the ring is
  // their remainder.
  const std::uint64_t head =
      std::atomic_ref<__u64>(control_->data_head).load(std::memory_order_acquire);
  const std::uint64_t tail = control_->data_tail;  // only this process writes it
  const Result<std::size_t> count = HandOn(tail, head, on_record);
  std::atomic_ref<__u64>(control_->data_tail).store(head, std::memory_order_release);
  return count;
}

Result<std::size_t> Ring::HandOn(std::uint64_t from, std::uint64_t to,
                                 const std::function<void(Bytes)>& on_record) {
  if (to - from > data_size_) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("perf ring of {} bytes claims to hold {}", data_size_, to - from));
  }
  std::size_t count = 0;
  while (from != to) {
    perfdata::RecordHeader header{};
    const std::uint64_t available = to - from;
    if (available >= sizeof header) {
      CopyOut(from, sizeof header, reinterpret_cast<std::byte*>(&header));
    }
    if (header.size < sizeof header || header.size > available) {
      return Fail(
          ErrorCode::kCorrupt,
          fmt::format("perf ring: record of {} bytes where {} are left", header.size, available));
    }
    on_record(RecordAt(from, header.size));
    from += header.size;
    ++count;
  }
  return count;
}

Bytes Ring::RecordAt(std::uint64_t position, std::size_t size) {
  const std::size_t offset = position & (data_size_ - 1);
  if (size <= data_size_ - offset) return {data_ + offset, size};
  unwrapped_.resize(size);
  CopyOut(position, size, unwrapped_.data());
  return unwrapped_;
}

void Ring::CopyOut(std::uint64_t position, std::size_t size, std::byte* to) const {
  const std::size_t offset = position & (data_size_ - 1);
  const std::size_t before_end = std::min(size, data_size_ - offset);
  std::memcpy(to, data_ + offset, before_end);
  std::memcpy(to + before_end, data_, size - before_end);
}

}  // namespace perftape::record
