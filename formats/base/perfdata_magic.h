// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace perftape {
inline namespace base {

// A perf.data begins with this number (tools/perf/util/header.c, __perf_magic2). In a little-endian
// file its bytes are "PERFILE2", in a big-endian file they are in reverse order.
inline constexpr std::uint64_t kPerfDataMagic = 0x32454c4946524550;

}  // namespace base
}  // namespace perftape
