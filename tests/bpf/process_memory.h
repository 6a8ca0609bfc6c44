// SPDX-License-Identifier: Apache-2.0
// The memory of a process whose stack is walked.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "tests/bpf/kernel_walk.h"

namespace perftape::record {

// The memory of a process, in pages that are present or absent.
class Memory {
 public:
  static constexpr std::uint64_t kPage = 4096;
  using Page = std::array<std::byte, kPage>;

  void Write(std::uint64_t address, Bytes bytes) {
    while (!bytes.empty()) {
      const Bytes part = bytes.first(std::min(bytes.size(), RoomInPage(address)));
      std::ranges::copy(part, pages_[address / kPage].begin() + address % kPage);
      bytes = bytes.subspan(part.size());
      address += part.size();
    }
  }
  void WriteWord(std::uint64_t address, std::uint64_t word) {
    Write(address, std::as_bytes(std::span(&word, 1)));
  }
  void Remove(std::uint64_t address) { pages_.erase(address / kPage); }

  bool Read(std::uint64_t address, std::span<std::byte> to) const {
    while (!to.empty()) {
      const auto page = pages_.find(address / kPage);
      if (page == pages_.end()) return false;
      const std::size_t size = std::min(to.size(), RoomInPage(address));
      std::memcpy(to.data(), page->second.data() + address % kPage, size);
      to = to.subspan(size);
      address += size;
    }
    return true;
  }

  std::optional<std::uint64_t> operator()(std::uint64_t address) const {
    std::uint64_t word = 0;
    if (!Read(address, std::as_writable_bytes(std::span(&word, 1)))) return std::nullopt;
    return word;
  }

  kernel_memory ForKernel() const {
    return {.process = const_cast<Memory*>(this),
            .read = [](void* process, void* to, __u32 size, __u64 address) {
              std::vector<std::byte> bytes(size);
              if (!static_cast<const Memory*>(process)->Read(address, bytes)) return -1;
              std::memcpy(to, bytes.data(), size);
              return 0;
            }};
  }

 private:
  static std::size_t RoomInPage(std::uint64_t address) { return kPage - address % kPage; }

  std::map<std::uint64_t, Page> pages_;
};

}  // namespace perftape::record
