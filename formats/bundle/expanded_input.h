// SPDX-License-Identifier: Apache-2.0
// Inputs that are compressed as a whole, such as perf.data.gz and out.folded.zst.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::bundle {

// Returns "gzip", "bzip2", "xz" or "zstd", or an empty string for other bytes.
std::string_view CompressionOf(Bytes beginning);

// Returns an uncompressed input unchanged. Otherwise expands it and keeps its name. The errors are
// those of Expand, with that name.
Result<Input> Expanded(Input input);

// Input::Open, then Expanded.
Result<Input> OpenExpanded(const std::filesystem::path& path);

}  // namespace perftape::bundle
