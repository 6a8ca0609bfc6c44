// SPDX-License-Identifier: Apache-2.0
// A recording whose last seconds stay in memory. They are written to a file on request, on a
// trigger, and at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "record/output/file_series.h"
#include "record/output/flight_buffer.h"
#include "record/output/output_options.h"
#include "record/output/output_plan.h"
#include "record/triggers/trigger_set.h"

namespace perftape::record {

class FlightRecorder : public OutputPlan {
 public:
  // All arguments must outlive the result. Opens the triggers, for the recorded `cpus` (empty:
  // all), and forks the process that runs the command of the options, with `signals`, so call it
  // before privileges are dropped. Returns the errors of TriggerSet::Open and FileSeries::Prepare.
  static Result<std::unique_ptr<FlightRecorder>> Prepare(const OutputOptions& output,
                                                         const FlightOptions& flight,
                                                         const std::vector<int>& cpus,
                                                         const SignalState& signals, Clock& clock);

  Result<OutputTarget> FirstTarget() override;
  // Checks that a file can be created, and creates none.
  Status Open(OutputParts& parts, const FileEvents& events, Bytes records,
              std::vector<std::string>& warnings) override;
  Status Start() override { return {}; }
  Status Append(const PassedRecord& record) override;
  // Writes a file if there is a reason. A file that cannot be created is a warning.
  Status EndRound(std::uint64_t limit_ns, bool is_last) override;
  // A file has all records before its trigger.
  bool WaitsForExits() const override { return false; }
  OutputCounts Counts() const override;
  std::uint64_t file_bytes() const override { return 0; }
  int poll_fd() const override { return files_->poll_fd(); }
  bool RequestFile(std::string_view cause) override {
    requested_by_ = cause;
    return true;
  }
  OutputSummary End(const RecordingEnd& end, std::vector<std::string>& warnings) override;

 private:
  FlightRecorder(const OutputOptions& output, const FlightOptions& flight, TriggerSet triggers,
                 std::unique_ptr<FileSeries> files, Clock& clock);
  // Own the files that the next samples hit.
  HitKeepers keepers() { return has_bundle_ ? buffer_->keepers() : HitKeepers{}; }
  Status EndBufferRound();
  void CheckTriggers();
  Status Write(const std::string& cause);
  Result<EndedFile> MakeFile(const std::filesystem::path& path, const std::string& cause,
                             FlightContents contents) const;

  const OutputOptions& output_;
  const FlightOptions& flight_;
  Clock& clock_;
  Cooldown cooldown_;
  TriggerSet triggers_;
  std::unique_ptr<FileSeries> files_;
  std::filesystem::path first_path_;
  std::optional<OutputTarget> target_;  // of the first path
  OutputParts* parts_ = nullptr;        // from Open on, as the next two
  bool has_bundle_ = false;
  std::optional<FlightBuffer> buffer_;
  std::string requested_by_;  // empty: no file is requested
  FlightSummary sums_;
};

}  // namespace perftape::record
