// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_account.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "formats/perfdata/record.h"

namespace perftape::record {
namespace {

// When the CPU's timer was started, for the last time.
std::uint64_t LastStart(std::uint32_t cpu, std::span<const AbsentCpu> absences,
                        std::uint64_t start_ns) {
  std::uint64_t last_ns = start_ns;
  for (const AbsentCpu& absence : absences) {
    if (std::cmp_equal(absence.cpu, cpu)) last_ns = std::max(last_ns, absence.until_ns.value_or(0));
  }
  return last_ns;
}

}  // namespace

void LossAccount::Start(const RecordInput& input, std::uint64_t start_ns) {
  start_ns_ = start_ns;
  for (std::uint32_t event = 0; const PlannedEvent& planned : input.events().sampling()) {
    ledgers_.emplace_back(planned.settings.period_ns, input.tasks());
    opened_ns_.push_back(input.IsOn(event++) ? std::optional(start_ns) : std::nullopt);
  }
}

void LossAccount::OpenTimer(std::uint32_t event, std::uint64_t start_ns) {
  opened_ns_[event] = start_ns;
}

void LossAccount::CloseTimer(const RecordInput& input, std::uint32_t event, std::uint64_t end_ns) {
  const std::optional<std::uint64_t> opened_ns = std::exchange(opened_ns_[event], std::nullopt);
  if (!opened_ns) return;
  const std::vector<AbsentCpu> absences = input.Absences();
  const std::vector<wire_cpu> counters = input.Counters(event);
  for (const std::uint32_t cpu : input.SampledCpus()) {
    if (cpu >= counters.size()) continue;
    ledgers_[event].CloseTimer(cpu, counters[cpu], LastStart(cpu, absences, *opened_ns), end_ns);
  }
}

void LossAccount::CloseTimers(const RecordInput& input, std::uint64_t end_ns) {
  end_ns_ = end_ns;
  for (std::uint32_t event = 0; event < ledgers_.size(); ++event) {
    CloseTimer(input, event, end_ns);
  }
}

Status LossAccount::AddNewLosses(RecordInput& input, std::uint64_t time_ns) {
  for (std::uint32_t event = 0; event < ledgers_.size(); ++event) {
    for (const LossLedger::NewLoss& loss : ledgers_[event].Update(input.Counters(event))) {
      TRY(AddLoss(input, event, loss, time_ns));
    }
  }
  // The event of a damaged message is unknown.
  const std::uint64_t damaged = input.records().damaged();
  const std::uint64_t new_damaged = damaged - std::exchange(damaged_counted_, damaged);
  return AddLoss(input, kFirstEvent, {.cpu = 0, .samples = new_damaged}, time_ns);
}

Status LossAccount::AddLoss(RecordInput& input, std::uint32_t event,
                            const LossLedger::NewLoss& loss, std::uint64_t time_ns) {
  if (loss.samples == 0) return {};
  lost_samples_ += loss.samples;
  const FileEvents& events = input.events();
  std::vector<std::byte> record;
  TRY(perfdata::Encode(perfdata::LostSamples{.count = loss.samples},
                       events.TrailerOf(event, loss.cpu, time_ns), events.format(), 0, record));
  input.records().AddOwn(time_ns, record);
  return {};
}

// The ledger counts what a clock lost to throttling. Nobody knows how many overflows another event
// would have had meanwhile, so that is a time and no number of samples.
std::vector<ThrottledCpu> LossAccount::ThrottledCpus(const RecordInput& input,
                                                     std::uint32_t event) const {
  const PlannedEvent& planned = input.events().sampling()[event];
  if (!IsPerCpu(planned.cause) || planned.settings.period_ns != 0) return {};
  const std::vector<std::uint32_t> open = input.SampledCpus();
  std::vector<ThrottledCpu> throttled;
  for (const auto& [cpu, id] : input.events().ids().Of(event)) {
    const bool is_open = std::ranges::find(open, cpu) != open.end();
    const ThrottledTime::Sum sum =
        input.records().throttled().Of(id, is_open ? std::optional(end_ns_) : std::nullopt);
    if (sum.times > 0) throttled.push_back({static_cast<int>(cpu), sum.times, sum.throttled_ns});
  }
  return throttled;
}

LossSummary LossAccount::Summarize(const RecordInput& input) const {
  LossSummary summary = {.start_ns = start_ns_,
                         .lost_samples = lost_samples_,
                         .damaged_messages = input.records().damaged()};
  for (std::uint32_t event = 0; event < input.events().sampling().size(); ++event) {
    EventLosses& losses = summary.events.emplace_back();
    losses.name = input.events().sampling()[event].name;
    losses.throttled = ThrottledCpus(input, event);
    losses.chains = input.ChainsOf(event);
    if (event >= ledgers_.size()) continue;
    losses.losses = ledgers_[event].losses();
    losses.stalls = ledgers_[event].stalls();
    losses.silences = ledgers_[event].silences();
    losses.other_tasks = ledgers_[event].other_tasks();
  }
  const auto since_start = [this](std::uint64_t time_ns) {
    return time_ns - std::min(time_ns, start_ns_);
  };
  summary.absences = input.Absences();
  for (AbsentCpu& absence : summary.absences) {
    absence.from_ns = since_start(absence.from_ns);
    if (absence.until_ns) absence.until_ns = since_start(*absence.until_ns);
  }
  return summary;
}

}  // namespace perftape::record
