// SPDX-License-Identifier: Apache-2.0
// Numbers of things in messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perftape::cli {

// "1 sample", "2 samples", "0 samples". `noun` is one that takes an s.
inline std::string Counted(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count);
  text += ' ';
  text += noun;
  if (count != 1) text += 's';
  return text;
}

}  // namespace perftape::cli
