// SPDX-License-Identifier: Apache-2.0
// A running recording: the state of Record() (recorder.h). Its start and its loop are in
// recorder.cc, its end in recording_end.cc.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "record/events/event_input.h"
#include "record/flight/flight_recorder.h"
#include "record/losses/loss_account.h"
#include "record/options.h"
#include "record/output/recording_output.h"
#include "record/output/rotation.h"
#include "record/processes/child.h"
#include "record/rate_governor.h"
#include "record/stop_condition.h"
#include "record/summary.h"

namespace perftape::record {

class Recording {
 public:
  Recording(const RecordOptions& options, std::stop_token stop)
      : options_(options), stop_(std::move(stop)) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  // After an error, ends the command, as perf does.
  ~Recording();

  // Opens input and output, starts sampling and the command, and publishes the file. After an
  // error, an earlier file with the name of the recording is unchanged.
  Status Begin();
  // Writes records until the recording is over. The file is then complete except for its features.
  Status RunToTheEnd();
  // Ends the command and writes the features and the bundle.
  Result<RecordSummary> Finish() &&;

  // After an error of Begin: returns the error, or a summary if the reason is the command.
  Result<RecordSummary> GiveUp(Error error) &&;
  // After an error of RunToTheEnd (disk full): counts the records that are not in the file.
  RecordSummary EndEarly(const Error& error) &&;

 private:
  // Why a recording ends.
  enum class End : std::uint8_t { kRequested, kDurationOver, kTargetsGone, kCommandEnded };

  void ChooseCallchains();
  Result<std::filesystem::path> FirstPath();
  Status StartCommand(const OutputTarget& output);
  Status OpenOutput(const OutputTarget& output);
  Status StartSampling();
  std::unexpected<Error> CommandFailed(Error error);

  bool IsOver();
  Status WaitForWork();
  Status Flush(std::uint64_t limit_ns);
  Status Commit(std::uint64_t limit_ns);

  void WarnOfUntrackedForks();
  void WarnOfLostRecords();
  void Summarize();
  bundle::RecordingNotes NotesSoFar() const;
  void SummarizeInto(RecordSummary& summary) const;
  void CompleteFile();
  Status WriteFeatures();
  std::string EndCause() const;
  void CountUnwritten();
  Status WriteLastRecords();

  RecordOptions options_;
  StopCondition stop_;
  std::filesystem::path path_;  // of the first file
  std::optional<Child> command_;
  std::unique_ptr<EventInput> input_;
  std::unique_ptr<RecordingOutput> output_;
  std::unique_ptr<Rotation> rotation_;      // null: one file
  std::unique_ptr<FlightRecorder> flight_;  // not null: the records stay in memory
  End end_ = End::kRequested;               // set at the end
  std::chrono::nanoseconds held_{};         // of the last flush: the time of the records that wait
  LossAccount losses_;
  std::optional<RateGovernor> governor_;  // nothing: the rate does not change
  RecordSummary summary_;
};

}  // namespace perftape::record
