// SPDX-License-Identifier: Apache-2.0
// The end of a recording: regular, or early with the number of records that are not in the file.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "formats/perfdata/record.h"
#include "record/losses/notes_of.h"
#include "record/monotonic_clock.h"
#include "record/recording.h"

namespace perftape::record {

Recording::~Recording() {
  if (command_) (void)command_->Send(SIGTERM);
}

Result<RecordSummary> Recording::GiveUp(Error error) && {
  if (summary_.command_failure.empty()) return Fail(std::move(error));
  return std::move(summary_);
}

Result<RecordSummary> Recording::Finish() && {
  if (command_) {
    TRY(command_->Send(SIGTERM));
    TRY_ASSIGN(const int status, command_->Wait());
    // The recorder ended it after its time. That is no failure of the command.
    if (end_ != End::kDurationOver) summary_.command_status = status;
  }
  WarnOfUntrackedForks();
  WarnOfLostRecords();
  Summarize();
  CompleteFile();
  std::ranges::move(options_.files->told(), std::back_inserter(summary_.warnings));
  return std::move(summary_);
}

// Writes the features and the bundle of the last file.
void Recording::CompleteFile() {
  if (rotation_) return rotation_->End(*output_, summary_);
  if (flight_) return flight_->End(*output_, EndCause(), summary_);
  summary_.compression = output_->compression();
  if (const Status written = WriteFeatures(); !written) {
    summary_.failure = written.error().message + ": the features are missing";
  }
  output_->CheckName(summary_);
  output_->WriteBundle(summary_);
}

Status Recording::WriteFeatures() {
  summary_.bytes_written = output_->size();
  TRY_ASSIGN(FinishedRecording finished, output_->WriteFeatures());
  summary_.bytes_written = finished.bytes;
  std::ranges::move(finished.warnings, std::back_inserter(summary_.warnings));
  return {};
}

// Returns why the last file of a flight recording is written.
std::string Recording::EndCause() const {
  constexpr int kSignalled = 128;  // RecordSummary::command_status
  const bool is_of_command =
      end_ == End::kCommandEnded ||
      (end_ == End::kTargetsGone && std::holds_alternative<Workload>(options_.target));
  if (end_ == End::kRequested || end_ == End::kDurationOver) return "the end of the recording";
  if (!is_of_command || !summary_.command_status) return "the recorded tasks ended";
  const int status = *summary_.command_status;
  if (status <= kSignalled) return "the command ended with status " + std::to_string(status);
  const char* const name = sigabbrev_np(status - kSignalled);
  if (name == nullptr) return "the command ended with status " + std::to_string(status);
  return "signal SIG" + std::string(name) + " ended the command";
}

// It is unknown how many samples those processes would have had.
void Recording::WarnOfUntrackedForks() {
  std::uint64_t untracked = 0;
  for (const wire_cpu& counter : input_->Counters(kFirstEvent))
    untracked += counter.untracked_forks;
  if (untracked > 0) {
    summary_.warnings.push_back(std::to_string(untracked) +
                                " forked processes were too many to follow: they were not sampled");
  }
}

// The samples are in the rings of the process events, and the kernel does not say what it dropped.
void Recording::WarnOfLostRecords() {
  if (options_.sampler == Sampler::kPrograms) return;
  std::uint64_t lost = 0;
  for (const wire_cpu& counter : input_->Counters(kFirstEvent)) lost += counter.ring_full;
  if (lost == 0) return;
  summary_.warnings.push_back(
      "some of the lost records may be process events, so that names or mappings may be missing");
}

// Makes no system call, because the recording may go on.
bundle::RecordingNotes Recording::NotesSoFar() const {
  RecordSummary summary;
  SummarizeInto(summary);
  return NotesOf(summary);
}

void Recording::SummarizeInto(RecordSummary& summary) const {
  losses_.Summarize(*input_, summary);
  output_->Summarize(summary);
  if (governor_) summary.rates = governor_->rates();
}

void Recording::Summarize() {
  summary_.skipped_hits = input_->skipped_hits();
  SummarizeInto(summary_);
  summary_.only_user_code = options_.sampler == Sampler::kKernel;
}

RecordSummary Recording::EndEarly(const Error& error) && {
  (void)input_->Stop();
  CountUnwritten();
  if (rotation_) {
    rotation_->End(*output_, summary_);
    summary_.failure = error.message;
    return std::move(summary_);
  }
  if (flight_) {
    flight_->End(*output_, "the recording failed: " + error.message, summary_);
    summary_.failure = error.message;
    return std::move(summary_);
  }
  summary_.bytes_written = output_->size();
  if (WriteLastRecords()) {
    if (const Status written = WriteFeatures(); !written) {
      summary_.warnings.push_back(written.error().message + ": the features are missing");
    }
  }
  summary_.failure = error.message;
  output_->CheckName(summary_);
  output_->WriteBundle(summary_);
  return std::move(summary_);
}

// Counts the records that were appended since the last commit, and those still in the rings.
void Recording::CountUnwritten() {
  const std::uint64_t now_ns = MonotonicNs();
  losses_.CloseTimers(*input_, now_ns);
  (void)input_->Drain();
  (void)losses_.AddNewLosses(*input_, now_ns);
  (void)input_->Release(std::numeric_limits<std::uint64_t>::max(), *output_);
  if (flight_) (void)output_->CommitRound();
  Summarize();
  const RecordCounts unwritten = output_->uncommitted();
  summary_.unwritten_samples = unwritten.samples;
  summary_.lost_samples += unwritten.samples;
  summary_.samples -= unwritten.samples;
  summary_.lost_process_events += unwritten.process_events;
}

// Writes the numbers of lost records, for which the file may still have space.
Status Recording::WriteLastRecords() {
  const RecordedEvents& events = input_->events();
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t samples = summary_.lost_samples - losses_.committed_samples();
  const std::uint64_t process_events = output_->uncommitted().process_events;
  std::vector<std::byte> records;
  TRY(perfdata::Encode(perfdata::LostSamples{.count = samples},
                       events.TrailerOf(kFirstEvent, 0, now_ns), events.format(), 0, records));
  if (process_events > 0) {
    const perfdata::SampleId trailer = events.TrailerOf(events.sideband_event(), 0, now_ns);
    TRY(perfdata::Encode(perfdata::Lost{.event_id = trailer.id, .count = process_events}, trailer,
                         events.format(), 0, records));
  }
  TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, records));
  return output_->CommitInstead(records);
}

}  // namespace perftape::record
