// SPDX-License-Identifier: Apache-2.0
#include "record/output/rotation.h"

#include <algorithm>
#include <utility>

#include "record/machine/monotonic_clock.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kRetryNs = 1'000'000'000;

}  // namespace

Result<std::unique_ptr<Rotation>> Rotation::Prepare(const RecordOptions& options) {
  TRY_ASSIGN(std::unique_ptr<FileSeries> files,
             FileSeries::Prepare({.pattern = options.output.file,
                                  .keep = options.rotation->keep,
                                  .command = options.rotation->exec_on_switch,
                                  .signals = options.command_signals,
                                  .reserved_space = options.output.reserved_space}));
  return std::unique_ptr<Rotation>(new Rotation(options, std::move(files)));
}

Rotation::Rotation(const RecordOptions& options, std::unique_ptr<FileSeries> files)
    : rotation_(*options.rotation), files_(std::move(files)) {}

void Rotation::Start() {
  if (rotation_.request != nullptr) (void)rotation_.request->Consume();
  if (!rotation_.switch_interval) return;
  next_switch_ns_ = MonotonicNs() + static_cast<std::uint64_t>(rotation_.switch_interval->count());
}

int Rotation::poll_fd() const {
  return rotation_.request == nullptr ? -1 : rotation_.request->poll_fd();
}

std::chrono::milliseconds Rotation::UntilSwitch(std::chrono::milliseconds longest) const {
  constexpr std::uint64_t kNsPerMs = 1'000'000;
  if (next_switch_ns_ == 0) return longest;
  const std::uint64_t now_ns = MonotonicNs();
  const std::uint64_t left_ms =
      now_ns < next_switch_ns_ ? (next_switch_ns_ - now_ns) / kNsPerMs : 0;
  return std::min(longest, std::chrono::milliseconds(left_ms + 1));
}

void Rotation::MakeRoom(const RecordingOutput& output) {
  files_->MakeRoom(output.uncommitted_bytes());
}

void Rotation::Suspend(RecordingOutput& output, const Error& error) {
  failure_ = error.message;
  files_->CountSuspension();
  files_->Add(output.EndFile(RecordingOutput::Successor::kFollows));
  retry_ns_ = MonotonicNs() + kRetryNs;
}

void Rotation::AfterRound(RecordingOutput& output, std::uint64_t limit_ns) {
  const std::uint64_t now_ns = MonotonicNs();
  bool has_changed = files_->Collect();
  if (now_ns >= retry_ns_) {
    if (output.is_suspended()) {
      Resume(output, limit_ns, now_ns);
    } else if (IsDue(output, now_ns)) {
      Switch(output, now_ns);
      has_changed = true;
    }
  }
  if (has_changed) {
    files_->DeleteOldFiles(now_ns);
  } else {
    files_->DeleteIfDue(now_ns);
  }
}

bool Rotation::IsDue(const RecordingOutput& output, std::uint64_t now_ns) {
  if (rotation_.request != nullptr && rotation_.request->Consume()) is_requested_ = true;
  const bool is_time = next_switch_ns_ != 0 && now_ns >= next_switch_ns_;
  const bool is_full = rotation_.switch_bytes && output.samples_in_file() > 0 &&
                       output.size() >= *rotation_.switch_bytes;
  return is_requested_ || is_time || is_full;
}

// If the next file cannot be created, the old one continues, and a second later it is tried again.
void Rotation::Switch(RecordingOutput& output, std::uint64_t now_ns) {
  Result<EndedFile> ended = output.NextFile(NextPath());
  if (!ended) {
    files_->Warn(ended.error().message + ": the next file begins later");
    retry_ns_ = now_ns + kRetryNs;
    return;
  }
  is_requested_ = false;
  files_->Add(*std::move(ended));
  if (next_switch_ns_ == 0) return;
  const auto interval_ns = static_cast<std::uint64_t>(rotation_.switch_interval->count());
  next_switch_ns_ += ((now_ns - std::min(now_ns, next_switch_ns_)) / interval_ns + 1) * interval_ns;
}

void Rotation::Resume(RecordingOutput& output, std::uint64_t limit_ns, std::uint64_t now_ns) {
  retry_ns_ = now_ns + kRetryNs;
  MakeRoom(output);
  if (!files_->HasRoom(0)) return;
  if (const Status resumed = output.Resume(NextPath(), limit_ns); !resumed) {
    failure_ = resumed.error().message;
    return;
  }
  retry_ns_ = 0;
}

void Rotation::End(RecordingOutput& output, RecordSummary& summary) {
  const std::uint64_t now_ns = MonotonicNs();
  if (output.is_suspended()) Resume(output, now_ns, now_ns);
  if (output.is_suspended()) {
    summary.failure = failure_;
  } else {
    files_->Add(output.EndFile(RecordingOutput::Successor::kNone));
  }
  files_->End(now_ns, summary);
}

}  // namespace perftape::record
