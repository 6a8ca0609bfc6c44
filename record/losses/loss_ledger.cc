// SPDX-License-Identifier: Apache-2.0
#include "record/losses/loss_ledger.h"

#include <algorithm>

namespace perftape::record {
namespace {

// The timer of a stopped CPU may be tens of milliseconds late, but not this much.
constexpr std::uint64_t kSilenceNs = 500'000'000;

// Returns how many of `missed` expiries to report if `before` were reported already: all of them,
// or nothing new while they are ordinary jitter.
std::uint64_t BeyondJitter(std::uint64_t missed, std::uint64_t wanted, std::uint64_t before) {
  constexpr std::uint64_t kFew = 8;
  const bool is_jitter = missed < kFew || missed * 50 <= wanted + missed;
  return is_jitter ? before : std::max(before, missed);
}

}  // namespace

std::vector<LossLedger::NewLoss> LossLedger::Update(std::span<const wire_cpu> counters) {
  std::vector<NewLoss> news;
  cpus_.resize(std::max(cpus_.size(), counters.size()));
  for (std::uint32_t number = 0; number < counters.size(); ++number) {
    const wire_cpu& counter = counters[number];
    Cpu& cpu = cpus_[number];
    if (counter.interrupts > 1 && counter.interrupts != WIRE_THROTTLING) has_decided_ = true;
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
  }
  CountUndecided();
  for (std::uint32_t number = 0; number < cpus_.size(); ++number) {
    Cpu& cpu = cpus_[number];
    const std::uint64_t lost = cpu.counted.total() + cpu.throttled_at_end;
    if (lost <= cpu.reported) continue;
    news.push_back({.cpu = number, .samples = lost - cpu.reported});
    cpu.reported = lost;
  }
  return news;
}

// Splits the undecided expiries in the ratio of the decided ones of all CPUs. A few decided
// expiries are weak evidence for many undecided ones. If a kernel tick is too short for two
// overflows, no expiry is ever decided, and none is counted as a loss (silences).
void LossLedger::CountUndecided() {
  std::uint64_t skipped = 0, no_overflow = 0;
  for (const Cpu& cpu : cpus_) {
    skipped += cpu.counted.skipped;
    no_overflow += cpu.no_overflow;
  }
  constexpr std::uint64_t kDoubt = 4;
  const double share = has_decided_ ? static_cast<double>(skipped) /
                                          static_cast<double>(skipped + no_overflow + kDoubt)
                                    : 0;
  for (Cpu& cpu : cpus_) {
    const std::uint64_t undecided = BeyondJitter(cpu.undecided, cpu.wanted, /*before=*/0);
    const double estimate = static_cast<double>(undecided) * share;
    cpu.estimated = std::max(cpu.estimated, static_cast<std::uint64_t>(estimate));
    cpu.counted.skipped += cpu.estimated;
  }
}

void LossLedger::CloseTimer(std::uint32_t cpu, const wire_cpu& counters, std::uint64_t start_ns,
                            std::uint64_t end_ns) {
  if (period_ns_ == 0) return;
  cpus_.resize(std::max<std::size_t>(cpus_.size(), cpu + 1));
  const std::uint64_t last_ns = counters.expiry_ns != 0 ? counters.expiry_ns : start_ns;
  const bool never_called = counters.overflows == 0;
  if (last_ns + period_ns_ >= end_ns || !(never_called || counters.was_wanted != 0)) return;
  const std::uint64_t silence_ns = end_ns - last_ns;
  // One expiry may be due now.
  const std::uint64_t missed = silence_ns / period_ns_ - 1;
  if (counters.interrupts == WIRE_THROTTLING) {
    cpus_[cpu].throttled_at_end += missed;
  } else if (silence_ns >= kSilenceNs) {
    cpus_[cpu].silent_at_end += missed;
  }
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
    const std::uint64_t undecided =
        has_decided_ ? 0 : BeyondJitter(cpu.undecided, cpu.wanted, /*before=*/0);
    const std::uint64_t expiries = undecided + cpu.silent_at_end;
    if (expiries > 0) silences.push_back({static_cast<int>(number), expiries});
  }
  return silences;
}

}  // namespace perftape::record
