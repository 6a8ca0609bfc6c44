// SPDX-License-Identifier: Apache-2.0
// Which thread woke which: the samples of perftape-record --wakers, by the thread that ran and the
// thread that it woke.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/summarize/amount.h"

namespace perftape::summarize {

struct NamedThread {
  std::string comm = {};                  // empty if unknown
  std::optional<std::uint32_t> tid = {};  // nothing if unknown
  auto operator<=>(const NamedThread&) const = default;
};

struct Wakeups {
  NamedThread waker, woken;
  Amount amount;  // its weight is the time that the woken thread had slept
};

// Returns the wakeups of each pair of threads, the largest amount first; then by waker and woken
// thread. Samples without the labels of a woken thread are left out.
std::vector<Wakeups> SumWakeups(const convert::Profile& profile, const StackAmounts& amounts);

}  // namespace perftape::summarize
