// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/unwind_arena.h"

#include <iterator>

namespace perftape::record {

UnwindArena::UnwindArena(std::uint32_t size) : size_(size) {
  if (size > 0) free_.emplace(0, size);
}

std::optional<std::uint32_t> UnwindArena::Allocate(std::uint32_t count, std::uint64_t now_ns) {
  Reclaim(now_ns);
  for (auto region = free_.begin(); region != free_.end(); ++region) {
    const auto [first, available] = *region;
    if (available < count) continue;
    free_.erase(region);
    if (available > count) free_.emplace(first + count, available - count);
    return first;
  }
  return std::nullopt;
}

void UnwindArena::Free(std::uint32_t first, std::uint32_t count, std::uint64_t now_ns) {
  if (count > 0) waiting_.push_back({.first = first, .count = count, .since_ns = now_ns});
}

void UnwindArena::Reclaim(std::uint64_t now_ns) {
  while (!waiting_.empty() && now_ns >= waiting_.front().since_ns + kGraceNs) {
    AddFree(waiting_.front().first, waiting_.front().count);
    waiting_.pop_front();
  }
}

void UnwindArena::AddFree(std::uint32_t first, std::uint32_t count) {
  auto next = free_.lower_bound(first);
  if (next != free_.end() && first + count == next->first) {
    count += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == first) {
      previous->second += count;
      return;
    }
  }
  free_.emplace(first, count);
}

}  // namespace perftape::record
