// SPDX-License-Identifier: Apache-2.0
// The output of a recording. It gets records in time order and writes those that concern the
// targets. It writes each build id before the first sample in its binary, and the bundle at the
// end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"
#include "record/events/event_input.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/options.h"
#include "record/output/recording_file.h"
#include "record/processes/target_filter.h"
#include "record/summary.h"
#include "record/symbols/build_ids.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

// Numbers of records that were appended.
struct RecordCounts {
  std::uint64_t samples = 0;
  std::uint64_t process_events = 0;  // all other records except LOST_SAMPLES
};

// Not thread-safe.
class RecordingOutput {
 public:
  // Prepares the bundle and creates the file under a temporary name. `target` is the resolved
  // options.output. Keeps no reference to `input`. Adds to `warnings`. Returns the errors of
  // RecordingBundle::Prepare and RecordingFile::Create.
  static Result<std::unique_ptr<RecordingOutput>> Open(const RecordOptions& options,
                                                       const OutputTarget& target,
                                                       const EventInput& input,
                                                       std::span<const BpfProgram> programs,
                                                       const std::stop_token& stop,
                                                       std::vector<std::string>& warnings);

  // Writes and commits the initial state (initial_state.h).
  Status WriteInitialState(Bytes records);
  // Gives the file its name.
  Status Publish() { return file_.Publish(); }

  // Writes one record, in time order, if it concerns a target.
  Status Append(Bytes record);
  // Appends a FINISHED_ROUND and commits all records.
  Status CommitRound();
  // After a failed Append or Commit: replaces all uncommitted records by these.
  Status CommitInstead(Bytes records) { return file_.CommitInstead(records); }
  // The numbers of records appended since the last commit.
  RecordCounts uncommitted() const;

  // Writes the features. Returns the size of the file in bytes. Nothing may be appended later.
  Result<std::uint64_t> WriteFeatures();
  // Writes the counts of the appended records into `summary`, whose events are listed already.
  void Summarize(RecordSummary& summary) const;
  // Writes the path of the file into `summary`, and reports if the file was renamed or deleted.
  void CheckName(RecordSummary& summary) const;
  // Writes the bundle, if it was requested, and its result into `summary`. Call it last.
  void WriteBundle(RecordSummary& summary);

  std::uint64_t size() const { return file_.size(); }
  std::optional<perfdata::Compression> compression() const { return file_.compression(); }

 private:
  RecordingOutput(RecordingFile file, std::optional<RecordingBundle> bundle,
                  const EventInput& input);
  void Count(const perfdata::RecordView& record);

  RecordingFile file_;
  perfdata::SampleFormat format_;
  std::unordered_map<std::uint64_t, std::size_t> events_by_id_;  // of sampling events
  std::vector<std::uint64_t> samples_by_event_;
  std::optional<TargetFilter> target_filter_;  // nothing: the whole system
  std::optional<RecordingBundle> bundle_;
  BuildIdCollector build_ids_;
  RecordCounts appended_, committed_;
  std::uint64_t lost_process_events_ = 0;  // by LOST records
  perfdata::SampleTime sample_time_ = {};  // of the first and the last sample
};

}  // namespace perftape::record
