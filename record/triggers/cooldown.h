// SPDX-License-Identifier: Apache-2.0
// The time after a file in which triggers write none.
#pragma once

#include <cstdint>

namespace perftape::record {

// Not thread-safe.
class Cooldown {
 public:
  explicit Cooldown(std::uint64_t length_ns) : length_ns_(length_ns) {}

  // A file was written at `now_ns`.
  void Begin(std::uint64_t now_ns) { end_ns_ = now_ns + length_ns_; }
  // Returns whether one of `triggers`, at least 1, that fired at `now_ns` may write a file. Counts
  // the others. None may while the file before is written.
  bool Admits(std::uint64_t triggers, std::uint64_t now_ns, bool is_writing) {
    const bool is_over = !is_writing && now_ns >= end_ns_;
    ignored_ += is_over ? triggers - 1 : triggers;
    return is_over;
  }
  std::uint64_t ignored() const { return ignored_; }

 private:
  std::uint64_t length_ns_;
  std::uint64_t end_ns_ = 0;
  std::uint64_t ignored_ = 0;
};

}  // namespace perftape::record
