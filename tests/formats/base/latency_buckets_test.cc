// SPDX-License-Identifier: Apache-2.0
#include "formats/base/latency_buckets.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace perftape {
namespace {

TEST(LatencyBuckets, AValueIsInTheBucketWithItsBounds) {
  for (std::uint64_t ns = 0; ns < 5000; ++ns) {
    const std::size_t index = LatencyBucketOf(ns);
    EXPECT_LE(LatencyBucketStart(index), ns);
    EXPECT_LT(ns, LatencyBucketEnd(index));
  }
  EXPECT_EQ(LatencyBucketOf(3), 3U);
  EXPECT_EQ(LatencyBucketOf(4), 4U);
  EXPECT_EQ(LatencyBucketOf(7), 7U);
  EXPECT_EQ(LatencyBucketOf(8), 8U);
  EXPECT_EQ(LatencyBucketOf(9), 8U);
  EXPECT_EQ(LatencyBucketOf(1'000'000), 75U);
}

TEST(LatencyBuckets, TheLastOneHasAllAbove) {
  EXPECT_EQ(LatencyBucketOf(LatencyBucketStart(kLatencyBuckets - 1) - 1), kLatencyBuckets - 2);
  EXPECT_EQ(LatencyBucketOf(LatencyBucketStart(kLatencyBuckets - 1)), kLatencyBuckets - 1);
  EXPECT_EQ(LatencyBucketOf(UINT64_MAX), kLatencyBuckets - 1);
}

TEST(LatencyBuckets, AQuantileIsInterpolatedInItsBucket) {
  LatencyBuckets buckets = {};
  EXPECT_EQ(LatencyQuantile(buckets, 0.5, 0), 0);
  buckets[LatencyBucketOf(1024)] = 100;  // 1024 to 1279
  EXPECT_EQ(LatencyQuantile(buckets, 0.5, 1279), 1152);
  EXPECT_EQ(LatencyQuantile(buckets, 1, 1279), 1279);
  EXPECT_EQ(LatencyQuantile(buckets, 0, 1279), 1024);
  buckets[LatencyBucketOf(4096)] = 100;
  EXPECT_EQ(LatencyQuantile(buckets, 0.25, 5119), 1152);
  EXPECT_EQ(LatencyQuantile(buckets, 0.75, 5119), 4608);
}

TEST(LatencyBuckets, AQuantileOfTheLastBucketIsBelowTheMaximum) {
  LatencyBuckets buckets = {};
  buckets[kLatencyBuckets - 1] = 2;
  const std::uint64_t start = LatencyBucketStart(kLatencyBuckets - 1);
  EXPECT_EQ(LatencyQuantile(buckets, 1, start + 1000), static_cast<double>(start + 1000));
}

TEST(LatencyBuckets, TheBucketOfTheMaximumEndsThere) {
  LatencyBuckets buckets = {};
  buckets[LatencyBucketOf(1024)] = 100;  // 1024 to 1279
  EXPECT_EQ(LatencyQuantile(buckets, 0.5, 1123), 1074);
  EXPECT_EQ(LatencyQuantile(buckets, 0.99, 1123), 1123);
}

// The worst distribution: all values are at one end of a bucket, and one is far above.
TEST(LatencyBuckets, AQuantileIsLessThanAQuarterFromTheTrueOne) {
  for (std::size_t index = 1; index + 1 < kLatencyBuckets; ++index) {
    for (const std::uint64_t value : {LatencyBucketStart(index), LatencyBucketEnd(index) - 1}) {
      LatencyBuckets buckets = {};
      buckets[LatencyBucketOf(value)] = 1000;
      buckets[kLatencyBuckets - 1] = 1;
      const auto of = static_cast<double>(value);
      for (const double fraction : {0.01, 0.5, 0.99}) {
        EXPECT_NEAR(LatencyQuantile(buckets, fraction, UINT64_MAX), of, of < 4 ? 1 : of / 4);
      }
    }
  }
}

}  // namespace
}  // namespace perftape
