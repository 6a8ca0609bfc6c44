// SPDX-License-Identifier: Apache-2.0
// Memory whose content never moves. What was copied into an arena keeps its address until the arena
// and all its copies are destroyed. A copy of an arena shares the existing content and adds new
// content to its own memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace perftape::convert {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena& other) : chunks_(other.chunks_) {}
  Arena(Arena&& other) noexcept
      : chunks_(std::move(other.chunks_)), free_(std::exchange(other.free_, {})) {}
  Arena& operator=(Arena other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(free_, other.free_);
    return *this;
  }
  ~Arena() = default;

  // Returns a copy of `text` that lives as long as the arena.
  std::string_view Copy(std::string_view text);

  template <class T>
  requires std::is_trivially_copyable_v<T> std::span<const T> Copy(std::span<const T> values) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    const std::span<const std::byte> bytes = CopyBytes(std::as_bytes(values), alignof(T));
    return {reinterpret_cast<const T*>(bytes.data()), values.size()};
  }

 private:
  std::span<const std::byte> CopyBytes(std::span<const std::byte> bytes, std::size_t alignment);

  std::vector<std::shared_ptr<std::byte[]>> chunks_;
  std::span<std::byte> free_;  // the end of the last chunk; only this arena writes to it
};

}  // namespace perftape::convert
