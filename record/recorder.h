// SPDX-License-Identifier: Apache-2.0
// A whole recording behind one function: the plot of snapshot, attach, drain, finish.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/compressor.h"
#include "record/events/bpf_session.h"
#include "record/events/cpu_hotplug.h"
#include "record/events/event_attrs.h"
#include "record/losses/loss_ledger.h"
#include "record/processes/child.h"
#include "record/processes/targets.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

enum class IncludeSelf : std::uint8_t { kNo, kYes };

struct RecordOptions {
  Target target;
  // Started stopped, let go when the recording runs; the recording ends with it. May be empty,
  // unless the target is Workload.
  std::vector<std::string> command;
  SignalState command_signals = SignalState::Now();
  SamplingRate rate = Frequency{99};
  std::vector<int> cpus;      // sampled ones; empty: all that are online
  std::optional<uid_t> user;  // only tasks of this user
  Callchains callchains = Callchains::kFramePointers;
  IncludeSelf include_self = IncludeSelf::kNo;
  std::filesystem::path output = "perf.data";  // a stream (output_target.h) gets pipe format
  std::optional<int> compression_level;        // of zstd, 1 to 22; without one, no compression
  BundleRequest bundle;                        // a pipe has none within it, whatever this says
  std::optional<std::chrono::nanoseconds> duration;
  std::chrono::milliseconds flush_interval{250};
  std::size_t ring_bytes = std::size_t{8} << 20;
  std::vector<std::string> command_line;  // of the recorder itself: the CMDLINE feature
  LibbpfLog log = LibbpfLog::kWarnings;
};

struct RecordSummary {
  std::uint64_t samples = 0;  // in the file
  // The sum of `losses` and of the next two; all of them where the file is gone.
  std::uint64_t lost_samples = 0;
  std::uint64_t damaged_messages = 0;     // from the kernel side, refused on arrival
  std::uint64_t unwritten_samples = 0;    // that came in, and found no room in the file
  std::uint64_t lost_process_events = 0;  // LOST, or unwritten: comms or mappings may be missing
  std::uint64_t bytes_written = 0;
  std::optional<perfdata::Compression> compression;  // of the records, where it was asked for
  std::vector<LossByCpu> losses;                     // of the CPUs that lost any
  std::vector<StalledCpu> stalls;                    // CPUs that stood still; no samples are lost
  std::vector<SilentCpu> silences;                   // CPUs without samples, nobody knows why
  std::vector<AbsentCpu> absences;                   // CPUs that were offline; times are from the
                                                     // start of the recording on
  std::optional<BundleSummary> bundle;               // of symbols, where there is one
  std::string bundle_failure;                        // why there is none though it was asked for
  // Where the recording is: `output`, or a name that someone has given it meanwhile. Empty where it
  // is in no file.
  std::filesystem::path file;
  // Why it ended before its time (disk full) or is gone. What is in the file opens in perf.
  std::string failure;
  // Why the command could not be run. Then nothing was recorded, and no file was touched.
  std::string command_failure;
  // The command's; 128 + n where signal n ended it; a shell's 126 or 127 where it could not be run.
  std::optional<int> command_status;
  std::vector<std::string> warnings;  // what else a user should know, a sentence each
};

// Records until the command ends, the duration is over, the targets are gone or `stop` is
// requested, whichever comes first; then finishes the file. Two threads must not record at once.
//
// Errors: those of BpfSession::Load (kPermission: what is missing and how to get it), of
// OpenOnCpus and perfdata::Writer. Then an earlier file under the name of the recording is as it
// was. An error in the middle (disk full) is in the summary, and so is a bundle that cannot be
// written: the recording is complete without it.
Result<RecordSummary> Record(const RecordOptions& options, std::stop_token stop);

}  // namespace perftape::record
