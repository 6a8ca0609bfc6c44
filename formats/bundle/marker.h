// SPDX-License-Identifier: Apache-2.0
// Marker files, such as "elf.perftape" beside "elf". They identify the files of a build-id cache
// that came from a bundle, so that Clean can remove them. The archive contains them too, so that
// plain tar writes them. perf opens the files of a cache by name and ignores markers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::bundle {

inline constexpr std::string_view kMarkerSuffix = ".perftape";

inline bool IsMarker(std::string_view name) {
  return name.size() > kMarkerSuffix.size() && name.ends_with(kMarkerSuffix);
}
inline std::string MarkerOf(std::string_view file) {
  return std::string(file) + std::string(kMarkerSuffix);
}
// Returns "elf" for "elf.perftape".
inline std::string_view MarkedBy(std::string_view marker) {
  return marker.substr(0, marker.size() - kMarkerSuffix.size());
}

// The content of the marker for a file of `size` bytes. A slim copy is smaller than its original.
// So a different size shows that perf has replaced the marked file by the original.
std::string MarkerText(std::uint64_t size);
// The size in a marker. Nothing for other texts.
std::optional<std::uint64_t> SizeInMarker(std::string_view text);

}  // namespace perftape::bundle
