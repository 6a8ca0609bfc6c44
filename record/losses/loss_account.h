// SPDX-License-Identifier: Apache-2.0
// The losses of a recording while it runs. Converts counters into LOST_SAMPLES records, and keeps
// the totals for the summary.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/base/result.h"
#include "record/input/record_input.h"
#include "record/losses/loss_ledger.h"
#include "record/losses/loss_summary.h"

namespace perftape::record {

// Not thread-safe.
class LossAccount {
 public:
  // Sampling of the events of `input` has started at `start_ns`. Call it first.
  void Start(const RecordInput& input, std::uint64_t start_ns);
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

  std::vector<LossLedger> ledgers_;  // by event
  std::uint64_t start_ns_ = 0, end_ns_ = 0;
  std::uint64_t lost_samples_ = 0;     // in LOST_SAMPLES records
  std::uint64_t damaged_counted_ = 0;  // damaged messages that are in lost_samples_
};

}  // namespace perftape::record
