// SPDX-License-Identifier: Apache-2.0
// A recording whose file is followed by the next one: at a size, after a time, or on request. If
// the disk is full, the recording is suspended until there is room again.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "formats/base/result.h"
#include "record/output/file_output.h"
#include "record/output/file_series.h"
#include "record/output/output_options.h"
#include "record/output/output_plan.h"
#include "record/output/seam_state.h"

namespace perftape::record {

class Rotation : public OutputPlan {
 public:
  // Both options and `clock` must outlive the result. Forks the process that runs the command of
  // the options, with `signals`, so call it before privileges are dropped. Fails with
  // kInvalidArgument if the output is not a pattern of names.
  static Result<std::unique_ptr<Rotation>> Prepare(const OutputOptions& output,
                                                   const RotationOptions& rotation,
                                                   const SignalState& signals, Clock& clock);

  Result<OutputTarget> FirstTarget() override;
  Status Open(OutputParts& parts, const FileEvents& events, Bytes records,
              std::vector<std::string>& warnings) override;
  Status Start() override;
  Status Append(const PassedRecord& record) override;
  // A round that cannot be committed ends its file. The recording continues without one. No file
  // begins with the last round.
  bool IsSeamDue() override { return IsDue(clock_.MonotonicNs()); }
  Status EndRound(std::uint64_t limit_ns, bool is_last) override;
  OutputCounts Counts() const override { return file_->Counts(); }
  std::uint64_t file_bytes() const override { return file_->size(); }
  std::chrono::milliseconds UntilRound(std::chrono::milliseconds longest) const override;
  int poll_fd() const override { return files_->poll_fd(); }
  OutputSummary End(const RecordingEnd& end, std::vector<std::string>& warnings) override;

 private:
  Rotation(const RotationOptions& options, std::unique_ptr<FileSeries> files, Clock& clock)
      : options_(options), clock_(clock), files_(std::move(files)) {}
  // Whether the next file should begin.
  bool IsDue(std::uint64_t now_ns);
  void Suspend(const Error& error);
  void SwitchOrResume(std::uint64_t limit_ns);
  void Switch(std::uint64_t now_ns);
  void Resume(std::uint64_t limit_ns, std::uint64_t now_ns);

  const RotationOptions& options_;
  Clock& clock_;
  std::unique_ptr<FileSeries> files_;
  std::filesystem::path first_path_;
  std::optional<OutputTarget> target_;  // of the first path
  const RecordCounter* counter_ = nullptr;
  std::optional<SeamState> seam_;
  std::optional<FileOutput> file_;    // from Open on, as the two before
  std::uint64_t next_switch_ns_ = 0;  // of CLOCK_MONOTONIC; 0 without an interval
  std::uint64_t retry_ns_ = 0;        // after a failure: when the next attempt is due
  bool is_requested_ = false;
  std::string failure_;  // why there is no file now
};

}  // namespace perftape::record
