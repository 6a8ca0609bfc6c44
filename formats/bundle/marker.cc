// SPDX-License-Identifier: Apache-2.0
#include "formats/bundle/marker.h"

#include <charconv>

namespace perftape::bundle {

std::string MarkerText(std::uint64_t size) {
  return std::to_string(size) +
         " bytes, written from a perftape bundle; 'perftape-bundle clean' removes the file\n";
}

std::optional<std::uint64_t> SizeInMarker(std::string_view text) {
  std::uint64_t size = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const std::string_view behind(rest, text.data() + text.size());
  if (error != std::errc{} || !behind.starts_with(" bytes")) return std::nullopt;
  return size;
}

}  // namespace perftape::bundle
