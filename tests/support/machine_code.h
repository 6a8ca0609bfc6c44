// SPDX-License-Identifier: Apache-2.0
// Machine code for tests, as objdump shows it.
#pragma once

#include <string>
#include <string_view>

namespace perftape {

// The bytes of "48 83 ec 28". Spaces between bytes are optional.
inline std::string MachineCode(std::string_view hex) {
  std::string bytes, digits;
  for (const char digit : hex) {
    if (digit == ' ') continue;
    digits += digit;
    if (digits.size() < 2) continue;
    bytes += static_cast<char>(std::stoi(digits, nullptr, 16));
    digits.clear();
  }
  return bytes;
}

}  // namespace perftape
