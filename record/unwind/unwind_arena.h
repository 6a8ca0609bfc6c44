// SPDX-License-Identifier: Apache-2.0
// Allocates regions of an array that BPF programs read at any time. A freed region is used again
// only when no program can still be reading it.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

namespace perftape::record {

// Not thread-safe.
class UnwindArena {
 public:
  // Much longer than a program runs. A program that is called for a probe can be preempted.
  static constexpr std::uint64_t kGraceNs = 200'000'000;

  explicit UnwindArena(std::uint32_t size);

  // Returns the first element of a region of `count` elements, which is not 0; nothing if no free
  // region is large enough. Times are CLOCK_MONOTONIC.
  std::optional<std::uint32_t> Allocate(std::uint32_t count, std::uint64_t now_ns);
  // Frees the region; nothing refers to it any longer.
  void Free(std::uint32_t first, std::uint32_t count, std::uint64_t now_ns);

  std::uint32_t size() const { return size_; }
  // Whether freed regions wait for the end of their grace time.
  bool has_waiting() const { return !waiting_.empty(); }

 private:
  struct Waiting {
    std::uint32_t first = 0, count = 0;
    std::uint64_t since_ns = 0;
  };
  void Reclaim(std::uint64_t now_ns);
  void AddFree(std::uint32_t first, std::uint32_t count);

  std::uint32_t size_;
  std::map<std::uint32_t, std::uint32_t> free_;  // first to count; no two are adjacent
  std::deque<Waiting> waiting_;
};

}  // namespace perftape::record
