// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace perftape::summarize {
namespace {

TEST(ObservedShare, HasTheVarianceOfABinomialDistribution) {
  const Observation share = ObservedShare(20, 100, 400);
  EXPECT_DOUBLE_EQ(share.value, 0.2);
  EXPECT_DOUBLE_EQ(share.variance, 0.2 * 0.8 / 400);
}

TEST(ObservedShare, IsNeverCertain) {
  EXPECT_DOUBLE_EQ(ObservedShare(0, 100, 100).variance, 0.01 * 0.99 / 100);
  EXPECT_NEAR(ObservedShare(100, 100, 100).variance, 0.01 * 0.99 / 100, 1e-12);
  EXPECT_EQ(ObservedShare(0, 0, 0).variance, 0);
}

TEST(ObservedSum, HasTheVarianceOfAPoissonDistribution) {
  // 100 samples of 5 each: the deviation is 10 samples.
  const Observation sum = ObservedSum(500, 100);
  EXPECT_DOUBLE_EQ(sum.value, 500);
  EXPECT_DOUBLE_EQ(std::sqrt(sum.variance), 50);
}

TEST(MeanOf, AddsUpWhatTheSamplesLeave) {
  const std::vector<Observation> equal(4, {.value = 0.5, .variance = 0.04});
  const Estimate mean = MeanOf(equal);
  EXPECT_DOUBLE_EQ(mean.value, 0.5);
  EXPECT_DOUBLE_EQ(mean.variance, 0.01);
  EXPECT_TRUE(std::isinf(mean.freedom));
}

TEST(MeanOf, DoublesTheVarianceOfASingleRecording) {
  const Observation only = {.value = 0.5, .variance = 0.04};
  EXPECT_DOUBLE_EQ(MeanOf({&only, 1}).variance, 0.08);
}

TEST(MeanOf, SeesThatRecordingsDiffer) {
  const std::vector<Observation> values = {
      {.value = 1, .variance = 0}, {.value = 2, .variance = 0}, {.value = 3, .variance = 0}};
  const Estimate mean = MeanOf(values);
  EXPECT_DOUBLE_EQ(mean.value, 2);
  EXPECT_DOUBLE_EQ(mean.variance, 1.0 / 3);
  EXPECT_EQ(mean.freedom, 2);
}

TEST(MeanOf, IsLessCertainOfWhatTheSamplesDoNotExplain) {
  // The samples leave a variance of 1/6, and the recordings differ by 1/3: half of it is estimated.
  const std::vector<Observation> values = {
      {.value = 1, .variance = 0.5}, {.value = 2, .variance = 0.5}, {.value = 3, .variance = 0.5}};
  const Estimate mean = MeanOf(values);
  EXPECT_DOUBLE_EQ(mean.variance, 1.0 / 3);
  EXPECT_NEAR(mean.freedom, 2 * 4, 1e-9);
}

TEST(ErrorOf, IsThatOfStudentsDistribution) {
  // From a table of the quantiles: 4.303 for 2 degrees of freedom, 1.960 for infinitely many.
  EXPECT_NEAR(ErrorOf({.value = 2, .variance = 1, .freedom = 2}, 0.05), 4.303, 0.001);
  EXPECT_NEAR(ErrorOf({.value = 2, .variance = 1}, 0.05), 1.960, 0.001);
}

TEST(ChanceOf, IsThatOfStudentsDistribution) {
  EXPECT_NEAR(ChanceOf({.value = 4.303, .variance = 1, .freedom = 2}), 0.025, 1e-5);
  EXPECT_NEAR(ChanceOf({.value = 2 * 1.960, .variance = 4}), 0.025, 1e-5);
  EXPECT_NEAR(ChanceOf({.value = -1.960, .variance = 1}), 0.975, 1e-5);
  EXPECT_EQ(ChanceOf({.value = 1, .variance = 0}), 0);
  EXPECT_EQ(ChanceOf({.value = 0, .variance = 0}), 1);
}

TEST(DifferenceOf, HasTheDegreesOfFreedomOfWelchsTest) {
  const Estimate earlier = {.value = 5, .variance = 2, .freedom = 4};
  const Estimate later = {.value = 8, .variance = 1, .freedom = 9};
  const Estimate difference = DifferenceOf(earlier, later);
  EXPECT_DOUBLE_EQ(difference.value, 3);
  EXPECT_DOUBLE_EQ(difference.variance, 3);
  EXPECT_DOUBLE_EQ(difference.freedom, 9.0 / (4.0 / 4 + 1.0 / 9));
  EXPECT_TRUE(std::isinf(DifferenceOf({.value = 1, .variance = 1}, {.variance = 1}).freedom));
}

}  // namespace
}  // namespace perftape::summarize
