// SPDX-License-Identifier: Apache-2.0
// The build id of a binary, which its linker wrote into a note (NT_GNU_BUILD_ID). A path says where
// a file was; only the build id says which file it was.
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

// 20 bytes at most (SHA-1, as GNU ld makes by default), of which `size` count; what follows them is
// zero. lld's fast ids have 8, MD5 and UUID 16. Empty is "none".
struct BuildId {
  std::array<std::uint8_t, 20> bytes = {};
  std::uint8_t size = 0;

  // The first 20 of `bytes`: perf.data has no room for more, nor does perf compare more.
  static BuildId From(Bytes bytes);
  // Nothing where `text` is not an even number of hexadecimal digits, 2 to 40 of them.
  static std::optional<BuildId> FromHex(std::string_view text);

  auto operator<=>(const BuildId&) const = default;
  bool empty() const { return size == 0; }
  std::string hex() const;  // lower case

  // The same binary as `other` says? perf before 5.12 recorded 20 bytes whatever the true size, so
  // the longer id may be the shorter one with zeros behind it.
  bool Matches(const BuildId& other) const { return !empty() && bytes == other.bytes; }
};

}  // namespace base
}  // namespace perftape
