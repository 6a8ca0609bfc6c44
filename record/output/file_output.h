// SPDX-License-Identifier: Apache-2.0
// The file that records go into: its rounds, and where one file ends and the next begins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "record/output/file_finisher.h"
#include "record/output/notes_by_file.h"
#include "record/output/output_plan.h"
#include "record/output/recording_file.h"
#include "record/output/sample_aggregator.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

// Not thread-safe.
class FileOutput {
 public:
  // Whether a long round is committed in pieces before its end, so that a full disk costs less.
  enum class Commits : std::uint8_t { kPieces, kWholeRounds };
  enum class Successor : std::uint8_t { kNone, kFollows };

  // Creates the file `path` under a temporary name, writes `state` to it, and prepares its bundle.
  // `parts` must outlive the result. Adds to `warnings`.
  static Result<FileOutput> Create(OutputParts& parts, Commits commits,
                                   const std::filesystem::path& path, const OutputTarget& target,
                                   OldFile old, Bytes state, std::vector<std::string>& warnings);
  // Gives the file its name.
  Status Publish() { return file_->Publish(); }

  Status Append(const PassedRecord& record);
  // Whether the interval of OutputOptions::aggregate is over; without one, always. Records wait for
  // its end.
  bool IsIntervalOver(std::uint64_t now_ns) const {
    return !aggregator_ || aggregator_->IsOver(now_ns);
  }
  // Ends the interval. Call it before CommitRound.
  Status EndInterval();
  // Appends a FINISHED_ROUND and commits all records. With OutputOptions::sync, waits until they
  // are on the disk. If the output is suspended, counts the samples as unwritten.
  Status CommitRound();

  // Between two rounds: the next file begins with `state`, the initial state of the seam. Returns
  // the old file, which lacks its features and bundle. After an error, the old file continues.
  Result<EndedFile> NextFile(const std::filesystem::path& path, Bytes state);
  // Ends the file without a next one. Records that could not be committed are counted as unwritten,
  // and reported by a LOST_SAMPLES at `time_ns` and a LOST if the file has room for them. With
  // Successor::kFollows the output is suspended until Resume.
  EndedFile EndFile(Successor successor, std::uint64_t time_ns);
  // Begins a file, with a LOST_SAMPLES of `time_ns` for the samples that no file has.
  Status Resume(const std::filesystem::path& path, Bytes state, std::uint64_t time_ns);
  bool is_suspended() const { return !file_; }

  OutputCounts Counts() const;
  std::uint64_t size() const { return file_ ? file_->size() : 0; }
  std::uint64_t uncommitted_bytes() const { return file_ ? file_->uncommitted_bytes() : 0; }

 private:
  FileOutput(OutputParts& parts, Commits commits, std::optional<RecordingBundle> bundle);
  // Own the files that the next samples hit.
  HitKeepers keepers();
  // Creates and publishes a file with `records`.
  Result<RecordingFile> CreateAtSeam(const std::filesystem::path& path, Bytes records) const;
  // Replaces the file, and resets its counts.
  Status StartFile(RecordingFile file, Bytes state);
  Status CheckReservedSpace() const;
  void CommitPiece();
  Status CommitToFile();

  OutputParts& parts_;
  Commits commits_;
  std::optional<RecordingFile> file_;  // nothing while suspended
  std::optional<RecordingBundle> bundle_;
  std::optional<SampleAggregator> aggregator_;
  std::optional<Error> piece_failure_;  // the next CommitRound returns it
  RecordCounts unwritten_;              // in no file
  std::uint64_t unreported_ = 0;        // of these samples: no LOST_SAMPLES has them yet
  NotesByFile notes_;
};

}  // namespace perftape::record
