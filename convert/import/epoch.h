// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace perftape::convert {

// A time in a recording: the number of process records that precede it in time order.
using Epoch = std::uint32_t;

}  // namespace perftape::convert
