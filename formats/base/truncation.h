// SPDX-License-Identifier: Apache-2.0
// Protects against files that shrink while they are mapped. Reading a mapped page after the end of
// a truncated file raises SIGBUS, which would end the program, and a recording with it. In guarded
// mappings such reads return zeros, and the mapping is marked as truncated. systemd does the same
// for journals (src/basic/sigbus.c).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape {
inline namespace base {

// Guards one mapping until it is destroyed. The mapping must live longer. The first guard installs
// a handler for SIGBUS. For other causes, this handler restores the previous one.
class TruncationGuard {
 public:
  TruncationGuard() = default;  // guards nothing
  // `mapped` begins at a page boundary. TruncatedFiles returns `name`.
  TruncationGuard(Bytes mapped, std::string_view name);
  TruncationGuard(TruncationGuard&& other) noexcept;
  TruncationGuard& operator=(TruncationGuard&& other) noexcept;
  TruncationGuard(const TruncationGuard&) = delete;
  TruncationGuard& operator=(const TruncationGuard&) = delete;
  ~TruncationGuard();

  // Whether a read after the end of the file occurred.
  bool was_truncated() const;

  struct Entry;

 private:
  Entry* entry_ = nullptr;
};

// The names of all files in which that occurred, including mappings that are gone. Thread-safe.
std::vector<std::string> TruncatedFiles();

}  // namespace base
}  // namespace perftape
