// SPDX-License-Identifier: Apache-2.0
// Protects against files that shrink while they are mapped. Reading a mapped page behind the end of
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

// Guards one mapping for as long as it lives, which must be shorter than the mapping lives. The
// first one installs the handler of SIGBUS, which leaves other causes to the handler before it.
class TruncationGuard {
 public:
  TruncationGuard() = default;  // guards nothing
  // `mapped` begins at a page; `name` is for TruncatedFiles.
  TruncationGuard(Bytes mapped, std::string_view name);
  TruncationGuard(TruncationGuard&& other) noexcept;
  TruncationGuard& operator=(TruncationGuard&& other) noexcept;
  TruncationGuard(const TruncationGuard&) = delete;
  TruncationGuard& operator=(const TruncationGuard&) = delete;
  ~TruncationGuard();

  // Whether anything was read behind the end of the file.
  bool has_struck() const;

  struct Entry;

 private:
  Entry* entry_ = nullptr;
};

// The names of all files that were found so, also of mappings that are gone. Any thread may ask.
std::vector<std::string> TruncatedFiles();

}  // namespace base
}  // namespace perftape
