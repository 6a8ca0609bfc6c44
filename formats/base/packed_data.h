// SPDX-License-Identifier: Apache-2.0
// Data that a program contains in compressed form: the page of the flame graph, man pages and BPF
// objects, which would be a tenth of the static program. Build scripts make it
// (tools/cmake/packed_data.cmake, pack_skeleton.cmake).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape {
inline namespace base {

struct PackedData {
  std::string_view frame;  // of zstd
  std::size_t size = 0;    // of what it expands to, in bytes
};

// Return what `packed` expands to; fewer bytes if the frame is damaged.
std::vector<std::byte> UnpackBytes(const PackedData& packed);
std::string UnpackText(const PackedData& packed);

}  // namespace base
}  // namespace perftape
