// SPDX-License-Identifier: Apache-2.0
// The buckets of a histogram of durations in nanoseconds, and percentiles of it. Below 4 each value
// has a bucket; above, each power of two has four. So a bucket is at most a quarter as wide as its
// least value. The programs in the kernel compute the same index (bucket_of in bpf/latency.bpf.h).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace perftape {
inline namespace base {

// The last bucket has all values from 2^40 * 7/4 ns on, which is 32 minutes.
inline constexpr std::size_t kLatencyBuckets = 160;

using LatencyBuckets = std::array<std::uint64_t, kLatencyBuckets>;  // counts

constexpr std::size_t LatencyBucketOf(std::uint64_t ns) {
  if (ns < 4) return ns;
  const unsigned exponent = static_cast<unsigned>(std::bit_width(ns)) - 1;
  const std::size_t index = 4 * (exponent - 1) + ((ns >> (exponent - 2)) & 3);
  return std::min(index, kLatencyBuckets - 1);
}

// The least value in a bucket. For kLatencyBuckets, it is the end of the last bucket, except for
// values that do not fit.
constexpr std::uint64_t LatencyBucketStart(std::size_t index) {
  if (index < 4) return index;
  const std::size_t exponent = index / 4 + 1;
  return (4 + std::uint64_t{index % 4}) << (exponent - 2);
}

// The end of a bucket: the least value above it.
constexpr std::uint64_t LatencyBucketEnd(std::size_t index) {
  return LatencyBucketStart(index + 1);
}

// The duration, in nanoseconds, below which the fraction `quantile` of the values lies (0.99: the
// 99th percentile). It is interpolated within the bucket that contains the true percentile, so the
// error is below 25 percent; if many values spread over several buckets, it is a few percent. The
// result is not above `max_ns`, the largest value. It is 0 if there are no values. `buckets` has at
// most kLatencyBuckets counts.
constexpr double LatencyQuantile(std::span<const std::uint64_t> buckets, double quantile,
                                 std::uint64_t max_ns) {
  std::uint64_t count = 0;
  for (const std::uint64_t in_bucket : buckets) count += in_bucket;
  const double wanted = quantile * static_cast<double>(count);
  const double most = static_cast<double>(max_ns);
  double before = 0;
  for (std::size_t index = 0; index < buckets.size(); ++index) {
    const double in_bucket = static_cast<double>(buckets[index]);
    if (in_bucket > 0 && before + in_bucket >= wanted) {
      const double start = static_cast<double>(LatencyBucketStart(index));
      const double last = std::max(most, start);  // possible value
      const double end = index + 1 < kLatencyBuckets
                             ? std::min(static_cast<double>(LatencyBucketEnd(index)), last + 1)
                             : last + 1;
      return std::min(start + (end - start) * (wanted - before) / in_bucket, last);
    }
    before += in_bucket;
  }
  return 0;
}

}  // namespace base
}  // namespace perftape
