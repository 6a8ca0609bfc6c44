// SPDX-License-Identifier: Apache-2.0
// What a recording has written, and where.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/perfdata/compressor.h"
#include "record/symbols/write_bundle.h"

namespace perftape::record {

struct OutputCounts {
  std::uint64_t samples = 0;  // in the file, or all files that were not deleted by others
  std::vector<std::uint64_t> samples_by_event = {};
  std::uint64_t unwritten_samples = 0;  // received, but not written
  std::uint64_t gone_samples = 0;       // of files that others deleted while they were written
  std::map<int, std::uint64_t> sideband_losses = {};  // process events lost in a ring, by CPU
  std::uint64_t unwritten_process_events = 0;
  // Samples that are part of another one, in intervals of this length (--aggregate).
  std::uint64_t aggregated = 0, aggregate_ns = 0;
};

// The files of a recording that writes more than one.
struct RotationSummary {
  std::uint64_t files = 0;  // that were completed
  std::uint64_t deleted = 0;
  std::uint64_t bytes = 0;            // of all completed files
  std::uint64_t suspensions = 0;      // how often the disk was full
  std::uint64_t failed_commands = 0;  // of --exec-on-switch
  std::filesystem::path first, last;
};

// A file of a flight recording.
struct FlightFile {
  std::string trigger;  // why it was written
  std::filesystem::path file;
  std::uint64_t kept_ns = 0;  // the time before its end that it has
};

struct FlightSummary {
  std::uint64_t span_ns = 0;  // that was requested
  std::uint64_t kept_ns = 0;  // that the last file has
  // The shortest time of a file that has less for lack of memory; nothing if none has.
  std::optional<std::uint64_t> least_kept_ns = {};
  std::uint64_t dropped_samples = 0;   // that were too old for the last file
  std::uint64_t ignored_triggers = 0;  // too soon after a file to write another
  std::vector<FlightFile> files;       // the latest ones, the last one last
};

struct OutputSummary {
  OutputCounts counts = {};
  std::uint64_t bytes_written = 0;
  std::optional<perfdata::Compression> compression = {};  // of the records, if requested
  std::optional<BundleSummary> bundle = {};               // of symbols, if one was written
  std::string bundle_failure = {};  // why no bundle was written although one was requested
  // The path of the recording: the requested one, or the new name if someone has renamed the file.
  // Empty if the recording is in no file.
  std::filesystem::path file = {};
  // Why the recording ended early (disk full) or is lost. The records in the file open in perf.
  std::string failure = {};
  std::optional<RotationSummary> rotation = {};  // also of a flight recording
  std::optional<FlightSummary> flight = {};      // then the samples are those of the last file
};

}  // namespace perftape::record
