// SPDX-License-Identifier: Apache-2.0
// Completes the files of a recording: their features and their bundle. If a recording has several
// files, a separate thread completes them, one after the other, while the recorder drains its
// rings.
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
  // Whether the file has its name. Otherwise it gets its name when `rounds` are appended.
  bool is_published = true;
  std::vector<EndedRound> rounds = {};
  // Returns the records that report this many samples as lost, because the disk has no room for
  // them. Must be set if there are rounds.
  std::function<Result<std::vector<std::byte>>(std::uint64_t samples)> encode_lost = {};
  std::vector<perfdata::Feature> features;  // in addition to those given to RecordingFile::Create
  std::optional<RecordingBundle> bundle;
  bundle::RecordingNotes notes;
  std::uint64_t samples = 0;
};

struct CompletedFile {
  enum class Name : std::uint8_t { kKept, kRenamed, kDeleted };  // by others, meanwhile

  Name name = Name::kKept;
  std::filesystem::path requested_path;
  std::filesystem::path path;  // its name now; empty if it was deleted, and of a stream
  std::uint64_t bytes = 0;     // without the bundle
  std::uint64_t samples = 0;
  std::optional<perfdata::Compression> compression = {};
  std::optional<BundleSummary> bundle = {};
  std::string bundle_failure = {};
  std::string notes_failure = {};          // why a file without a bundle has no notes
  std::string failure = {};                // why it lacks rounds or features
  std::vector<std::string> warnings = {};  // a sentence for each feature that was left out
};

// Writes the rounds, the features and then the bundle, or the notes if there is no bundle. A file
// without features and a deleted file get neither. A separate bundle is written in any case.
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
