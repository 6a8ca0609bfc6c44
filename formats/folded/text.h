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
  // Views the bytes, which must outlive the Text. UTF-16 is converted into a copy that the Text
  // owns.
  explicit Text(Bytes file);
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  // Without the byte order mark. Valid as long as the Text.
  std::string_view view() const { return view_; }
  // The number of invalid UTF-16 units. Each is U+FFFD in the text.
  std::uint64_t broken() const { return broken_; }

 private:
  std::string decoded_;
  std::string_view view_;
  std::uint64_t broken_ = 0;
};

// What to write before `text` so that it is read unchanged: a byte order mark if it begins like
// one, else nothing.
std::string_view MarkBefore(std::string_view text);

}  // namespace perftape::folded
