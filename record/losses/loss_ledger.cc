// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_ledger.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace perftape::record {
namespace {

// The timer of a stopped CPU may be tens of milliseconds late, but not this much.
constexpr std::uint64_t kSilenceNs = 100'000'000;

// Returns how many of `missed` expiries to report if `before` were reported already: all of them,
// or nothing new while they are ordinary jitter.
std::uint64_t BeyondJitter(std::uint64_t missed, std::uint64_t wanted, std::uint64_t before) {
  constexpr std::uint64_t kFew = 8;
  const bool is_jitter = missed < kFew || missed * 50 <= wanted + missed;
  return is_jitter ? before : std::max(before, missed);
}

// The expiries up to the last call of the program, for any task.
std::uint64_t CountedExpiries(const wire_cpu& counters) {
  const std::uint64_t halves = std::reduce(std::begin(counters.missed), std::end(counters.missed),
                                           std::uint64_t{counters.missed_unwanted});
  return counters.overflows + halves / 2;
}

}  // namespace

std::vector<LossLedger::NewLoss> LossLedger::Update(std::span<const wire_cpu> counters) {
  std::vector<NewLoss> news;
  cpus_.resize(std::max(cpus_.size(), counters.size()));
  for (std::uint32_t number = 0; number < counters.size(); ++number) {
    const wire_cpu& counter = counters[number];
    Cpu& cpu = cpus_[number];
    const auto missed = [&](wire_missed cause) { return (counter.missed[cause] + 1) / 2; };
    const auto beyond_jitter = [&](wire_missed cause, std::uint64_t before) {
      return BeyondJitter(missed(cause), counter.wanted, before);
    };
    cpu.counted = {.cpu = static_cast<int>(number),
                   .ring_full = counter.ring_full,
                   .no_scratch = counter.no_scratch,
                   .throttled = missed(WIRE_THROTTLED),
                   .skipped = missed(WIRE_SKIPPED),
                   .late = beyond_jitter(WIRE_LATE, cpu.counted.late),
                   .unexplained = beyond_jitter(WIRE_UNEXPLAINED, cpu.counted.unexplained)};
    cpu.undecided = missed(WIRE_UNDECIDED);
    cpu.no_overflow = missed(WIRE_NO_OVERFLOW);
    cpu.stalled = missed(WIRE_STALLED);
    cpu.wanted = counter.wanted;
    // The program may have counted only one of them.
    const std::uint64_t unwanted = counter.overflows - std::min(counter.overflows, counter.wanted);
    cpu.of_others = unwanted + (counter.missed_unwanted + 1) / 2;
    CountUndecided(cpu);
    const std::uint64_t lost = cpu.counted.total() + cpu.throttled_at_end;
    if (lost <= cpu.reported) continue;
    news.push_back({.cpu = number, .samples = lost - cpu.reported});
    cpu.reported = lost;
  }
  return news;
}

// Splits the undecided expiries in the ratio of the decided ones of the CPU: another CPU may have
// other tasks. A few decided expiries are weak evidence for many undecided ones. If a kernel tick
// is too short for two overflows, no expiry is ever decided, and none is counted as a loss
// (silences).
void LossLedger::CountUndecided(Cpu& cpu) {
  constexpr std::uint64_t kDoubt = 4;
  const std::uint64_t skipped = cpu.counted.skipped;
  const double share =
      static_cast<double>(skipped) / static_cast<double>(skipped + cpu.no_overflow + kDoubt);
  const std::uint64_t undecided = BeyondJitter(cpu.undecided, cpu.wanted, /*before=*/0);
  const double estimate = static_cast<double>(undecided) * share;
  cpu.estimated = std::max(cpu.estimated, static_cast<std::uint64_t>(estimate));
  cpu.counted.skipped += cpu.estimated;
}

void LossLedger::CloseTimer(std::uint32_t cpu, const wire_cpu& counters, std::uint64_t start_ns,
                            std::uint64_t end_ns) {
  if (period_ns_ == 0) return;
  cpus_.resize(std::max<std::size_t>(cpus_.size(), cpu + 1));
  const std::uint64_t counted = CountedExpiries(counters);
  const std::uint64_t of_this_run = counted - std::min(counted, cpus_[cpu].closed);
  cpus_[cpu].closed = counted;
  const bool is_wanted = counters.overflows == 0 || counters.was_wanted != 0;
  const std::uint64_t last_ns = counters.expiry_ns != 0 ? counters.expiry_ns : start_ns;
  const std::uint64_t after_last = is_wanted ? ExpiriesBetween(last_ns, end_ns) : 0;
  if (counters.interrupts == WIRE_THROTTLING) {
    cpus_[cpu].throttled_at_end += after_last;
    return;
  }
  std::uint64_t silent = after_last;
  if (tasks_ == SampledTasks::kEvery) {
    const std::uint64_t all = ExpiriesBetween(start_ns, end_ns);
    silent = std::max(silent, all - std::min(all, of_this_run));
  }
  if (silent * period_ns_ >= kSilenceNs) cpus_[cpu].silent_at_ends += silent;
}

// Another expiry may be due at `end_ns`.
std::uint64_t LossLedger::ExpiriesBetween(std::uint64_t expiry_ns, std::uint64_t end_ns) const {
  return end_ns > expiry_ns + period_ns_ ? (end_ns - expiry_ns) / period_ns_ - 1 : 0;
}

std::vector<LossByCpu> LossLedger::losses() const {
  std::vector<LossByCpu> losses;
  for (const Cpu& cpu : cpus_) {
    LossByCpu loss = cpu.counted;
    loss.throttled += cpu.throttled_at_end;
    if (loss.total() > 0) losses.push_back(loss);
  }
  return losses;
}

std::vector<StalledCpu> LossLedger::stalls() const {
  std::vector<StalledCpu> stalls;
  for (const Cpu& cpu : cpus_) {
    if (cpu.stalled * 100 <= cpu.wanted + cpu.stalled) continue;
    stalls.push_back({.cpu = cpu.counted.cpu,
                      .stalled_ns = cpu.stalled * period_ns_,
                      .sampled_ns = cpu.wanted * period_ns_});
  }
  return stalls;
}

std::vector<SilentCpu> LossLedger::silences() const {
  std::vector<SilentCpu> silences;
  for (std::size_t number = 0; number < cpus_.size(); ++number) {
    const Cpu& cpu = cpus_[number];
    const std::uint64_t hidden = BeyondJitter(cpu.undecided + cpu.no_overflow, cpu.wanted,
                                              /*before=*/0);
    const std::uint64_t expiries = hidden - std::min(hidden, cpu.estimated) + cpu.silent_at_ends;
    if (expiries > 0) silences.push_back({static_cast<int>(number), expiries});
  }
  return silences;
}

std::vector<OtherTasks> LossLedger::other_tasks() const {
  std::vector<OtherTasks> others;
  for (const Cpu& cpu : cpus_) {
    if (cpu.of_others > 0) others.push_back({cpu.counted.cpu, cpu.of_others});
  }
  return others;
}

}  // namespace perftape::record
