// SPDX-License-Identifier: Apache-2.0
// Profile -> perf.data that plain `perf report` and `perf script` open with its function names, and
// with no other file. Equal profiles become equal files.
//
//   functions   KSYMBOL records: perf shows them as [k], each in a dso of its own name
//               (address_plan.h); with a symbol_dir, those of the user as [.] in files of that
//               directory, which `perf --buildid-dir` names. Inlined calls are frames of their own.
//               Frames without a name keep their address and mapping, so that they can be named
//               later.
//   samples     as many SAMPLE records as were counted, whose periods add up to the sample's; of an
//               event of plain values one record, whose period is the value
//   threads     COMM records. Samples without a thread are in one of their own, kNoThread
//               (converted.h), called "[no-thread]".
//   times       of the labels "timestamp_ns"; where no sample has one, from the profile's start on,
//               spread evenly over its duration
//   labels      "cpu" and "cgroup" are what perf has for them; all others are left out, and told
//   events      one for each of the profile, marked so that they are read back as they were
//
// ReadPerfData gives the profile back but for what the report tells and for the source lines,
// addresses and mappings of frames with names.
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
  std::optional<int> compression_level = {};  // of zstd, 1 to 22; without one nothing is compressed
  IfExists if_exists = IfExists::kRefuse;
  // Where files are written that name the user's frames (symbol_files.h), which are then no [k] but
  // in dsos of their own. Empty: all names are in the perf.data.
  std::filesystem::path symbol_dir = {};
  // Where the counts ask for more SAMPLE records, several counts share one.
  std::uint64_t most_records = 10'000'000;
};

// What of a profile its perf.data does not hold.
struct PerfDataReport {
  std::uint64_t records = 0;             // SAMPLE records written
  std::uint64_t negative_samples = 0;    // left out: a period is not below 0
  std::uint64_t uncounted_samples = 0;   // a period without a count, now one record each
  std::uint64_t joined_counts = 0;       // counts that share a record with others
  std::uint64_t cut_stacks = 0;          // deeper than a record can be: without their outer frames
  std::uint64_t cut_names = 0;           // longer than a record can be, or with a NUL inside
  std::uint64_t displaced_frames = 0;    // an address that cannot be written, now "[file]"
  std::vector<std::string> lost_labels;  // keys of labels that perf.data cannot hold, sorted
  std::vector<std::string> lost_facts;   // of the metadata: comments and the like, by name
};

// One line for each thing that was lost, for messages: "labels without a place in a perf.data: ..."
std::vector<std::string> LossLines(const PerfDataReport& report);

// `output` is a path, "-" for stdout, which only a pipe's stream can go to. It has its name when it
// is complete. kInvalidArgument for an existing file (if_exists), a file to stdout, a level that
// zstd does not have; kIo, kPermission, kNotFound of the output: then nothing has its name, and no
// file is left in the symbol_dir that was not there.
Result<PerfDataReport> WritePerfData(const Profile& profile, const PerfDataOptions& options,
                                     const std::filesystem::path& output);

}  // namespace perftape::convert
