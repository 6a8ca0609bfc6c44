// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_account.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/perfdata/record.h"

namespace perftape::record {
void LossAccount::CloseTimers(const EventInput& input, std::uint64_t end_ns) {
  const std::vector<wire_cpu> counters = input.Counters();
  for (const std::uint32_t cpu : input.SampledCpus()) {
    if (cpu < counters.size()) ledger_.CloseTimer(cpu, counters[cpu], start_ns_, end_ns);
  }
}

Status LossAccount::AddNewLosses(EventInput& input, std::uint64_t time_ns) {
  for (const LossLedger::NewLoss& loss : ledger_.Update(input.Counters())) {
    TRY(AddLoss(input, loss.cpu, loss.samples, time_ns));
  }
  const std::uint64_t damaged = input.damaged();
  return AddLoss(input, 0, damaged - std::exchange(damaged_counted_, damaged), time_ns);
}

Status LossAccount::AddLoss(EventInput& input, std::uint32_t cpu, std::uint64_t count,
                            std::uint64_t time_ns) {
  if (count == 0) return {};
  lost_samples_ += count;
  const RecordedEvents& events = input.events();
  std::vector<std::byte> record;
  TRY(perfdata::Encode(perfdata::LostSamples{.count = count},
                       events.TrailerOf(kSamplingEvent, cpu, time_ns), events.format(), 0, record));
  input.AddOwn(time_ns, record);
  return {};
}

void LossAccount::Summarize(const EventInput& input, RecordSummary& summary) const {
  summary.lost_samples = lost_samples_;
  summary.damaged_messages = input.damaged();
  summary.losses = ledger_.losses();
  summary.stalls = ledger_.stalls();
  summary.silences = ledger_.silences();
  summary.absences = input.absences();
  const auto since_start = [this](std::uint64_t time_ns) {
    return time_ns - std::min(time_ns, start_ns_);
  };
  for (AbsentCpu& absence : summary.absences) {
    absence.from_ns = since_start(absence.from_ns);
    if (absence.until_ns) absence.until_ns = since_start(*absence.until_ns);
  }
}

}  // namespace perftape::record
