// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/round_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void AddSamplesOfTimes(PerfDataBuilder& file, const std::vector<std::uint64_t>& times) {
  for (const std::uint64_t time : times) AddGoodSample(file, {.time = time});
}

TEST(RoundChecks, LetRecordsBeOlderThanTheLastRound) {
  PerfDataBuilder file = GoodFile();
  AddSamplesOfTimes(file, {100});
  file.AddRound();
  AddSamplesOfTimes(file, {50, 200});
  file.AddRound();
  AddSamplesOfTimes(file, {150});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
}

TEST(RoundChecks, ReportARecordOlderThanThePreviousRound) {
  PerfDataBuilder file = GoodFile();
  AddSamplesOfTimes(file, {100});
  file.AddRound();
  AddSamplesOfTimes(file, {200});
  file.AddRound();
  AddSamplesOfTimes(file, {99, 60});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("time-out-of-round"));
  EXPECT_EQ(report.tally(Rule::kTimeOutOfRound).count, 2U);
  EXPECT_EQ(report.tally(Rule::kTimeOutOfRound).sum, "up to 40 ns too late");
}

TEST(RoundChecks, ReportABigFileWithoutARound) {
  PerfDataBuilder file = GoodFile();
  PerfDataBuilder one = GoodFile();
  const std::size_t before = one.records().size();
  AddGoodSample(one, {.callchain = std::vector<std::uint64_t>(8000, 0x400100)});
  const Bytes sample = one.records().subspan(before);
  for (std::size_t size = 0; size <= std::size_t{64} << 20; size += sample.size()) {
    file.AddRaw(sample);
  }
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("callchain-deep", "rounds-missing"));
}

}  // namespace
}  // namespace perftape::perfdata
