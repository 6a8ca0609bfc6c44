// SPDX-License-Identifier: Apache-2.0
// gzip of bytes that are all in memory, by libdeflate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::pprof {

// One member with neither time nor name in it. kIo where memory runs out.
Result<std::vector<std::byte>> Gzip(Bytes plain);

// True for the first bytes of a gzip file.
bool IsGzip(Bytes beginning);

// All members, joined. kCorrupt where one is damaged, or cut, or would make the whole larger than
// `max_size` bytes.
Result<std::vector<std::byte>> Gunzip(Bytes file, std::uint64_t max_size);

}  // namespace perftape::pprof
