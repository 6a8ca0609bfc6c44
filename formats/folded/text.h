// SPDX-License-Identifier: Apache-2.0
// The text of a folded file as UTF-8. A byte order mark selects the encoding: PowerShell writes
// UTF-16, and editors put a mark before UTF-8. Without a mark the bytes are used as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"

namespace perftape::folded {

class Text {
 public:
  // The bytes must live as long as the text, unless they are UTF-16, which becomes UTF-8.
  explicit Text(Bytes file);
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  // Without the mark; valid as long as the Text.
  std::string_view view() const { return view_; }
  // Pieces of UTF-16 that are no character: each is U+FFFD in the text.
  std::uint64_t broken() const { return broken_; }

 private:
  std::string decoded_;
  std::string_view view_;
  std::uint64_t broken_ = 0;
};

// What to put before a text that is written, so that it is read as it is: another mark, where it
// begins like one; else nothing.
std::string_view MarkBefore(std::string_view text);

}  // namespace perftape::folded
