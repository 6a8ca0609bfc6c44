// SPDX-License-Identifier: Apache-2.0
// Memory that stays where it is: what was copied into it keeps its address until the arena and all
// copies of it are gone. A copy of an arena shares what is there and adds to memory of its own.
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

  // A copy of `text` that lives as long as the arena.
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
  std::span<std::byte> free_;  // the rest of the chunk that this arena, and no copy, writes to
};

}  // namespace perftape::convert
