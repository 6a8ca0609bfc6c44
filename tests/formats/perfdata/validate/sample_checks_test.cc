// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/sample_checks.h"

#include <gmock/gmock.h>

#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SampleChecks, ReportASampleShorterThanItsFields) {
  PerfDataBuilder file = GoodFile();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 16});
  file.AddRaw(std::vector<std::byte>(8));
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("sample-overrun"));
  EXPECT_EQ(report.broken(), kEveryReader);
}

TEST(SampleChecks, ReportASampleLongerThanItsFields) {
  PerfDataBuilder file = GoodFile();
  PerfDataBuilder other = GoodFile();
  const std::size_t before = other.records().size();
  AddGoodSample(other);
  std::vector<std::byte> sample(other.records().begin() + static_cast<std::ptrdiff_t>(before),
                                other.records().end());
  sample.resize(sample.size() + 16);
  Put(sample, 6, static_cast<std::uint16_t>(sample.size()));
  file.AddRaw(sample);
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("sample-bytes-left"));
}

TEST(SampleChecks, ReportASampleWithoutAMode) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.mode = CpuMode::kUnknown});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("sample-cpumode"));
}

TEST(SampleChecks, ReportACpuBeyondTheLast) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.cpu = 1});
  EXPECT_THAT(RulesOf(Judge(file)), IsEmpty());
  AddGoodSample(file, {.cpu = 2});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("sample-cpu-beyond"));
}

TEST(SampleChecks, NoteATaskThatIsGone) {
  PerfDataBuilder file = GoodFile();
  const auto gone = static_cast<std::uint32_t>(-1);
  file.AddSample({.ip = 0x400100, .pid = gone, .tid = gone, .time = 5});
  const Report report = Judge(file);
  EXPECT_EQ(report.tally(Rule::kSampleTaskUnknown).count, 1U);
  EXPECT_TRUE(report.is_clean());
}

TEST(SampleChecks, ReportASampleOfTimeZero) {
  PerfDataBuilder file = GoodFile();
  file.AddSample({.ip = 0x400100, .pid = 0, .tid = 0, .time = 0});
  EXPECT_EQ(Judge(file).tally(Rule::kSampleTimeZero).count, 1U);
}

TEST(SampleChecks, ReportAMarkerUnknownToPerf) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.callchain = {static_cast<std::uint64_t>(-3), 0x400100}});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("callchain-context"));
}

TEST(SampleChecks, ReportOffCpuSamplesWithTheirValuesInRaw) {
  PerfDataBuilder file = GoodFile({{.name = "offcpu-time",
                                    .config = kSoftwareBpfOutput,
                                    .sample_type = kIdentifier | kIp | kTid | kTime | kRaw}});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  AddGoodSample(file);
  EXPECT_THAT(RulesOf(Judge(file)), testing::Contains("sample-off-cpu-raw"));
}

TEST(SampleChecks, ReportADeferredChain) {
  PerfDataBuilder file = GoodFile();
  AddGoodSample(file, {.callchain = {kContextUserDeferred, 0xffffffffffffffff}});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("callchain-deferred"));
  EXPECT_FALSE(Overlap(report.broken(), Readers::kPerf73));
}

TEST(SampleChecks, NoteAChainDeeperThanPerfPrints) {
  PerfDataBuilder file = GoodFile();
  std::vector<std::uint64_t> chain(128, 0x400100);
  chain.insert(chain.begin(), kContextUser);
  AddGoodSample(file, {.callchain = chain});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("callchain-deep"));
}

}  // namespace
}  // namespace perftape::perfdata
