// SPDX-License-Identifier: Apache-2.0
// The lines of an input, one after the other. A stream is read in blocks, of which only those with
// lines in use are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>

#include "formats/base/input.h"

namespace perftape::script {

class Lines {
 public:
  // Longer lines are left out, because perf does not print them.
  static constexpr std::size_t kLongest = std::size_t{1} << 20;

  // `input` must outlive this object. The lines of a stream are consumed. Skips UTF-8's byte order
  // mark.
  explicit Lines(Input& input);
  // The lines of a text, which must outlive this object.
  explicit Lines(std::string_view text) : rest_(text) {}

  // Sets `line` to the next line, without "\n" or "\r\n". Returns false at the end. The line is
  // valid until the Release after the next one.
  bool Next(std::string_view& line);
  // Frees the lines before the last one that Next returned.
  void Release();

  std::uint64_t number() const { return number_; }      // of the last line, from 1
  std::uint64_t position() const { return position_; }  // after the last line, in bytes
  // Lines above kLongest, and the number of the first one.
  std::uint64_t too_long() const { return too_long_; }
  std::uint64_t first_too_long() const { return first_too_long_; }

 private:
  // Returns the end of the line at the start of rest_; npos if it is too long, or the last one.
  std::size_t FindEnd();
  // Discards the line at the start of rest_. Its end is not in rest_ yet.
  void SkipLine();
  bool ReadBlock();

  Input* input_ = nullptr;         // null if all of the text is in rest_
  std::list<std::string> blocks_;  // of a stream
  std::string_view rest_;          // not returned yet
  std::uint64_t number_ = 0, position_ = 0, too_long_ = 0, first_too_long_ = 0;
};

}  // namespace perftape::script
