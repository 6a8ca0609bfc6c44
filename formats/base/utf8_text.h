// SPDX-License-Identifier: Apache-2.0
// The text of a file as UTF-8, for all text formats. A byte order mark selects the encoding:
// PowerShell's ">" writes UTF-16, and editors put a mark before UTF-8. Without a mark the bytes are
// used as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"

namespace perftape {
inline namespace base {

class Utf8Text {
 public:
  // Views the bytes, which must outlive the object. UTF-16 is converted into a copy that the
  // object owns.
  explicit Utf8Text(Bytes file);
  Utf8Text(const Utf8Text&) = delete;
  Utf8Text& operator=(const Utf8Text&) = delete;

  // Without the byte order mark. Valid as long as the object.
  std::string_view view() const { return view_; }
  // The number of invalid UTF-16 units. Each is U+FFFD in the text.
  std::uint64_t broken() const { return broken_; }

 private:
  std::string decoded_;
  std::string_view view_;
  std::uint64_t broken_ = 0;
};

// Returns a text that is kept as a string, as Utf8Text has it. Without a mark it is moved.
std::string ToUtf8(std::string text);

// Whether the bytes begin with a byte order mark.
bool BeginsWithMark(Bytes file);

// The bytes of UTF-8's mark at the start of `text`; 0 if it has none.
std::size_t SizeOfUtf8Mark(std::string_view text);

// Returns the message for a text that has `broken` invalid units.
std::string BrokenTextLine(std::uint64_t broken);

// The bytes to write before `text` so that it is read unchanged: a byte order mark if it begins
// like one, else nothing.
std::string_view MarkBefore(std::string_view text);

}  // namespace base
}  // namespace perftape
