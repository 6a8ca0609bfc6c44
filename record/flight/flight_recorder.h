// SPDX-License-Identifier: Apache-2.0
// Decides when a flight recording writes a file: on request, on a trigger, at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "formats/base/result.h"
#include "record/events/recorded_events.h"
#include "record/options.h"
#include "record/output/file_series.h"
#include "record/output/recording_output.h"
#include "record/summary.h"
#include "record/triggers/cooldown.h"
#include "record/triggers/trigger_set.h"

namespace perftape::record {

// Not thread-safe.
class FlightRecorder {
 public:
  // `options` must have a flight and outlive this object. Opens the triggers and forks the process
  // that runs the command of the options, so call it before privileges are dropped. Returns the
  // errors of TriggerSet::Open and FileSeries::Prepare.
  static Result<std::unique_ptr<FlightRecorder>> Prepare(const RecordOptions& options);

  // Returns the name that a file would get now.
  std::filesystem::path PeekPath() const { return files_->PeekPath(); }
  // Finds the events of the triggers. Fails as TriggerSet::Bind.
  Status Bind(const RecordedEvents& events) { return triggers_.Bind(events); }
  // Sampling has started: `output` shows its samples to the triggers from now on.
  void Start(RecordingOutput& output);

  // Call it after each round: writes a file if there is a reason. A file that cannot be created is
  // a warning.
  void AfterRound(RecordingOutput& output);
  // Writes the last file because of `cause`, and waits for all files. Writes what they have into
  // `summary`.
  void End(RecordingOutput& output, const std::string& cause, RecordSummary& summary);

  // Becomes readable when a file is requested; -1 if none can be. It belongs to the options.
  int poll_fd() const;

 private:
  FlightRecorder(const RecordOptions& options, TriggerSet triggers,
                 std::unique_ptr<FileSeries> files);
  void CheckTriggers(RecordingOutput& output, std::uint64_t now_ns);
  Status Write(RecordingOutput& output, const std::string& cause, std::uint64_t now_ns);

  const RecordOptions& options_;
  const FlightOptions& flight_;
  Cooldown cooldown_;
  bool is_requested_ = false;
  FlightSummary sums_;
  TriggerSet triggers_;
  std::unique_ptr<FileSeries> files_;
};

}  // namespace perftape::record
