// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_account.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/perfdata/record.h"

namespace perftape::record {

void LossAccount::Start(const EventInput& input, std::uint64_t start_ns) {
  start_ns_ = start_ns;
  for (const RecordedEvents::Sampling& event : input.events().sampling()) {
    ledgers_.emplace_back(event.plan.settings.period_ns);
  }
}

void LossAccount::CloseTimers(const EventInput& input, std::uint64_t end_ns) {
  end_ns_ = end_ns;
  const std::vector<std::uint32_t> cpus = input.SampledCpus();
  for (std::uint32_t event = 0; LossLedger & ledger : ledgers_) {
    const std::vector<wire_cpu> counters = input.Counters(event++);
    for (const std::uint32_t cpu : cpus) {
      if (cpu < counters.size()) ledger.CloseTimer(cpu, counters[cpu], start_ns_, end_ns);
    }
  }
}

Status LossAccount::AddNewLosses(EventInput& input, std::uint64_t time_ns) {
  for (std::uint32_t event = 0; event < ledgers_.size(); ++event) {
    for (const LossLedger::NewLoss& loss : ledgers_[event].Update(input.Counters(event))) {
      TRY(AddLoss(input, event, loss, time_ns));
    }
  }
  // The event of a damaged message is unknown.
  const std::uint64_t damaged = input.damaged();
  const std::uint64_t new_damaged = damaged - std::exchange(damaged_counted_, damaged);
  return AddLoss(input, kFirstEvent, {.cpu = 0, .samples = new_damaged}, time_ns);
}

Status LossAccount::AddLoss(EventInput& input, std::uint32_t event, const LossLedger::NewLoss& loss,
                            std::uint64_t time_ns) {
  if (loss.samples == 0) return {};
  lost_samples_ += loss.samples;
  const RecordedEvents& events = input.events();
  std::vector<std::byte> record;
  TRY(perfdata::Encode(perfdata::LostSamples{.count = loss.samples},
                       events.TrailerOf(event, loss.cpu, time_ns), events.format(), 0, record));
  input.AddOwn(time_ns, record);
  return {};
}

// The ledger counts what a clock lost to throttling. Nobody knows how many overflows another event
// would have had meanwhile, so that is a time and no number of samples.
std::vector<ThrottledCpu> LossAccount::ThrottledCpus(const EventInput& input,
                                                     std::uint32_t event) const {
  const RecordedEvents::Sampling& sampling = input.events().sampling()[event];
  if (!sampling.is_per_cpu() || sampling.plan.settings.period_ns != 0) return {};
  const std::vector<std::uint32_t> open = input.SampledCpus();
  std::vector<ThrottledCpu> throttled;
  for (const CpuEvent& on_cpu : sampling.on_cpus) {
    const auto cpu = static_cast<std::uint32_t>(on_cpu.cpu);
    const std::optional<std::uint64_t> id = input.events().ids().Find(event, cpu);
    if (!id) continue;
    const bool is_open = std::ranges::find(open, cpu) != open.end();
    const ThrottledTime::Sum sum =
        input.throttled().Of(*id, is_open ? std::optional(end_ns_) : std::nullopt);
    if (sum.times > 0) throttled.push_back({on_cpu.cpu, sum.times, sum.throttled_ns});
  }
  std::ranges::sort(throttled, {}, &ThrottledCpu::cpu);
  return throttled;
}

void LossAccount::Summarize(const EventInput& input, RecordSummary& summary) const {
  summary.lost_samples = lost_samples_;
  summary.damaged_messages = input.damaged();
  const std::span<const RecordedEvents::Sampling> sampling = input.events().sampling();
  summary.events.resize(sampling.size());
  for (std::uint32_t event = 0; event < sampling.size(); ++event) {
    summary.events[event].name = sampling[event].plan.name;
    summary.events[event].throttled = ThrottledCpus(input, event);
    summary.events[event].chain_ends = input.EndsOf(event);
    summary.events[event].derived_chains = input.DerivedChainsOf(event);
    if (event >= ledgers_.size()) continue;
    summary.events[event].losses = ledgers_[event].losses();
    summary.events[event].stalls = ledgers_[event].stalls();
    summary.events[event].silences = ledgers_[event].silences();
  }
  summary.start_ns = start_ns_;
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
