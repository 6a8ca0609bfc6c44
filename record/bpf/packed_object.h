// SPDX-License-Identifier: Apache-2.0
// The BPF objects of a static program are compressed (tools/cmake/pack_skeleton.cmake): they would
// be an eighth of it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formats/base/bytes.h"

namespace perftape::record {

// Returns the object of `size` bytes that begins as a zstd frame in `packed`; fewer bytes if that
// is damaged.
std::vector<std::byte> UnpackObject(Bytes packed, std::size_t size);

}  // namespace perftape::record
