// SPDX-License-Identifier: Apache-2.0
// Completes the files of a rotating recording in a thread of its own, one after the other: their
// features and their bundle. Meanwhile the recorder drains its rings.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "record/output/recording_file.h"
#include "record/symbols/recording_bundle.h"

namespace perftape::record {

// Records that are not written yet.
struct EndedRound {
  std::shared_ptr<const std::vector<std::byte>> records;
  std::uint64_t samples = 0;
};

// A file after its last round.
struct EndedFile {
  RecordingFile file;
  // What is appended first, if the file does not have its name yet. It gets its name then.
  std::vector<EndedRound> rounds = {};
  // Returns the records of so many samples that the disk has no room for. Must be set if there are
  // rounds.
  std::function<Result<std::vector<std::byte>>(std::uint64_t samples)> encode_lost = {};
  std::vector<perfdata::Feature> features;  // in addition to those given to RecordingFile::Create
  std::optional<RecordingBundle> bundle;
  bundle::RecordingNotes notes;
  std::uint64_t samples = 0;
  bool has_failed = false;  // the disk was full: no bundle is written
};

struct CompletedFile {
  std::filesystem::path path;  // empty if it was deleted meanwhile
  std::filesystem::path requested_path;
  std::uint64_t bytes = 0;
  std::uint64_t samples = 0;
  std::optional<BundleSummary> bundle = {};
  std::string bundle_failure = {};
  std::string failure = {};                // why it has no features
  std::vector<std::string> warnings = {};  // a sentence for each feature that was left out
};

// Writes the rounds, the features and then the bundle.
CompletedFile Complete(EndedFile ended);

class FileFinisher {
 public:
  FileFinisher();
  FileFinisher(const FileFinisher&) = delete;
  FileFinisher& operator=(const FileFinisher&) = delete;
  // Waits for all files.
  ~FileFinisher();

  void Add(EndedFile ended);
  // Returns the files that were completed since the last call.
  std::vector<CompletedFile> Completed();
  // Waits for all files and returns those that Completed has not returned.
  std::vector<CompletedFile> WaitForAll();

 private:
  void Run();

  std::mutex mutex_;  // of all that follow
  std::condition_variable changed_;
  std::deque<EndedFile> waiting_;
  std::vector<CompletedFile> completed_;
  bool is_working_ = false, is_over_ = false;
  std::thread thread_;
};

}  // namespace perftape::record
