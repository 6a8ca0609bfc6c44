// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

// Returns "1 sample", "2 samples" or "0 samples". The plural of `noun` must end in s.
inline std::string Counted(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace base
}  // namespace perftape
