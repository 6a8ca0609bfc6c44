// SPDX-License-Identifier: Apache-2.0
// The bundle in a perf.data goes with it when it is written anew.
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::rewrite {

// Embeds the bundle of `old`, a whole perf.data, in the one at `path`, byte for byte. Returns its
// size with the footer, 0 where there is none, or `path` is no regular file. Where it fails (kIo:
// disk full), the file is as it was.
Result<std::uint64_t> CarryBundle(Bytes old, const std::filesystem::path& path);

}  // namespace perftape::rewrite
