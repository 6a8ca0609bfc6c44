// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/new_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/perfdata/record_cursor.h"
#include "tests/support/matchers.h"

namespace perftape::rewrite {
namespace {

using perfdata::Feature;
using perfdata::FeatureBit;
using perfdata::RawFeature;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

Feature Raw(FeatureBit bit, std::size_t size) {
  return {bit, RawFeature{std::vector<std::byte>(size)}};
}

TEST(PipeFeatures, LeaveOutOffsetsOfAFileAndWhatIsTooLarge) {
  const std::vector<Feature> features = {Raw(FeatureBit::kHostname, 8),
                                         Raw(FeatureBit::kAuxtrace, 8),
                                         Raw(FeatureBit::kBpfBtf, 70'000), Raw(FeatureBit{129}, 8)};
  std::vector<FeatureOutcome> outcomes;
  for (const Feature& feature : features) outcomes.push_back({feature.bit, FeatureFate::kKept, ""});
  EXPECT_THAT(FeaturesOfPipe(features, outcomes),
              ElementsAre(Field(&Feature::bit, FeatureBit::kHostname)));
  EXPECT_THAT(outcomes, ElementsAre(Field(&FeatureOutcome::fate, FeatureFate::kKept),
                                    Field(&FeatureOutcome::fate, FeatureFate::kLeftOut),
                                    Field(&FeatureOutcome::fate, FeatureFate::kLeftOut),
                                    Field(&FeatureOutcome::fate, FeatureFate::kLeftOut)));
}

TEST(PipeFeatures, AreARecordWithTheFormatsOfTracepointsBehindIt) {
  const std::vector<Feature> features = {Raw(FeatureBit::kTracingData, 13)};
  std::vector<FeatureOutcome> outcomes;
  EXPECT_THAT(FeaturesOfPipe(features, outcomes), IsEmpty());
  const auto records = RecordsOfFeatures(features);
  ASSERT_THAT(records, IsOk());
  perfdata::RecordCursor cursor(*records, 0, std::endian::native);
  const auto record = cursor.Next();
  ASSERT_THAT(record, IsOk());
  ASSERT_TRUE(record->has_value());
  EXPECT_EQ((*record)->type, perfdata::RecordType::kHeaderTracingData);
  EXPECT_EQ((*record)->size(), 12U) << "perf looks for the formats there";
  EXPECT_EQ((*record)->appended.size(), 16U);
}

}  // namespace
}  // namespace perftape::rewrite
