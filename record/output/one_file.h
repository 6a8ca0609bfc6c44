// SPDX-License-Identifier: Apache-2.0
// A recording into one file or stream.
#pragma once

#include <optional>

#include "record/output/file_output.h"
#include "record/output/output_options.h"
#include "record/output/output_plan.h"

namespace perftape::record {

class OneFile : public OutputPlan {
 public:
  // `options` must outlive this object.
  explicit OneFile(const OutputOptions& options) : options_(options) {}

  Result<OutputTarget> FirstTarget() override;
  Status Open(OutputParts& parts, const FileEvents& events, Bytes records,
              std::vector<std::string>& warnings) override;
  Status Start() override { return file_->Publish(); }
  Status Append(const PassedRecord& record) override { return file_->Append(record); }
  Status EndRound(std::uint64_t limit_ns, bool is_last) override;
  OutputCounts Counts() const override { return file_->Counts(); }
  std::uint64_t file_bytes() const override { return file_->size(); }
  OutputSummary End(const RecordingEnd& end, std::vector<std::string>& warnings) override;

 private:
  const OutputOptions& options_;
  Clock* clock_ = nullptr;
  std::optional<OutputTarget> target_;
  std::optional<FileOutput> file_;  // both from Open on
};

}  // namespace perftape::record
