// SPDX-License-Identifier: Apache-2.0
// How a recording ends: as asked, or early, with the number of what is not in the file.
#include <limits>
#include <string>
#include <utility>

#include "record/output/open_file_name.h"
#include "record/recording.h"

namespace perftape::record {

// Nobody knows how many samples a process would have had that could not join the targets.
void Recording::WarnOfUntrackedForks() {
  std::uint64_t untracked = 0;
  for (const wire_cpu& counter : bpf_->Counters()) untracked += counter.untracked_forks;
  if (untracked > 0) {
    summary_.warnings.push_back(std::to_string(untracked) +
                                " forked processes were too many to follow: they were not sampled");
  }
}

void Recording::SummarizeLosses() {
  summary_.losses = ledger_.losses();
  summary_.stalls = ledger_.stalls();
  summary_.silences = ledger_.silences();
  if (hotplug_) summary_.absences = hotplug_->absences();
  const auto since_start = [this](std::uint64_t time_ns) {
    return time_ns - std::min(time_ns, start_ns_);
  };
  for (AbsentCpu& absence : summary_.absences) {
    absence.from_ns = since_start(absence.from_ns);
    if (absence.until_ns) absence.until_ns = since_start(*absence.until_ns);
  }
}

Result<RecordSummary> Recording::Finish() && {
  if (child_) {
    TRY(child_->Send(SIGTERM));
    TRY_ASSIGN(summary_.command_status, child_->Wait());
  }
  WarnOfUntrackedForks();
  SummarizeLosses();
  summary_.compression = writer_->compression();
  const std::uint64_t size = writer_->size();
  const Result<std::uint64_t> written = WriteFeatures();
  summary_.bytes_written = written.value_or(size);
  if (!written) summary_.failure = written.error().message + ": the features are missing";
  CheckName();
  WriteBundleOfSymbols();
  return std::move(summary_);
}

Result<std::uint64_t> Recording::WriteFeatures() {
  features_.push_back({perfdata::FeatureBit::kBuildId, build_ids_->all()});
  features_.push_back(
      {perfdata::FeatureBit::kSampleTime, perfdata::SampleTime{first_sample_ns_, last_sample_ns_}});
  return std::move(*writer_).Finish(features_);
}

RecordSummary Recording::EndEarly(const Error& error) && {
  (void)DisableAll(sampling_);
  CountTheUnwritten();
  summary_.bytes_written = writer_->size();
  if (WriteLastRecords()) summary_.bytes_written = WriteFeatures().value_or(writer_->size());
  summary_.failure = error.message;
  CheckName();
  WriteBundleOfSymbols();
  return std::move(summary_);
}

// What was appended since the last commit, and what is still on its way from the kernel.
void Recording::CountTheUnwritten() {
  const std::uint64_t now_ns = MonotonicNs();
  CloseTimers(now_ns);
  (void)DrainRings();
  (void)AddLosses(now_ns);
  InOrder sink{*this};
  (void)merge_.Release(std::numeric_limits<std::uint64_t>::max(), sink);
  SummarizeLosses();
  summary_.unwritten_samples = summary_.samples - committed_.samples;
  summary_.lost_samples += summary_.unwritten_samples;
  summary_.samples = committed_.samples;
  summary_.lost_process_events += process_events_ - committed_.process_events;
}

// There may be room for the numbers of what there was no room for.
Status Recording::WriteLastRecords() {
  records_.clear();
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t samples = summary_.lost_samples - committed_.lost_samples;
  TRY(AppendLoss(kSamplingEvent, 0, perfdata::LostSamples{.count = samples}, now_ns));
  const std::uint64_t events = process_events_ - committed_.process_events;
  if (events > 0) {
    const std::uint64_t id = ids_.Find(kSidebandEvent, 0).value_or(0);
    TRY(AppendLoss(kSidebandEvent, 0, perfdata::Lost{.event_id = id, .count = events}, now_ns));
  }
  TRY(perfdata::Encode(perfdata::FinishedRound{}, 0, records_));
  return writer_->CommitInstead(records_);
}

// Another recording may have taken the name; then this one is PATH.old, or deleted.
void Recording::CheckName() {
  if (!output_.is_stdout()) summary_.file = options_.output;
  if (!file_) return;
  const std::optional<std::filesystem::path> name = NameOfOpenFile(file_.get());
  if (name == file_name_) return;
  if (!name) {
    summary_.failure =
        options_.output.native() + ": was deleted, or replaced twice, while it was written";
    summary_.lost_samples += std::exchange(summary_.samples, 0);
    return;
  }
  summary_.file = *name;
  summary_.warnings.push_back(options_.output.native() +
                              " was renamed while it was recorded; this recording is now " +
                              name->native());
}

void Recording::WriteBundleOfSymbols() {
  if (!bundle_) return;
  if (!summary_.failure.empty() && options_.bundle.place != BundleRequest::Place::kAside) {
    summary_.bundle_failure = "they belong behind a recording that is finished";
    return;
  }
  build_ids_->KeepMissing();
  Result<BundleSummary> written = std::move(*bundle_).Write(file_.get(), summary_.file.native());
  if (written) {
    summary_.bundle = *std::move(written);
  } else {
    summary_.bundle_failure = std::move(written).error().message;
  }
}

}  // namespace perftape::record
