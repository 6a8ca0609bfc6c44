// SPDX-License-Identifier: Apache-2.0
#include "convert/export/address_allocator.h"

#include <iterator>

namespace perftape::convert {

bool AddressAllocator::Reserve(std::uint64_t start, std::uint64_t size) {
  if (size == 0 || start > kLast || size > kLast - start) return false;
  const auto above = ends_.lower_bound(start + size);
  if (above != ends_.begin() && std::prev(above)->second > start) return false;
  ends_.emplace(start, start + size);
  return true;
}

std::optional<std::uint64_t> AddressAllocator::Allocate(std::uint64_t size, std::uint64_t like) {
  const std::uint64_t behind_all = ends_.empty() ? 0 : std::prev(ends_.end())->second;
  for (const std::uint64_t from : {next_, behind_all}) {
    const std::uint64_t start = (from / kPage + 1) * kPage + like % kPage;
    if (start < from || !Reserve(start, size)) continue;
    next_ = start + size;
    return start;
  }
  return std::nullopt;
}

}  // namespace perftape::convert
