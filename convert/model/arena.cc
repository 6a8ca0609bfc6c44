// SPDX-License-Identifier: Apache-2.0
#include "convert/model/arena.h"

#include <algorithm>
#include <cstdint>

namespace perftape::convert {
namespace {

constexpr std::size_t kFirstChunk = std::size_t{4} << 10;
constexpr std::size_t kLargestChunk = std::size_t{1} << 20;

// Returns the number of bytes from `at` to the next multiple of `alignment`, a power of two.
std::size_t PaddingTo(std::size_t alignment, const std::byte* at) {
  return -reinterpret_cast<std::uintptr_t>(at) & (alignment - 1);
}

}  // namespace

std::string_view Arena::Copy(std::string_view text) {
  const auto bytes = CopyBytes(std::as_bytes(std::span(text)), 1);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> Arena::CopyBytes(std::span<const std::byte> bytes,
                                            std::size_t alignment) {
  if (bytes.empty()) return {};
  std::size_t padding = PaddingTo(alignment, free_.data());
  if (free_.size() < padding || free_.size() - padding < bytes.size()) {
    const std::size_t doubled = kFirstChunk << std::min<std::size_t>(chunks_.size(), 16);
    const std::size_t size = std::max(std::min(doubled, kLargestChunk), bytes.size());
    chunks_.push_back(std::make_shared_for_overwrite<std::byte[]>(size + alignment));
    free_ = {chunks_.back().get(), size + alignment};
    padding = PaddingTo(alignment, free_.data());
  }
  const std::span<std::byte> copy = free_.subspan(padding, bytes.size());
  std::ranges::copy(bytes, copy.begin());
  free_ = free_.subspan(padding + bytes.size());
  return copy;
}

}  // namespace perftape::convert
