// SPDX-License-Identifier: Apache-2.0
// The end of a recording: regular, or early with the number of records that are not in the file.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "record/recording.h"

namespace perftape::record {

Recording::~Recording() {
  if (command_) (void)command_->Send(SIGTERM);
}

Result<RecordSummary> Recording::GiveUp(Error error) && {
  if (command_failure_.empty()) return Fail(std::move(error));
  return RecordSummary{.command_failure = std::move(command_failure_),
                       .command_status = command_status_,
                       .warnings = std::move(warnings_)};
}

Result<RecordSummary> Recording::Finish() && {
  if (command_) {
    TRY(command_->Send(SIGTERM));
    TRY_ASSIGN(const int status, command_->Wait());
    // The recorder ended it in time. That is no failure of the command.
    if (end_ != End::kDurationOver && end_ != End::kFileFull) command_status_ = status;
  }
  if (end_ == End::kFileFull) warnings_.push_back("the file has reached the size of --max-size");
  WarnOfControl();
  WarnOfUntrackedForks();
  WarnOfLostRecords();
  WarnOfCgroups();
  WarnOfUncountedCalls();
  WarnOfMissingStacks();
  skipped_hits_ = input_->SkippedHits();
  return SumUpWith(plan_->End({.cause = EndCause()}, warnings_));
}

RecordSummary Recording::EndEarly(const Error& error) && {
  constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
  (void)input_->Stop();
  const std::uint64_t now_ns = world_.clock.MonotonicNs();
  losses_.CloseTimers(*input_, now_ns);
  (void)input_->Drain();
  (void)losses_.AddNewLosses(*input_, now_ns);
  (void)input_->records().Release(kAll, *stages_);
  if (parts_->cgroups) parts_->cgroups->ReadAll(now_ns);
  skipped_hits_ = input_->SkippedHits();
  return SumUpWith(
      plan_->End({.cause = "the recording failed: " + error.message, .failure = error}, warnings_));
}

// Those of the cgroups that samples have, and of those whose use is noted.
std::vector<bundle::NotedContainer> Recording::Containers() const {
  const std::vector<bundle::NotedContainer> recorded = input_->Containers();
  if (!parts_ || !parts_->cgroups) return recorded;
  std::vector<bundle::NotedContainer> all;
  std::ranges::set_union(recorded, parts_->cgroups->Containers(), std::back_inserter(all), {},
                         &bundle::NotedContainer::cgroup, &bundle::NotedContainer::cgroup);
  return all;
}

// Makes no system call, because the recording may go on.
RecordSummary Recording::SumUpWith(OutputSummary output) const {
  return {.losses = losses_.Summarize(*input_),
          .output = std::move(output),
          .end_ns = flushed_ns_,
          .only_user_code = options_.input.sampler == Sampler::kKernelForUser,
          .skipped_hits = skipped_hits_,
          .containers = Containers(),
          .cgroups = parts_ && parts_->cgroups ? parts_->cgroups->Noted()
                                               : std::vector<bundle::NotedCgroup>(),
          .processes = input_->ProcessContexts(),
          .latency = input_->Latency(),
          .pauses = control_ ? control_->Pauses(flushed_ns_) : std::vector<bundle::NotedPauses>(),
          .rates = governor_ ? governor_->rates() : std::vector<bundle::NotedRate>(),
          .command_failure = {},
          .command_status = command_status_,
          .warnings = warnings_};
}

// Returns why the last file of a flight recording is written.
std::string Recording::EndCause() const {
  constexpr int kSignalled = 128;  // RecordSummary::command_status
  const bool is_of_command =
      end_ == End::kCommandEnded ||
      (end_ == End::kTargetsGone && std::holds_alternative<Workload>(options_.input.target));
  if (end_ == End::kRequested || end_ == End::kDurationOver) return "the end of the recording";
  if (!is_of_command || !command_status_) return "the recorded tasks ended";
  const int status = *command_status_;
  if (status <= kSignalled) return "the command ended with status " + std::to_string(status);
  const char* const name = sigabbrev_np(status - kSignalled);
  if (name == nullptr) return "the command ended with status " + std::to_string(status);
  return "signal SIG" + std::string(name) + " ended the command";
}

void Recording::WarnOfControl() {
  if (control_) std::ranges::move(control_->Warnings(), std::back_inserter(warnings_));
}

// It is unknown how many samples those processes would have had.
void Recording::WarnOfUntrackedForks() {
  std::uint64_t untracked = 0;
  for (const wire_cpu& counter : input_->Counters(kFirstEvent))
    untracked += counter.untracked_forks;
  if (untracked > 0) {
    warnings_.push_back(std::to_string(untracked) +
                        " forked processes were not sampled: there were too many to follow");
  }
}

// The samples are in the rings of the process events, and the kernel does not say what it dropped.
void Recording::WarnOfLostRecords() {
  if (!IsKernel(options_.input.sampler)) return;
  std::uint64_t lost = 0;
  for (const wire_cpu& counter : input_->Counters(kFirstEvent)) lost += counter.ring_full;
  if (lost == 0) return;
  warnings_.push_back(
      "some of the lost records may be process events, so names or mappings may be missing");
}

void Recording::WarnOfCgroups() {
  std::ranges::move(input_->CgroupGaps(losses_.Summarize(*input_).start_ns),
                    std::back_inserter(warnings_));
}

// Of latency probes. The sums are complete in the other cases that the notes name.
void Recording::WarnOfUncountedCalls() {
  for (const bundle::NotedLatencyLoss& loss : input_->Latency().lost) {
    const std::string calls = std::to_string(loss.count) + " calls";
    if (loss.cause == bundle::kNoHistogram) {
      warnings_.push_back("latency:" + loss.probe + ": " + calls +
                          " found no room for a histogram and were not counted "
                          "(--latency-histograms)");
    } else if (loss.cause == bundle::kInProgress) {
      warnings_.push_back("latency:" + loss.probe + ": " + calls +
                          " were not counted: too many were in progress "
                          "(--latency-in-progress)");
    } else if (loss.cause == bundle::kMissedRuns) {
      warnings_.push_back("latency:" + loss.probe + ": up to " + calls +
                          " were not counted, because their BPF program was already running");
    }
  }
}

// Of --call-graph dwarf. The samples themselves say that they have no user registers.
void Recording::WarnOfMissingStacks() {
  std::uint64_t missing = 0;
  for (std::uint32_t event = 0; event < input_->events().sideband_event(); ++event) {
    for (const wire_cpu& counter : input_->Counters(event)) missing += counter.no_stack;
  }
  if (missing == 0) return;
  warnings_.push_back(std::to_string(missing) +
                      " samples have no user stack: there was no room for the stacks of more "
                      "waiting threads (use smaller ones: --call-graph dwarf,SIZE)");
}

}  // namespace perftape::record
