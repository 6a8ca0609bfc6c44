// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/wakeups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "convert/model/sample_thread.h"

namespace perftape::summarize {
namespace {

NamedThread Named(const convert::SampleThread& thread) {
  return {.comm = std::string(thread.comm), .tid = thread.tid};
}

}  // namespace

std::vector<Wakeups> SumWakeups(const convert::Profile& profile, const StackAmounts& amounts) {
  std::map<std::pair<NamedThread, NamedThread>, Amount> sums;
  for (const convert::Sample& sample : profile.samples()) {
    if (sample.event != amounts.event()) continue;
    const NamedThread woken = Named(convert::WokenThreadOf(profile, sample));
    if (woken == NamedThread()) continue;
    sums[{Named(convert::ThreadOf(profile, sample)), woken}].Add(amounts.Of(sample));
  }
  std::vector<Wakeups> wakeups;
  for (const auto& [threads, amount] : sums) {
    wakeups.push_back({.waker = threads.first, .woken = threads.second, .amount = amount});
  }
  std::ranges::sort(wakeups, [](const Wakeups& a, const Wakeups& b) {
    return std::tie(b.amount.weight, a.waker, a.woken) <
           std::tie(a.amount.weight, b.waker, b.woken);
  });
  return wakeups;
}

}  // namespace perftape::summarize
