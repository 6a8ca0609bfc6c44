// SPDX-License-Identifier: Apache-2.0
// The sums of which a summary of a profile consists.
#pragma once

#include <cstdint>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::summarize {

// Sums over some samples of one event.
struct Amount {
  std::int64_t samples = 0;  // 0 for plain values
  // Shares are computed from this number: the periods, or the plain values. If the event has no
  // periods, the number of samples.
  std::int64_t weight = 0;

  // Both numbers stop at the limits of their type.
  void Add(const Amount& other);
  bool is_zero() const { return samples == 0 && weight == 0; }
  bool operator==(const Amount&) const = default;
};

// Returns the weight without its sign. Rows are sorted by it.
std::int64_t SizeOf(const Amount& amount);

// Returns the share of `part` in `whole`, in percent; 0 if the whole is 0. The whole is
// StackAmounts::whole, so a part that shrank in a difference has a negative share.
double PercentOf(const Amount& part, const Amount& whole);

// What the weights of samples are.
enum class Weight : std::uint8_t {
  kPeriod,       // as Amount::weight says
  kLatency,      // the same, divided by the parallelism (sample_thread.h)
  kParallelism,  // of each sample
};

// The samples of one event, added up for each stack of the profile.
class StackAmounts {
 public:
  StackAmounts(const convert::Profile& profile, convert::EventId event,
               Weight weight = Weight::kPeriod);

  const Amount& operator[](convert::StackId stack) const { return amounts_[stack.index]; }
  // Returns the amount of a sample of the event, as it was added.
  Amount Of(const convert::Sample& sample) const;
  const Amount& total() const { return total_; }
  // Returns what shares refer to. This is the total, unless a difference of profiles has negative
  // amounts. Then it is the sum of the absolute amounts, as in pprof (internal/report/report.go,
  // computeTotal), because shares are meaningless if the total is not the sum of its parts.
  const Amount& whole() const { return whole_; }
  bool is_difference() const { return is_difference_; }
  convert::EventId event() const { return event_; }
  // Whether the weights are periods or plain values, and not numbers of samples.
  bool has_periods() const { return has_periods_; }

 private:
  convert::Profile profile_;
  convert::EventId event_;
  Weight weight_;
  bool has_periods_ = false;
  std::vector<Amount> amounts_;  // by StackId
  Amount total_, whole_;
  bool is_difference_ = false;  // has negative amounts
};

}  // namespace perftape::summarize
