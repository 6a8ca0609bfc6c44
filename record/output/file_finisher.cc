// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_finisher.h"

#include <utility>

namespace perftape::record {
namespace {

void WriteBundleOf(EndedFile& ended, CompletedFile& completed) {
  if (ended.has_failed || completed.path.empty()) return;
  if (!ended.bundle) {
    // Without them, the file is complete, too.
    (void)AppendNotes(ended.file.fd(), completed.path.native(), ended.notes);
    return;
  }
  Result<BundleSummary> written =
      std::move(*ended.bundle).Write(ended.file.fd(), completed.path.native(), ended.notes);
  if (!written) {
    completed.bundle_failure = std::move(written).error().message;
    return;
  }
  completed.bundle = *std::move(written);
  completed.bytes += completed.bundle->bytes;
}

// After an error, the file has the rounds before, and if possible the number of samples of the
// others.
Status WriteRounds(EndedFile& ended) {
  if (ended.file.published_path()) return {};
  Status written;
  std::uint64_t unwritten = 0;
  for (EndedRound& round : ended.rounds) {
    if (written) written = ended.file.Append(*round.records);
    if (written) written = ended.file.Commit();
    if (!written) unwritten += round.samples;
    round.records.reset();
  }
  if (!written) {
    ended.samples -= unwritten;
    const auto lost = ended.encode_lost(unwritten);
    (void)ended.file.CommitInstead(lost ? Bytes(*lost) : Bytes());
  } else {
    written = ended.file.Sync();
  }
  if (Status published = ended.file.Publish(); !published) written = std::move(published);
  return written;
}

}  // namespace

CompletedFile Complete(EndedFile ended) {
  const Status rounds = WriteRounds(ended);
  CompletedFile completed{.path = {},
                          .requested_path = ended.file.requested_path(),
                          .bytes = ended.file.size(),
                          .samples = ended.samples};
  Result<FinishedRecording> written = std::move(ended.file).Finish(std::move(ended.features));
  if (written) {
    completed.bytes = written->bytes;
    completed.warnings = std::move(written->warnings);
  } else {
    completed.failure = written.error().message + ": the features are missing";
    ended.has_failed = true;
  }
  if (!rounds) {
    completed.failure = rounds.error().message + ": the youngest samples are missing";
    ended.has_failed = true;
  }
  completed.path = ended.file.CurrentPath().value_or(std::filesystem::path());
  WriteBundleOf(ended, completed);
  return completed;
}

FileFinisher::FileFinisher() : thread_([this] { Run(); }) {}

FileFinisher::~FileFinisher() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FileFinisher::Add(EndedFile ended) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(ended));
  }
  changed_.notify_all();
}

std::vector<CompletedFile> FileFinisher::Completed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(completed_, {});
}

std::vector<CompletedFile> FileFinisher::WaitForAll() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !is_working_; });
  return std::exchange(completed_, {});
}

void FileFinisher::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    EndedFile ended = std::move(waiting_.front());
    waiting_.pop_front();
    is_working_ = true;
    lock.unlock();
    CompletedFile completed = Complete(std::move(ended));
    lock.lock();
    is_working_ = false;
    completed_.push_back(std::move(completed));
    changed_.notify_all();
  }
}

}  // namespace perftape::record
