// SPDX-License-Identifier: Apache-2.0
// Texts that a program contains in compressed form: the page of the flame graph and man pages.
// Build scripts make them (tools/cmake/packed_data.cmake).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

struct PackedData {
  std::string_view frame;  // of zstd
  std::size_t size = 0;    // of what it expands to, in bytes
};

// Returns what `packed` expands to; less of it if the frame is damaged.
std::string UnpackText(const PackedData& packed);

}  // namespace base
}  // namespace perftape
