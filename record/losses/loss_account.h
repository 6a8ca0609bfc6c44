// SPDX-License-Identifier: Apache-2.0
// The losses of a recording. While it runs, counters become LOST_SAMPLES records. At the end, a
// summary says what is missing, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/events/cpu_hotplug.h"
#include "record/input/record_input.h"
#include "record/losses/loss_ledger.h"
#include "record/rings/throttled_time.h"

namespace perftape::record {

// What an event has lost.
struct EventLosses {
  std::string name = {};                     // of the event
  std::vector<LossByCpu> losses = {};        // CPUs that lost samples
  std::vector<StalledCpu> stalls = {};       // CPUs that were stopped; no sample is lost
  std::vector<SilentCpu> silences = {};      // CPUs without samples for an unknown reason
  std::vector<OtherTasks> other_tasks = {};  // CPUs on which tasks ran that are not recorded
  // CPUs on which the kernel throttled an event that has no LossByCpu::throttled.
  std::vector<ThrottledCpu> throttled = {};
  ChainCounts chains = {};  // that were found by unwind tables
};

// What a recording has lost.
struct LossSummary {
  std::uint64_t start_ns = 0;            // of sampling, CLOCK_MONOTONIC
  std::uint64_t lost_samples = 0;        // in LOST_SAMPLES records; includes damaged_messages
  std::uint64_t damaged_messages = 0;    // invalid messages from the BPF programs
  std::vector<EventLosses> events = {};  // in the order of the file
  // CPUs that were offline for a time. Times count from the start of the recording.
  std::vector<AbsentCpu> absences = {};
};

// Counts the losses, and keeps the totals. Not thread-safe.
class LossAccount {
 public:
  // Sampling of the events of `input` that are on has started at `start_ns`. Call it first.
  void Start(const RecordInput& input, std::uint64_t start_ns);
  // An event is on from `start_ns` on, or is off from `end_ns` on. In between, nothing is missed.
  // CloseTimer counts as CloseTimers does.
  void OpenTimer(std::uint32_t event, std::uint64_t start_ns);
  void CloseTimer(const RecordInput& input, std::uint32_t event, std::uint64_t end_ns);
  // Sampling ends at `end_ns`. Counts what the timers missed since the BPF program's last call.
  // Call it before Summarize.
  void CloseTimers(const RecordInput& input, std::uint64_t end_ns);

  // Adds to `input` a LOST_SAMPLES of `time_ns` for each event and CPU that lost samples since the
  // last call.
  Status AddNewLosses(RecordInput& input, std::uint64_t time_ns);

  // Returns the losses as of the last AddNewLosses. Makes no system call.
  LossSummary Summarize(const RecordInput& input) const;

 private:
  Status AddLoss(RecordInput& input, std::uint32_t event, const LossLedger::NewLoss& loss,
                 std::uint64_t time_ns);
  std::vector<ThrottledCpu> ThrottledCpus(const RecordInput& input, std::uint32_t event) const;

  std::vector<LossLedger> ledgers_;                      // by event
  std::vector<std::optional<std::uint64_t>> opened_ns_;  // by event; nothing: it is off
  std::uint64_t start_ns_ = 0, end_ns_ = 0;
  std::uint64_t lost_samples_ = 0;     // in LOST_SAMPLES records
  std::uint64_t damaged_counted_ = 0;  // damaged messages that are in lost_samples_
};

}  // namespace perftape::record
