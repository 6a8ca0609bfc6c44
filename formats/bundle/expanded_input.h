// SPDX-License-Identifier: Apache-2.0
// Inputs that are compressed as a whole: perf.data.gz, out.folded.zst.
#pragma once

#include <filesystem>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::bundle {

// "gzip", "bzip2", "xz", "zstd"; empty for other bytes.
std::string_view CompressionOf(Bytes beginning);

// The input itself, or what is compressed in it, under the same name. Errors as Expand has them,
// with that name.
Result<Input> Expanded(Input input);

// Input::Open and Expanded.
Result<Input> OpenExpanded(const std::filesystem::path& path);

}  // namespace perftape::bundle
