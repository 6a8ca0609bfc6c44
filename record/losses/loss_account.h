// SPDX-License-Identifier: Apache-2.0
// The losses of a recording while it runs. Converts counters into LOST_SAMPLES records, and keeps
// the totals for the summary.
#pragma once

#include <cstdint>
#include <vector>

#include "formats/base/result.h"
#include "record/input/event_input.h"
#include "record/losses/loss_ledger.h"
#include "record/summary.h"

namespace perftape::record {

// Not thread-safe.
class LossAccount {
 public:
  // Sampling of the events of `input` has started at `start_ns`. Call it first.
  void Start(const EventInput& input, std::uint64_t start_ns);
  // Sampling ends at `end_ns`. Counts what the timers missed since the BPF program's last call.
  // Call it before Summarize.
  void CloseTimers(const EventInput& input, std::uint64_t end_ns);

  // Adds to `input` a LOST_SAMPLES of `time_ns` for each event and CPU that lost samples since the
  // last call.
  Status AddNewLosses(EventInput& input, std::uint64_t time_ns);

  // All LOST_SAMPLES so far are in the file.
  void MarkCommitted() { committed_samples_ = lost_samples_; }
  std::uint64_t committed_samples() const { return committed_samples_; }

  // Writes the losses by event and CPU and their sum into `summary`, as of the last AddNewLosses.
  void Summarize(const EventInput& input, RecordSummary& summary) const;

 private:
  Status AddLoss(EventInput& input, std::uint32_t event, const LossLedger::NewLoss& loss,
                 std::uint64_t time_ns);
  std::vector<ThrottledCpu> ThrottledCpus(const EventInput& input, std::uint32_t event) const;

  std::vector<LossLedger> ledgers_;  // by event
  std::uint64_t start_ns_ = 0, end_ns_ = 0;
  std::uint64_t lost_samples_ = 0;       // in LOST_SAMPLES records
  std::uint64_t committed_samples_ = 0;  // of those, in the file
  std::uint64_t damaged_counted_ = 0;    // damaged messages that are in lost_samples_
};

}  // namespace perftape::record
