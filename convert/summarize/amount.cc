// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/amount.h"

#include <algorithm>

#include "convert/model/sample_thread.h"
#include "convert/model/saturating.h"

namespace perftape::summarize {

using convert::AddUpToLimit;
using convert::Sample;

namespace {

std::int64_t Absolute(std::int64_t number) {
  return number < 0 ? convert::SubtractUpToLimit(0, number) : number;
}

}  // namespace

void Amount::Add(const Amount& other) {
  samples = AddUpToLimit(samples, other.samples);
  weight = AddUpToLimit(weight, other.weight);
}

std::int64_t SizeOf(const Amount& amount) {
  return Absolute(amount.weight);
}

double PercentOf(const Amount& part, const Amount& whole) {
  if (whole.weight == 0) return 0;
  return 100 * static_cast<double>(part.weight) / static_cast<double>(whole.weight);
}

StackAmounts::StackAmounts(const convert::Profile& profile, convert::EventId event, Weight weight)
    : profile_(profile), event_(event), weight_(weight), amounts_(profile.stacks().size()) {
  has_periods_ = std::ranges::any_of(profile.samples(), [event](const Sample& sample) {
    return sample.event == event && sample.period != 0;
  });
  for (const Sample& sample : profile.samples()) {
    if (sample.event != event) continue;
    const Amount amount = Of(sample);
    amounts_[sample.stack.index].Add(amount);
    total_.Add(amount);
    whole_.Add({.samples = Absolute(amount.samples), .weight = Absolute(amount.weight)});
    is_difference_ |= amount.weight < 0;
  }
}

Amount StackAmounts::Of(const Sample& sample) const {
  const std::int64_t weight = has_periods_ ? sample.period : sample.count;
  switch (weight_) {
    case Weight::kPeriod:
      break;
    case Weight::kLatency:
      return {.samples = sample.count, .weight = weight / convert::ParallelismOf(profile_, sample)};
    case Weight::kParallelism:
      return {.samples = sample.count,
              .weight = convert::MultiplyUpToLimit(sample.count,
                                                   convert::ParallelismOf(profile_, sample))};
  }
  return {.samples = sample.count, .weight = weight};
}

}  // namespace perftape::summarize
