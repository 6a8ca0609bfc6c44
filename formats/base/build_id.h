// SPDX-License-Identifier: Apache-2.0
// The build id of a binary. The linker writes it into a note (NT_GNU_BUILD_ID). A path identifies
// where a file was; only the build id identifies which file it was.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/bytes.h"

namespace perftape {
inline namespace base {

// At most 20 bytes (SHA-1, the default of GNU ld). `size` of them are used; the rest is zero. lld's
// fast ids have 8 bytes, MD5 and UUID 16. If `size` is 0, there is no build id.
struct BuildId {
  std::array<std::uint8_t, 20> bytes = {};
  std::uint8_t size = 0;

  // Keeps the first 20 of `bytes`: perf.data stores no more, and perf compares no more.
  static BuildId From(Bytes bytes);
  // Returns nothing unless `text` is an even number of hexadecimal digits, from 2 to 40.
  static std::optional<BuildId> FromHex(std::string_view text);

  auto operator<=>(const BuildId&) const = default;
  bool empty() const { return size == 0; }
  std::string hex() const;  // in lower case

  // Whether both ids identify the same binary. perf before 5.12 recorded 20 bytes whatever the true
  // size was, so the longer id may be the shorter one followed by zeros.
  bool Matches(const BuildId& other) const { return !empty() && bytes == other.bytes; }
};

}  // namespace base
}  // namespace perftape
