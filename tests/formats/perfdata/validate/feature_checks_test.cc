// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "formats/perfdata/validate/checks.h"
#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;

constexpr std::uint64_t kDataOffsetAt = 40, kDataSizeAt = 48;

std::uint64_t TableOf(const std::vector<std::byte>& file) {
  return Get<std::uint64_t>(file, kDataOffsetAt) + Get<std::uint64_t>(file, kDataSizeAt);
}
// Returns the offset of the Nth feature of the file.
std::uint64_t SectionOf(const std::vector<std::byte>& file, std::uint64_t n) {
  return Get<std::uint64_t>(file, TableOf(file) + 16 * n);
}

TEST(FeatureChecks, ReportATruncatedTable) {
  std::vector<std::byte> file = GoodFile().Build();
  file.resize(TableOf(file) + 16 * 6);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("feature-table-cut"));
}

TEST(FeatureChecks, ReportASectionBehindTheEnd) {
  std::vector<std::byte> file = GoodFile().Build();
  Put<std::uint64_t>(file, TableOf(file), std::uint64_t{1} << 40);
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), Contains("feature-outside"));
  EXPECT_EQ(report.tally(Rule::kFeatureOutside).count, 1U);
}

TEST(FeatureChecks, ReportATextLongerThanItsSection) {
  std::vector<std::byte> file = GoodFile().Build();
  Put<std::uint32_t>(file, SectionOf(file, 0), 0xffffffff);  // HOSTNAME
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("feature-undecodable"));
  EXPECT_TRUE(Overlap(report.broken(), Readers::kPerf73));
  EXPECT_FALSE(Overlap(report.broken(), Readers::kPerf61));
}

TEST(FeatureChecks, ReportABadFeatureInAPipe) {
  PerfDataBuilder file(Container::kPipe);
  file.AddEvent();
  const std::array<std::byte, 4> text = {std::byte{0xff}};
  file.AddFeature(FeatureBit::kHostname, RawFeature{{text.begin(), text.end()}});
  EXPECT_TRUE(Overlap(Judge(file).broken(), Readers::kPerf61));
}

TEST(FeatureChecks, ReportAnEventDescThatCrashesPerf) {
  std::vector<std::byte> file = GoodFile().Build();
  Put<std::uint32_t>(file, SectionOf(file, 6), 0xffffffff);
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("feature-event-desc-count"));
}

TEST(FeatureChecks, ReportAnEventDescOfOtherEvents) {
  PerfDataBuilder file(Container::kFile);
  file.AddEvent();
  EventDesc other = file.Description();
  other.events.at(0).attr.config = 99;
  file.AddFeature(FeatureBit::kEventDesc, other);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("feature-event-desc-differs"));
  EXPECT_EQ(Judge(file).tally(Rule::kFeatureEventDescDiffers).breaks, Readers::kSamply);
}

TEST(FeatureChecks, ReportAnEventDescWithMoreEvents) {
  PerfDataBuilder file(Container::kFile);
  file.AddEvent();
  EventDesc two = file.Description();
  two.events.push_back(two.events.front());
  file.AddFeature(FeatureBit::kEventDesc, two);
  EXPECT_THAT(RulesOf(Judge(file)), Contains("feature-event-desc-differs"));
}

TEST(FeatureChecks, ReportABitUnknownToPerf) {
  PerfDataBuilder file = GoodFile();
  file.AddFeature(static_cast<FeatureBit>(128), RawFeature{});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("feature-unknown"));
  EXPECT_EQ(report.broken(), Readers::kPerfInject);
}

TEST(FeatureChecks, ReportPmuMappingsWithoutAnEntry) {
  PerfDataBuilder file = GoodFile();
  file.AddFeature(FeatureBit::kPmuMappings, PmuMappings{});
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("feature-pmu-mappings-empty"));
}

TEST(FeatureChecks, ReportATopologyOfUnknownCpus) {
  PerfDataBuilder file(Container::kFile);
  file.AddEvent();
  file.AddFeature(FeatureBit::kCpuTopology, CpuTopology{});
  EXPECT_THAT(RulesOf(Judge(file)), Contains("feature-topology-without-cpus"));
}

TEST(FeatureChecks, NoteWhatReadersWouldLike) {
  PerfDataBuilder file(Container::kFile);
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "app"});
  const Report report = Judge(file);
  EXPECT_EQ(report.tally(Rule::kFeatureMissing).count, 7U);
  EXPECT_TRUE(report.is_clean());
}

}  // namespace
}  // namespace perftape::perfdata
