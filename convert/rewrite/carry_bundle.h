// SPDX-License-Identifier: Apache-2.0
// Copies the bundle of a perf.data into the file that replaces it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::rewrite {

// Appends the bundle of `old`, a whole perf.data, to the one at `path`, byte for byte. Returns its
// size with the footer; 0 if there is none, or `path` is no regular file. On failure (kIo: disk
// full) the file is unchanged.
Result<std::uint64_t> CarryBundle(Bytes old, const std::filesystem::path& path);

}  // namespace perftape::rewrite
