// SPDX-License-Identifier: Apache-2.0
// The result of Record() (recorder.h): what is in the file, what is missing, and why. NotesOf
// returns the part of it that is written into the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/bundle/recording_notes.h"
#include "record/input/latency_ledger.h"
#include "record/losses/loss_account.h"
#include "record/output/output_summary.h"

namespace perftape::record {

struct RecordSummary {
  LossSummary losses = {};
  OutputSummary output = {};
  std::uint64_t end_ns = 0;     // of sampling, or of the last round so far; CLOCK_MONOTONIC
  bool only_user_code = false;  // Sampler::kKernelForUser
  // Hits of tracepoints that the kernel did not pass on, of any task, recorded or not. Not counted
  // as lost.
  std::uint64_t skipped_hits = 0;
  std::vector<bundle::NotedContainer> containers = {};  // if cgroups are recorded
  // The cgroups of recorded processes, with RecordOptions::cgroup_usage.
  std::vector<bundle::NotedCgroup> cgroups = {};
  std::vector<bundle::NotedProcess> processes = {};  // with what they publish about themselves
  LatencySummary latency = {};
  std::vector<bundle::NotedPauses> pauses = {};  // times in which events were switched off
  // The rate at the start and its changes (--max-cpu); empty if it cannot change.
  std::vector<bundle::NotedRate> rates = {};
  // Why the command could not be run. Then nothing was recorded, and no file was changed.
  std::string command_failure = {};
  // The exit status of the command; 128 + n if signal n ended it; 126 or 127, as in a shell, if it
  // could not be run.
  std::optional<int> command_status = {};
  std::vector<std::string> warnings = {};  // one sentence each

  // The samples that no file has: those of LOST_SAMPLES records, and those that were received and
  // not written, or are in a file that others deleted.
  std::uint64_t lost_samples() const;
  // Lost in a ring or not written. Some names of threads or mappings may be missing.
  std::uint64_t lost_process_events() const;
};

// Returns the notes of all that `summary` counts, from the start of the recording on.
bundle::RecordingNotes NotesOf(const RecordSummary& summary);

}  // namespace perftape::record
