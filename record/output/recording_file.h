// SPDX-License-Identifier: Apache-2.0
// The perf.data that a recording writes: its writer, its features, and the name of the file. Others
// may rename or delete the file while it is written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/writer.h"

namespace perftape::record {

// Returns the absolute path of the file that `fd` is open on; nothing if the file was deleted or
// /proc does not show the path.
std::optional<std::filesystem::path> NameOfOpenFile(int fd);

// The destination and format of the file.
struct RecordingFileOptions {
  std::filesystem::path path;
  OutputTarget target;  // of `path`; a stream gets pipe format
  std::optional<int> compression_level;
  OldFile old = OldFile::kKeep;
  bool sync = false;     // see Sync
  std::stop_token stop;  // ends the wait for the reader of a named pipe
};

// A file with its features.
struct FinishedRecording {
  std::uint64_t bytes = 0;
  std::vector<std::string> warnings = {};  // a sentence for each feature that was left out
};

class RecordingFile {
 public:
  // Creates the file under a temporary name, or opens the stream, and writes the header with
  // `events`. A pipe gets `features` at once. Those too large for it are left out, and `warnings`
  // gets a sentence for each. Returns the errors of perfdata::Writer.
  static Result<RecordingFile> Create(const RecordingFileOptions& options,
                                      std::span<const perfdata::Event> events,
                                      std::vector<perfdata::Feature> features,
                                      std::vector<std::string>& warnings);

  // Same as in perfdata::Writer.
  Status Append(Bytes records) { return writer_.Append(records); }
  Status Commit() { return writer_.Commit(); }
  // With RecordingFileOptions::sync, waits until the committed records are on the disk.
  Status Sync() const;
  Status CommitInstead(Bytes records) { return writer_.CommitInstead(records); }
  std::uint64_t size() const { return writer_.size(); }
  std::uint64_t uncommitted_bytes() const { return writer_.uncommitted_bytes(); }
  std::optional<perfdata::Compression> compression() const { return writer_.compression(); }

  // Gives the file its name. An earlier file of that name is kept as PATH.old.
  Status Publish();

  // Writes the features given to Create, then `more`. If the disk has no room for all, leaves out
  // those that readers miss least.
  Result<FinishedRecording> Finish(std::vector<perfdata::Feature> more) &&;

  // The name that the user gave; empty for standard output.
  std::filesystem::path requested_path() const;
  // The path that Publish gave the file, and its path now: another one, or nothing, if someone has
  // renamed or deleted it. Both are nothing for a stream.
  const std::optional<std::filesystem::path>& published_path() const { return published_path_; }
  std::optional<std::filesystem::path> CurrentPath() const;

  // The descriptor of the file, to append the bundle; -1 for a stream. It belongs to this object.
  int fd() const { return file_.get(); }

 private:
  RecordingFile(const RecordingFileOptions& options, std::vector<perfdata::Feature> features,
                perfdata::Writer writer);

  std::filesystem::path path_;
  bool is_stdout_ = false, sync_ = false;
  std::vector<perfdata::Feature> features_;
  perfdata::Writer writer_;
  UniqueFd file_;
  std::optional<std::filesystem::path> published_path_;
};

}  // namespace perftape::record
