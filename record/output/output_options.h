// SPDX-License-Identifier: Apache-2.0
// The options that all kinds of output have: one file, a rotation, a flight recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "record/symbols/recording_bundle.h"

namespace perftape::record {

struct OutputOptions {
  // A stream (output_target.h) gets pipe format. Of several files a pattern of names
  // (name_pattern.h).
  std::filesystem::path file = "perf.data";
  std::uint64_t reserved_space = 0;  // bytes of the disk that are left to others
  bool sync = false;                 // each round is on the disk before the next begins
  // Equal samples of so long a time become one (sample_aggregator.h).
  std::optional<std::chrono::nanoseconds> aggregate;
  std::optional<int> compression_level;   // zstd level, 1 to 22; nothing: no compression
  BundleRequest bundle;                   // ignored for a pipe, except for a separate file
  std::vector<std::string> command_line;  // of the recorder itself: the CMDLINE feature
};

}  // namespace perftape::record
