// SPDX-License-Identifier: Apache-2.0
#include "record/output/one_file.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace perftape::record {

Result<OutputTarget> OneFile::FirstTarget() {
  TRY_ASSIGN(target_, ResolveOutput(options_.file));
  return *target_;
}

Status OneFile::Open(OutputParts& parts, const FileEvents&, Bytes records,
                     std::vector<std::string>& warnings) {
  clock_ = &parts.clock;
  TRY_ASSIGN(FileOutput file, FileOutput::Create(parts, FileOutput::Commits::kPieces, options_.file,
                                                 *target_, OldFile::kKeep, records, warnings));
  file_.emplace(std::move(file));
  return {};
}

Status OneFile::EndRound(std::uint64_t limit_ns, bool is_last) {
  if (!is_last && !file_->IsIntervalOver(limit_ns)) return {};
  TRY(file_->EndInterval());
  return file_->CommitRound();
}

// If another recording has the name now, this one is PATH.old, or deleted.
OutputSummary OneFile::End(const RecordingEnd& end, std::vector<std::string>& warnings) {
  EndedFile ended = file_->EndFile(FileOutput::Successor::kNone, clock_->MonotonicNs());
  OutputSummary summary = {.counts = file_->Counts()};
  CompletedFile file = Complete(std::move(ended));
  const std::string& requested = file.requested_path.native();
  summary.bytes_written = file.bytes;
  summary.compression = file.compression;
  summary.bundle = std::move(file.bundle);
  summary.bundle_failure = std::move(file.bundle_failure);
  summary.file = file.requested_path;
  std::ranges::move(file.warnings, std::back_inserter(warnings));
  if (end.failure && !file.failure.empty()) warnings.push_back(file.failure);
  summary.failure = end.failure ? end.failure->message : std::move(file.failure);
  if (summary.failure.empty() && !file.notes_failure.empty()) {
    warnings.push_back(std::move(file.notes_failure));
  }
  switch (file.name) {
    case CompletedFile::Name::kKept:
      break;
    case CompletedFile::Name::kRenamed:
      summary.file = file.path;
      warnings.push_back(requested + " was renamed while it was recorded; this recording is now " +
                         file.path.native());
      break;
    case CompletedFile::Name::kDeleted:
      summary.failure = requested + ": was deleted, or replaced twice, while it was written";
      summary.counts.gone_samples = std::exchange(summary.counts.samples, 0);
      break;
  }
  return summary;
}

}  // namespace perftape::record
