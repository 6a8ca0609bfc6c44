// SPDX-License-Identifier: Apache-2.0
// Copies the bundle of a perf.data into the file that replaces it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::rewrite {

// Appends the bundle in `old`, a whole perf.data, to the file at `path`, byte for byte. Returns the
// bundle's size with its footer, or 0 if there is no bundle or `path` is no regular file. On
// failure (kIo: disk full) the file is unchanged.
Result<std::uint64_t> CarryBundle(Bytes old, const std::filesystem::path& path);

}  // namespace perftape::rewrite
