// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/estimate.h"

#include <algorithm>
#include <cmath>

#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace perftape::summarize {
namespace {

// Calls `function` with the distribution of a value that is measured in its standard deviation.
template <class Function>
double WithDistribution(const Estimate& estimate, Function function) {
  if (std::isinf(estimate.freedom)) return function(boost::math::normal());
  return function(boost::math::students_t(estimate.freedom));
}

}  // namespace

Observation ObservedShare(double part, double whole, double samples) {
  if (whole <= 0 || samples <= 0) return {};
  const double share = std::clamp(part / whole, -1.0, 1.0);
  // A share of 0 or 1 is as uncertain as that of one sample.
  const double least = std::min(1 / samples, 0.5);
  const double likely = std::clamp(std::abs(share), least, 1 - least);
  return {.value = share, .variance = likely * (1 - likely) / samples};
}

Observation ObservedSum(double sum, double samples) {
  if (samples <= 0) return {.value = sum, .variance = 0};
  const double of_one = sum / samples;
  return {.value = sum, .variance = of_one * of_one * samples};
}

Estimate MeanOf(std::span<const Observation> recordings) {
  Estimate mean;
  if (recordings.empty()) return mean;
  const auto count = static_cast<double>(recordings.size());
  double of_samples = 0;
  for (const Observation& one : recordings) {
    mean.value += one.value / count;
    of_samples += one.variance / (count * count);
  }
  mean.variance = of_samples;
  if (recordings.size() < 2) {
    constexpr double kBursts = 2;
    mean.variance *= kBursts;
    return mean;
  }
  double squares = 0;
  for (const Observation& one : recordings) {
    squares += (one.value - mean.value) * (one.value - mean.value);
  }
  const double between = squares / (count - 1) / count;
  if (between > of_samples) {
    mean.variance = between;
    // Satterthwaite: only the part that the numbers of samples do not explain is estimated.
    const double estimated = (between - of_samples) / between;
    mean.freedom = (count - 1) / (estimated * estimated);
  }
  return mean;
}

Estimate DifferenceOf(const Estimate& earlier, const Estimate& later) {
  Estimate difference = {.value = later.value - earlier.value,
                         .variance = earlier.variance + later.variance};
  const auto term = [](const Estimate& one) { return one.variance * one.variance / one.freedom; };
  const double terms = term(earlier) + term(later);
  if (terms > 0) difference.freedom = difference.variance * difference.variance / terms;
  return difference;
}

double ErrorOf(const Estimate& estimate, double risk) {
  const double deviations = WithDistribution(
      estimate, [risk](const auto& distribution) { return quantile(distribution, 1 - risk / 2); });
  return deviations * std::sqrt(estimate.variance);
}

double ChanceOf(const Estimate& estimate) {
  if (estimate.variance <= 0) return estimate.value > 0 ? 0 : 1;
  const double deviations = estimate.value / std::sqrt(estimate.variance);
  return WithDistribution(estimate, [deviations](const auto& distribution) {
    return cdf(complement(distribution, deviations));
  });
}

}  // namespace perftape::summarize
