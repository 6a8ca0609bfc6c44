// SPDX-License-Identifier: Apache-2.0
// Profile -> perf.data. Plain `perf report` and `perf script` show its function names without any
// other file. Equal profiles become equal files.
//
//   functions   KSYMBOL records: perf shows them as [k], each in a dso of its own name
//               (address_plan.h). With a symbol_dir, user functions are shown as [.], in files
//               of that directory, which `perf --buildid-dir` names. Inlined calls are frames
//               of their own. Frames without a name keep their address and mapping, so that
//               they can be named later.
//   samples     as many SAMPLE records as were counted, whose periods add up to the sample's
//               period. A plain value is one record, whose period is the value.
//   threads     COMM records. Samples without a thread belong to a thread kNoThread
//               (converted.h), called "[no-thread]".
//   times       from the labels "timestamp_ns". If no sample has one, the times start at the
//               profile's start and are spread evenly over its duration.
//   labels      "cpu" and "cgroup" become perf's own fields. The thread that a wakeup woke is the
//               address of its sample (event_meanings.h). All others are left out and reported.
//   events      one for each event of the profile, marked so that reading restores it
//
// ReadPerfData returns the same profile, except for the losses in the report and for the source
// lines, addresses and mappings of named frames.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/perfdata/header.h"

namespace perftape::convert {

struct PerfDataOptions {
  perfdata::Container container = perfdata::Container::kFile;
  std::optional<int> compression_level = {};  // of zstd, 1 to 22; not compressed if not set
  IfExists if_exists = IfExists::kRefuse;
  // Directory for files that name user frames (generated_symbols.h). These frames are then not [k]
  // but in dsos of their own. If empty, all names are in the perf.data.
  std::filesystem::path symbol_dir = {};
  // If the counts need more SAMPLE records than this, several counts share a record.
  std::uint64_t most_records = 10'000'000;
};

// The parts of the profile that the perf.data does not contain.
struct PerfDataReport {
  std::uint64_t records = 0;            // SAMPLE records written
  std::uint64_t negative_samples = 0;   // left out: a period cannot be below 0
  std::uint64_t uncounted_samples = 0;  // a period without a count, written as one record each
  std::uint64_t joined_counts = 0;      // counts that share a record with others
  std::uint64_t cut_stacks = 0;         // too deep for a record: written without their outer frames
  std::uint64_t cut_names = 0;          // too long for a record, or with a NUL inside
  std::uint64_t displaced_frames = 0;   // their address cannot be written; now "[file]"
  std::vector<std::string> lost_labels;  // keys of labels that perf.data cannot hold, sorted
  std::vector<std::string> lost_facts;   // metadata that perf.data cannot hold
};

// Returns one line for messages for each type of loss: "labels that a perf.data cannot contain:
// ..."
std::vector<std::string> LossLines(const PerfDataReport& report);

// `output` is a path or "-" for stdout; only a pipe container can be written to stdout. The file
// gets its name when it is complete. Fails with kInvalidArgument for an existing file (if_exists),
// for a file container to stdout, and for a compression level that zstd does not have. Fails with
// kIo, kPermission or kNotFound as the output does. After a failure no file has the name `output`,
// and the symbol_dir contains no new files.
Result<PerfDataReport> WritePerfData(const Profile& profile, const PerfDataOptions& options,
                                     const std::filesystem::path& output);

}  // namespace perftape::convert
