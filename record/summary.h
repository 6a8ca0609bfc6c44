// SPDX-License-Identifier: Apache-2.0
// The result of Record() (recorder.h): what is in the file, what is missing, and why.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/bundle/recording_notes.h"
#include "record/losses/loss_summary.h"
#include "record/output/output_summary.h"

namespace perftape::record {

// What was recorded of an event.
struct EventSummary {
  std::string name = {};
  std::uint64_t samples = 0;             // of RecordSummary::samples
  std::vector<LossByCpu> losses = {};    // CPUs that lost samples
  std::vector<StalledCpu> stalls = {};   // CPUs that were stopped; no sample is lost
  std::vector<SilentCpu> silences = {};  // CPUs without samples for an unknown reason
  // CPUs on which the kernel throttled an event that has no LossByCpu::throttled.
  std::vector<ThrottledCpu> throttled = {};
  // How the call chains ended that were found by unwind tables; all zero for other methods.
  ChainEnds chain_ends = {};
  // Of these, those with a frame whose rule was derived from instructions.
  std::uint64_t derived_chains = 0;
};

struct RecordSummary {
  std::uint64_t start_ns = 0;   // of sampling, CLOCK_MONOTONIC
  std::uint64_t samples = 0;    // in the file
  bool only_user_code = false;  // Sampler::kKernel
  // The sum of the losses of all events, damaged_messages and unwritten_samples. If the file was
  // deleted, its samples are included.
  std::uint64_t lost_samples = 0;
  std::uint64_t damaged_messages = 0;  // invalid messages from the BPF programs
  // Of tracepoints: hits that the kernel did not pass on, of any task, recorded or not. Not counted
  // as lost.
  std::uint64_t skipped_hits = 0;
  std::uint64_t unwritten_samples = 0;  // received, but not written because of `failure`
  // Lost in a ring or not written. Some names of threads or mappings may be missing.
  std::uint64_t lost_process_events = 0;
  std::map<int, std::uint64_t> sideband_losses = {};  // of those, by CPU: lost in a ring
  // Samples that are part of another one, in intervals of this length (--aggregate).
  std::uint64_t aggregated = 0, aggregate_ns = 0;
  // The rate at the start and its changes (--max-cpu); empty if it cannot change.
  std::vector<bundle::NotedRate> rates = {};
  std::uint64_t bytes_written = 0;
  std::optional<perfdata::Compression> compression = {};  // of the records, if requested
  std::vector<EventSummary> events = {};                  // in the order of the file
  // CPUs that were offline for a time. Times count from the start of the recording.
  std::vector<AbsentCpu> absences = {};
  std::optional<BundleSummary> bundle = {};  // of symbols, if one was written
  std::string bundle_failure = {};           // why no bundle was written although one was requested
  // The path of the recording: `output`, or the name that someone gave the file since. Empty if the
  // recording is in no file.
  std::filesystem::path file = {};
  // Why the recording ended early (disk full) or is lost. The records in the file open in perf.
  std::string failure = {};
  std::optional<RotationSummary> rotation = {};  // also of a flight recording
  std::optional<FlightSummary> flight = {};      // then `samples` are those of the last file
  // Why the command could not be run. Then nothing was recorded, and no file was changed.
  std::string command_failure = {};
  // The exit status of the command; 128 + n if signal n ended it; 126 or 127, as in a shell, if it
  // could not be run.
  std::optional<int> command_status = {};
  std::vector<std::string> warnings = {};  // one sentence each
};

// Returns the sum of what a recording of the events `events` has lost and written; without what
// only the recorder knows: rates, warnings of others, and how the command ended.
RecordSummary SumUp(std::span<const PlannedEvent> events, LossSummary losses, OutputSummary output);

}  // namespace perftape::record
