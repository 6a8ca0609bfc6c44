// SPDX-License-Identifier: Apache-2.0
#include "record/rate_governor.h"

#include <algorithm>
#include <ctime>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kLargestDivisor = 1024;
constexpr int kCheapChecks = 5;

}  // namespace

RateGovernor::RateGovernor(double max_percent, std::uint64_t now_ns, std::uint64_t cpu_ns)
    : max_percent_(max_percent),
      checked_ns_(now_ns),
      checked_cpu_ns_(cpu_ns),
      rates_{{.time_ns = now_ns, .divisor = 1, .cpu_percent = 0}} {}

std::optional<std::uint64_t> RateGovernor::Check(std::uint64_t now_ns, std::uint64_t cpu_ns) {
  if (now_ns < checked_ns_ + kNsPerSecond) return std::nullopt;
  const double percent = 100 * static_cast<double>(cpu_ns - std::min(cpu_ns, checked_cpu_ns_)) /
                         static_cast<double>(now_ns - checked_ns_);
  checked_ns_ = now_ns;
  checked_cpu_ns_ = cpu_ns;
  const std::uint64_t old = rates_.back().divisor;
  std::uint64_t divisor = old;
  if (percent > max_percent_) {
    cheap_checks_ = 0;
    // The cost falls at most as the rate does.
    for (double left = percent; left > max_percent_ && divisor < kLargestDivisor; left /= 2) {
      divisor *= 2;
    }
  } else if (percent * 4 >= max_percent_ || old == 1) {
    cheap_checks_ = 0;
  } else if (++cheap_checks_ >= kCheapChecks) {
    cheap_checks_ = 0;
    divisor /= 2;
  }
  if (divisor == old) return std::nullopt;
  rates_.push_back({.time_ns = now_ns, .divisor = divisor, .cpu_percent = percent});
  return divisor;
}

}  // namespace perftape::record
