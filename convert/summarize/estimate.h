// SPDX-License-Identifier: Apache-2.0
// Estimates how accurate numbers from samples are.
#pragma once

#include <limits>
#include <span>

namespace perftape::summarize {

// A mean, and how uncertain it is.
struct Estimate {
  double value = 0;
  double variance = 0;  // of the mean
  // Degrees of freedom of the variance; infinite if it is known from the number of samples alone.
  double freedom = std::numeric_limits<double>::infinity();
};

// The value of one recording, with the variance that follows from its number of samples.
struct Observation {
  double value = 0;
  double variance = 0;
};

// Returns the share `part` of `whole` samples, from 0 to 1, or to -1 for a negative part, with the
// variance of a binomial distribution. `part` and `whole` can be weights; `samples` is the number
// of samples in the whole.
Observation ObservedShare(double part, double whole, double samples);

// Returns a sum of weights, with the variance of a Poisson distribution of its `samples`.
Observation ObservedSum(double sum, double samples);

// Returns the mean of several recordings. Its variance follows from the numbers of samples, or from
// the differences between the recordings, whichever is larger. The part of the variance beyond that
// of the samples is estimated from few numbers, so the degrees of freedom are those of
// Satterthwaite's approximation. A single recording does not show how much recordings differ. Its
// samples come in bursts (interrupts, page faults), so its variance is doubled.
Estimate MeanOf(std::span<const Observation> recordings);

// Returns `later` - `earlier`; the degrees of freedom are those of Welch's test.
Estimate DifferenceOf(const Estimate& earlier, const Estimate& later);

// Returns half of the interval around the value that contains the true one with a probability of
// 1 - `risk`, by Student's distribution. `risk` is above 0 and below 1.
double ErrorOf(const Estimate& estimate, double risk);

// Returns the probability that chance makes a value whose true one is 0 as large as this one.
double ChanceOf(const Estimate& estimate);

}  // namespace perftape::summarize
