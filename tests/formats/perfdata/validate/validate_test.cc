// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/validate.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Validate, FindsNothingInAGoodFile) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.callchain = {kContextUser, 0x400100}});
  file.AddRound();
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), IsEmpty());
  EXPECT_TRUE(report.is_clean());
  EXPECT_EQ(report.broken(), Readers::kNone);
}

TEST(Validate, FindsNothingInAGoodPipe) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  AddGoodSample(file);
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

TEST(Validate, FindsNothingInAGoodFileOfTwoEvents) {
  PerfDataBuilder file = GoodFile({{.name = "a"}, {.name = "b"}});
  AddGoodSample(file);
  AddGoodSample(file, {.event = 1});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

TEST(Validate, ReportsDataThatEndsInsideARecord) {
  PerfDataBuilder file = GoodFile();
  const std::uint64_t data = Get<std::uint64_t>(file.Build(), 40);
  const std::uint64_t offset = data + file.records().size();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4096});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-cut"));
  EXPECT_EQ(report.InFileOrder().at(0).offset, offset);
  EXPECT_EQ(report.InFileOrder().at(0).record, RecordType::kSample);
  EXPECT_EQ(report.broken(), kEveryReader);
}

TEST(Validate, ReportsThatPerfReadsATruncatedPipe) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4096});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-cut"));
  EXPECT_FALSE(Overlap(report.broken(), kAnyPerf));
}

TEST(Validate, ReportsARecordSmallerThanItsHeader) {
  PerfDataBuilder file = GoodFile();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("record-size-below-header"));
  EXPECT_THAT(report.InFileOrder().at(0).message, HasSubstr("size 4"));
}

TEST(Validate, ReportsTruncatedTracingData) {
  PerfDataBuilder file = GoodFile({{}}, Container::kPipe);
  file.AddHeaderOnly({.type = RecordType::kHeaderTracingData, .size = 16});
  const std::uint64_t size = 1 << 20;
  file.AddRaw(std::as_bytes(std::span(&size, 1)));
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("tracing-data-undecodable"));
}

}  // namespace
}  // namespace perftape::perfdata
