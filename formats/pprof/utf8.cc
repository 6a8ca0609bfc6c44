// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/utf8.h"

#include <algorithm>
#include <cstddef>

#include "formats/base/utf8.h"

namespace perftape::pprof {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

}  // namespace

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = FirstCodePoint(text).size;
    valid += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return valid;
}

}  // namespace perftape::pprof
