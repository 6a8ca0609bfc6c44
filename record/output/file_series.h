// SPDX-License-Identifier: Apache-2.0
// The files of a recording that writes more than one. Names them, completes them in a separate
// thread, passes each to a command or a function, and deletes old ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/machine/clock.h"
#include "record/output/file_finisher.h"
#include "record/output/name_pattern.h"
#include "record/output/output_options.h"
#include "record/output/output_summary.h"
#include "record/processes/command_runner.h"

namespace perftape::record {

// Not thread-safe.
class FileSeries {
 public:
  // Both options and `clock` must outlive the result. Forks the process that runs the command, with
  // `signals`, so call it before privileges are dropped. Fails with kInvalidArgument if the output
  // is not a pattern of names.
  static Result<std::unique_ptr<FileSeries>> Prepare(const OutputOptions& output,
                                                     const FileSeriesOptions& files,
                                                     const SignalState& signals, Clock& clock);

  // Returns whether a file was requested since the last call.
  bool ConsumeRequest() { return options_.request != nullptr && options_.request->Consume(); }
  // Becomes readable when a file is requested; -1 if none can be.
  int poll_fd() const { return options_.request == nullptr ? -1 : options_.request->poll_fd(); }

  // Returns a name that no file has.
  std::filesystem::path NextPath();
  // Returns what NextPath would return now.
  std::filesystem::path PeekPath() const;
  // Completes the file in the background.
  void Add(EndedFile ended);
  // The number of files that were added and are not complete yet, as of the last Collect.
  std::uint64_t unfinished() const { return added_ - sums_.files; }
  // Counts the files that are complete now, and passes them to the command and to on_file. Returns
  // whether there are any.
  bool Collect();

  // Deletes the files that exceed the limits. DeleteIfDue does so at most once a second, if there
  // are limits of bytes or age.
  void DeleteOldFiles();
  void DeleteIfDue();
  // Whether the disk has room for `bytes` and the end of a file, in addition to the reserved space.
  bool HasRoom(std::uint64_t bytes) const;
  // Deletes old files until the disk has that room.
  void MakeRoom(std::uint64_t bytes);

  // Adds a warning to those of End, unless there are many.
  void Warn(std::string warning);
  void CountSuspension() { ++sums_.suspensions; }

  // Waits for all files and commands, and deletes the files that exceed the limits. Adds to
  // `warnings`. Returns the sums of all files. OutputSummary::counts has only gone_samples;
  // `failure` says why the last file lacks records or features.
  OutputSummary End(std::vector<std::string>& warnings);
  // The samples in the last complete file.
  std::uint64_t last_samples() const { return last_samples_; }

 private:
  FileSeries(const OutputOptions& output, const FileSeriesOptions& files, Clock& clock,
             NamePattern pattern, std::optional<CommandRunner> commands);
  void AddCompleted(std::vector<CompletedFile> files);
  void RunCommand(const std::filesystem::path& file);

  const FileSeriesOptions& options_;
  std::uint64_t reserved_space_;
  Clock& clock_;
  FileNames names_;
  std::uint64_t next_check_ns_ = 0;  // of the limits
  std::uint64_t added_ = 0;
  RotationSummary sums_;
  std::uint64_t last_samples_ = 0;
  std::uint64_t gone_samples_ = 0;  // of files that were deleted while they were written
  std::vector<std::string> warnings_;
  std::optional<BundleSummary> last_bundle_;
  std::string bundle_failure_, last_failure_;
  std::optional<CommandRunner> commands_;
  FileFinisher finisher_;  // destroyed first
};

}  // namespace perftape::record
