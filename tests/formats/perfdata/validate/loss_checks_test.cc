// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/loss_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LossChecks, DistinguishLostRecordsFromLostSamples) {
  PerfDataBuilder file = GoodFile();
  file.AddLost(5, 10);
  file.AddLost(6, 11);
  file.AddLostSamples(30, 12);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("lost-records", "lost-samples"));
  EXPECT_EQ(report.tally(Rule::kLostRecords).sum, "11 records");
  EXPECT_EQ(report.tally(Rule::kLostSamples).sum, "30 samples");
  EXPECT_EQ(report.broken(), Readers::kNone);
}

TEST(LossChecks, NoteSamplesThatAFilterDropped) {
  PerfDataBuilder file = GoodFile();
  file.AddLostSamples(30, 12, kMiscLostSamplesBpf);
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("filtered-samples"));
}

TEST(LossChecks, IgnoreALossOfZero) {
  PerfDataBuilder file = GoodFile();
  file.AddLostSamples(0, 12);
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

TEST(LossChecks, NoteThatAnEventWasPaused) {
  PerfDataBuilder file = GoodFile();
  file.Add(Throttle{{.time = 10, .id = 101}}, SampleId{.time = 10, .id = 101});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("throttled"));
}

}  // namespace
}  // namespace perftape::perfdata
