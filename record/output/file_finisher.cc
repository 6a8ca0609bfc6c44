// SPDX-License-Identifier: Apache-2.0
#include "record/output/file_finisher.h"

#include <utility>

namespace perftape::record {
namespace {

CompletedFile::Name NameOf(const RecordingFile& file) {
  const std::optional<std::filesystem::path> path = file.CurrentPath();
  if (path == file.published_path()) return CompletedFile::Name::kKept;
  return path ? CompletedFile::Name::kRenamed : CompletedFile::Name::kDeleted;
}

void WriteBundleOf(EndedFile& ended, bool has_features, CompletedFile& completed) {
  const bool can_be_appended = has_features && completed.name != CompletedFile::Name::kDeleted;
  const std::filesystem::path& name =
      completed.name == CompletedFile::Name::kRenamed ? completed.path : completed.requested_path;
  if (ended.bundle && (can_be_appended || ended.bundle->is_separate_file())) {
    Result<BundleSummary> written =
        std::move(*ended.bundle).Write(ended.file.fd(), name.native(), ended.notes);
    if (written) {
      completed.bundle = *std::move(written);
    } else {
      completed.bundle_failure = std::move(written).error().message;
    }
  } else if (ended.bundle && !has_features) {
    completed.bundle_failure = "they can only be appended to a finished recording";
  }
  const bool has_notes = completed.bundle && completed.bundle->is_in_recording;
  if (has_notes || !can_be_appended || ended.file.fd() < 0) return;
  const Status noted = AppendNotes(ended.file.fd(), name.native(), ended.notes);
  if (!noted) completed.notes_failure = noted.error().message;
}

// After an error, the file has the rounds before, and if possible the number of samples of the
// others.
Status WriteRounds(EndedFile& ended) {
  if (ended.is_published) return {};
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
  CompletedFile completed{.requested_path = ended.file.requested_path(),
                          .path = {},
                          .bytes = ended.file.size(),
                          .samples = ended.samples,
                          .compression = ended.file.compression()};
  Result<FinishedRecording> written = std::move(ended.file).Finish(std::move(ended.features));
  if (written) {
    completed.bytes = written->bytes;
    completed.warnings = std::move(written->warnings);
  } else {
    completed.failure = written.error().message + ": the features are missing";
  }
  if (!rounds) completed.failure = rounds.error().message + ": the latest samples are missing";
  completed.name = NameOf(ended.file);
  completed.path = ended.file.CurrentPath().value_or(std::filesystem::path());
  WriteBundleOf(ended, written.has_value(), completed);
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
