// SPDX-License-Identifier: Apache-2.0
// A running recording: the state of Record() (recorder.h). Unit tests give it another input and
// another clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "formats/base/output_target.h"
#include "formats/base/result.h"
#include "record/event_control.h"
#include "record/input/record_input.h"
#include "record/losses/loss_account.h"
#include "record/machine/clock.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/output/output_plan.h"
#include "record/output/record_stages.h"
#include "record/processes/child.h"
#include "record/rate_governor.h"
#include "record/recorder_options.h"
#include "record/stop_condition.h"
#include "record/summary.h"

namespace perftape::record {

// What a recording needs from outside; tests replace it.
struct RecordingWorld {
  // Opens the input; `command` is the process of the command, if there is one.
  std::function<Result<std::unique_ptr<RecordInput>>(std::optional<pid_t> command,
                                                     std::vector<std::string>& warnings)>
      open_input;
  // The BPF programs of the machine.
  std::function<std::vector<BpfProgram>()> loaded_programs = LoadedBpfPrograms;
  Clock& clock = SystemClock();
};

class Recording {
 public:
  // `options` must outlive this object.
  Recording(const RecordOptions& options, RecordingWorld world, std::stop_token stop);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  // After an error, ends the command, as perf does.
  ~Recording();

  // Opens input and output, starts sampling and the command, and publishes the file. After an
  // error, an earlier file with the name of the recording is unchanged.
  Status Begin();
  // Writes records until the recording is over. The file is then complete except for its features.
  Status RunToTheEnd();
  // Ends the command and completes the file.
  Result<RecordSummary> Finish() &&;

  // After an error of Begin: returns the error, or a summary if the reason is the command.
  Result<RecordSummary> GiveUp(Error error) &&;
  // After an error of RunToTheEnd (disk full): counts the records that are not in the file.
  RecordSummary EndEarly(const Error& error) &&;

 private:
  // The records between two flushes. Times are of CLOCK_MONOTONIC.
  struct Round {
    std::uint64_t now_ns = 0;
    std::uint64_t released_ns = 0;  // the records up to this time are written
    bool is_last = false;

    // Up to this time, all records, losses and calls are known.
    std::uint64_t known_until_ns() const { return std::min(released_ns, now_ns); }
  };
  // Why a recording ends.
  enum class End : std::uint8_t {
    kRequested,
    kDurationOver,
    kFileFull,
    kTargetsGone,
    kCommandEnded,
  };

  Status PreparePlan();
  Status StartCommand(const OutputTarget& output);
  Status OpenOutput();
  Status StartSampling();
  void StartCgroupUsage();
  std::unexpected<Error> CommandFailed(Error error);

  bool IsOver();
  Status WaitForWork();
  Result<int> Wait(std::span<pollfd> files, std::chrono::milliseconds longest);
  Status Flush(std::uint64_t limit_ns);
  Round BeginRound(std::uint64_t limit_ns);
  void LimitOwnCpuTime(const Round& round);
  void ReadCgroupUsage(const Round& round);
  Status CountCalls(const Round& round);
  bool EndsLatencyInterval(const Round& round) const;
  void EndLatencyInterval(std::uint64_t time_ns);

  void WarnOfControl();
  void WarnOfUntrackedForks();
  void WarnOfLostRecords();
  void WarnOfCgroups();
  void WarnOfUncountedCalls();
  void WarnOfMissingStacks();
  std::string EndCause() const;
  std::vector<bundle::NotedContainer> Containers() const;
  RecordSummary SumUpWith(OutputSummary output) const;

  const RecordOptions& options_;
  RecordingWorld world_;
  StopCondition stop_;
  std::optional<Child> command_;
  std::optional<int> command_status_;
  std::string command_failure_;
  std::unique_ptr<RecordInput> input_;
  std::unique_ptr<OutputPlan> plan_;
  std::optional<OutputParts> parts_;  // from OpenOutput on, as the stages
  std::optional<RecordStages> stages_;
  End end_ = End::kRequested;        // set at the end
  std::chrono::nanoseconds held_{};  // of the last flush: the time of the records that wait
  std::uint64_t flushed_ns_ = 0;     // the time up to which the last flush wrote all records
  LossAccount losses_;
  std::optional<EventControl> control_;  // uses the input, the losses and the plan
  // When the calls of latency probes were read, and when the last interval ended.
  std::uint64_t drained_latency_ns_ = 0, latency_interval_ns_ = 0;
  std::optional<RateGovernor> governor_;  // nothing: the rate does not change
  std::uint64_t skipped_hits_ = 0;        // set at the end
  std::vector<std::string> warnings_;
};

}  // namespace perftape::record
