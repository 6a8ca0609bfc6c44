// SPDX-License-Identifier: Apache-2.0
#include "convert/import/time_window.h"

#include <cmath>
#include <limits>

#include "convert/model/saturating.h"

namespace perftape::convert {
namespace {

using TimeLimits = std::numeric_limits<std::int64_t>;

std::int64_t Resolve(const TimePoint& point, const TimeWindow& recording) {
  const std::int64_t length = ToSigned(static_cast<std::uint64_t>(recording.last) -
                                       static_cast<std::uint64_t>(recording.first));
  if (point.percent) {
    const double share = std::round(static_cast<double>(length) * (*point.percent / 100));
    // Above 2^53, rounding may make the double larger than `length`.
    if (share >= static_cast<double>(length)) return recording.last;
    return AddUpToLimit(recording.first, static_cast<std::int64_t>(share));
  }
  const bool is_time_itself = point.nanoseconds > length && point.nanoseconds >= recording.first;
  return is_time_itself ? point.nanoseconds : AddUpToLimit(recording.first, point.nanoseconds);
}

}  // namespace

TimeWindow Resolve(const TimeRange& range, const TimeWindow& recording) {
  return {.first = range.from ? Resolve(*range.from, recording) : TimeLimits::min(),
          .last = range.to ? Resolve(*range.to, recording) : TimeLimits::max()};
}

}  // namespace perftape::convert
