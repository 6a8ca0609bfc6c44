// SPDX-License-Identifier: Apache-2.0
// Detects blocks of zeros, which need no disk space in a sparse file.
#pragma once

#include <cstring>

#include "formats/base/bytes.h"

namespace perftape::bundle {

// Whether all of `bytes` are zero. There must be at least one.
inline bool IsZero(Bytes bytes) {
  return bytes.front() == std::byte{} &&
         std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

}  // namespace perftape::bundle
