// SPDX-License-Identifier: Apache-2.0
#include "record/output/rotation.h"

#include <algorithm>
#include <utility>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kRetryNs = kNsPerSecond;
// A file is completed in about this time. Those who wait for it get it soon after.
constexpr std::chrono::milliseconds kCompletion{20};

}  // namespace

Result<std::unique_ptr<Rotation>> Rotation::Prepare(const OutputOptions& output,
                                                    const RotationOptions& rotation,
                                                    const SignalState& signals, Clock& clock) {
  TRY_ASSIGN(std::unique_ptr<FileSeries> files,
             FileSeries::Prepare(output, rotation.files, signals, clock));
  return std::unique_ptr<Rotation>(new Rotation(rotation, std::move(files), clock));
}

Result<OutputTarget> Rotation::FirstTarget() {
  first_path_ = files_->NextPath();
  TRY_ASSIGN(target_, ResolveOutput(first_path_));
  return *target_;
}

Status Rotation::Open(OutputParts& parts, const FileEvents& events, Bytes records,
                      std::vector<std::string>& warnings) {
  counter_ = &parts.counter;
  seam_.emplace(events.format());
  TRY(seam_->Apply(records));
  TRY_ASSIGN(FileOutput file,
             FileOutput::Create(parts, FileOutput::Commits::kWholeRounds, first_path_, *target_,
                                OldFile::kRefuse, records, warnings));
  file_.emplace(std::move(file));
  return {};
}

Status Rotation::Start() {
  TRY(file_->Publish());
  (void)files_->ConsumeRequest();
  if (options_.switch_interval) {
    next_switch_ns_ =
        clock_.MonotonicNs() + static_cast<std::uint64_t>(options_.switch_interval->count());
  }
  return {};
}

std::chrono::milliseconds Rotation::UntilRound(std::chrono::milliseconds longest) const {
  if (files_->unfinished() != 0) longest = std::min(longest, kCompletion);
  if (next_switch_ns_ == 0) return longest;
  const std::uint64_t now_ns = clock_.MonotonicNs();
  const std::chrono::nanoseconds left(next_switch_ns_ - std::min(now_ns, next_switch_ns_));
  return std::min(
      longest, std::chrono::floor<std::chrono::milliseconds>(left) + std::chrono::milliseconds(1));
}

Status Rotation::Append(const PassedRecord& record) {
  seam_->Apply(record.view);
  return file_->Append(record);
}

Status Rotation::EndRound(std::uint64_t limit_ns, bool is_last) {
  const bool is_seam = IsDue(clock_.MonotonicNs());
  if (!is_last && !is_seam && !file_->IsIntervalOver(limit_ns)) return {};
  TRY(file_->EndInterval());
  files_->MakeRoom(file_->uncommitted_bytes());
  if (const Status committed = file_->CommitRound(); !committed) Suspend(committed.error());
  if (!is_last) SwitchOrResume(limit_ns);
  return {};
}

void Rotation::Suspend(const Error& error) {
  failure_ = error.message;
  files_->CountSuspension();
  files_->Add(file_->EndFile(FileOutput::Successor::kFollows, counter_->sample_time().last_ns));
  retry_ns_ = clock_.MonotonicNs() + kRetryNs;
}

void Rotation::SwitchOrResume(std::uint64_t limit_ns) {
  const std::uint64_t now_ns = clock_.MonotonicNs();
  bool has_changed = files_->Collect();
  if (now_ns >= retry_ns_) {
    if (file_->is_suspended()) {
      Resume(limit_ns, now_ns);
    } else if (IsDue(now_ns)) {
      Switch(now_ns);
      has_changed = true;
    }
  }
  if (has_changed) {
    files_->DeleteOldFiles();
  } else {
    files_->DeleteIfDue();
  }
}

bool Rotation::IsDue(std::uint64_t now_ns) {
  if (files_->ConsumeRequest()) is_requested_ = true;
  const bool is_time = next_switch_ns_ != 0 && now_ns >= next_switch_ns_;
  const bool is_full = options_.switch_bytes && counter_->samples_in_file() > 0 &&
                       file_->size() >= *options_.switch_bytes;
  return is_requested_ || is_time || is_full;
}

// If the next file cannot be created, the old one continues, and a second later it is tried again.
void Rotation::Switch(std::uint64_t now_ns) {
  const Result<std::vector<std::byte>> state = seam_->Encode();
  Result<EndedFile> ended =
      state ? file_->NextFile(files_->NextPath(), *state) : Result<EndedFile>(Fail(state.error()));
  if (!ended) {
    files_->Warn(ended.error().message + ": the next file begins later");
    retry_ns_ = now_ns + kRetryNs;
    return;
  }
  is_requested_ = false;
  files_->Add(*std::move(ended));
  if (next_switch_ns_ == 0) return;
  const auto interval_ns = static_cast<std::uint64_t>(options_.switch_interval->count());
  next_switch_ns_ += ((now_ns - std::min(now_ns, next_switch_ns_)) / interval_ns + 1) * interval_ns;
}

void Rotation::Resume(std::uint64_t limit_ns, std::uint64_t now_ns) {
  retry_ns_ = now_ns + kRetryNs;
  files_->MakeRoom(0);
  if (!files_->HasRoom(0)) return;
  const Result<std::vector<std::byte>> state = seam_->Encode();
  const Status resumed =
      state ? file_->Resume(files_->NextPath(), *state, limit_ns) : Status(Fail(state.error()));
  if (!resumed) {
    failure_ = resumed.error().message;
    return;
  }
  retry_ns_ = 0;
}

OutputSummary Rotation::End(const RecordingEnd& end, std::vector<std::string>& warnings) {
  const std::uint64_t now_ns = clock_.MonotonicNs();
  if (file_->is_suspended()) Resume(now_ns, now_ns);
  const bool is_suspended = file_->is_suspended();
  if (!is_suspended) {
    files_->Add(file_->EndFile(FileOutput::Successor::kNone, counter_->sample_time().last_ns));
  }
  OutputSummary summary = files_->End(warnings);
  const std::uint64_t gone = summary.counts.gone_samples;
  summary.counts = file_->Counts();
  summary.counts.samples -= std::min(summary.counts.samples, gone);
  summary.counts.gone_samples = gone;
  if (!summary.failure.empty()) warnings.push_back(std::move(summary.failure));
  summary.failure = is_suspended ? failure_ : "";
  if (end.failure) summary.failure = end.failure->message;
  return summary;
}

}  // namespace perftape::record
