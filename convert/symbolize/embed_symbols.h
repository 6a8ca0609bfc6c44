// SPDX-License-Identifier: Apache-2.0
// A recording made anew with what its names need: the same perf.data, and behind it a bundle of
// what it carried before and of what was found elsewhere.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "convert/symbolize/recording.h"
#include "convert/symbolize/symbol_sources.h"
#include "formats/base/input.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"

namespace perftape::symbolize {

struct EmbedReport {
  std::uint64_t files = 0;             // that the recording carries now
  std::uint64_t bytes = 0;             // of the bundle
  std::vector<std::string> not_found;  // names with build ids
};

// Writes `perf_data`, whose samples `profile` has, to `output`, "-" for stdout, with its bundle; of
// binaries slim copies. kUnsupported for a recording in the form of a pipe or a directory, which
// can carry none; else as its bundle is read and `output` written.
Result<EmbedReport> EmbedSymbols(Input& perf_data, const convert::Profile& profile,
                                 SymbolSources& sources, const std::filesystem::path& output,
                                 IfExists if_exists);

}  // namespace perftape::symbolize
