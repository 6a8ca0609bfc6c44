// SPDX-License-Identifier: Apache-2.0
// Writes a recording again together with its symbol files. The output is the same perf.data,
// followed by a bundle of the files that it already contained and of those found elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/profile_origin.h"
#include "convert/symbolize/symbol_sources.h"
#include "formats/base/input.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::symbolize {

struct EmbedReport {
  std::uint64_t files = 0;             // in the new bundle
  std::uint64_t bytes = 0;             // size of the bundle
  std::vector<std::string> not_found;  // names with build ids
};

// Writes `perf_data` and its bundle to `output`, a path or "-" for stdout. `profile` has the
// samples of `perf_data`. The bundle has slim copies of binaries. Fails with kUnsupported for a
// pipe or a directory, which cannot contain a bundle, and as reading the old bundle and writing
// `output` do.
Result<EmbedReport> EmbedSymbols(Input& perf_data, const convert::Profile& profile,
                                 SymbolSources& sources, const std::filesystem::path& output,
                                 IfExists if_exists);

}  // namespace perftape::symbolize
