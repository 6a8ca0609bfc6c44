// SPDX-License-Identifier: Apache-2.0
// The rotation of a recording's files. After each round it decides whether the next file begins,
// and which files are deleted. If the disk is full, the recording is suspended until there is room
// again.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "formats/base/result.h"
#include "record/options.h"
#include "record/output/file_series.h"
#include "record/output/recording_output.h"
#include "record/summary.h"

namespace perftape::record {

// Not thread-safe.
class Rotation {
 public:
  // `options` must have a rotation and outlive this object. Forks the process that runs the command
  // of the options, so call it before privileges are dropped. kInvalidArgument for an output that
  // is no pattern of names.
  static Result<std::unique_ptr<Rotation>> Prepare(const RecordOptions& options);

  // Returns a name that no file has.
  std::filesystem::path NextPath() { return files_->NextPath(); }
  // The first file has its name, and sampling has started.
  void Start();

  // Whether the next file should begin at `now_ns`.
  bool IsDue(const RecordingOutput& output, std::uint64_t now_ns);
  // Call it before a round is committed: deletes old files if --reserve-space requires it.
  void MakeRoom(const RecordingOutput& output);
  // The round could not be committed: ends the file. The recording continues without one.
  void Suspend(RecordingOutput& output, const Error& error);
  // Call it after each round, with the time up to which records were written.
  void AfterRound(RecordingOutput& output, std::uint64_t limit_ns);
  // Completes the last file, waits for all others and for the commands, and deletes what exceeds
  // the limits. Writes the sums of all files into `summary`.
  void End(RecordingOutput& output, RecordSummary& summary);

  // The time to the next switch, at most `longest`.
  std::chrono::milliseconds UntilSwitch(std::chrono::milliseconds longest) const;
  // Becomes readable when a switch is requested; -1 if none can be. It belongs to the options.
  int poll_fd() const;

 private:
  Rotation(const RecordOptions& options, std::unique_ptr<FileSeries> files);
  void Switch(RecordingOutput& output, std::uint64_t now_ns);
  void Resume(RecordingOutput& output, std::uint64_t limit_ns, std::uint64_t now_ns);

  const RotationOptions& rotation_;
  std::uint64_t next_switch_ns_ = 0;  // of CLOCK_MONOTONIC; 0 without an interval
  std::uint64_t retry_ns_ = 0;        // after a failure: when the next attempt is due
  bool is_requested_ = false;
  std::string failure_;  // why there is no file now
  std::unique_ptr<FileSeries> files_;
};

}  // namespace perftape::record
