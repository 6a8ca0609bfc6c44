// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "formats/perfdata/validate/checks.h"
#include "tests/formats/perfdata/validate/judged.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

constexpr std::uint64_t kAttrsOffsetAt = 24, kAttrsSizeAt = 32;
constexpr std::uint64_t kUsual = kIdentifier | kIp | kTid | kTime;

std::vector<std::string> RulesOfEvents(const std::vector<EventOptions>& events) {
  PerfDataBuilder file = GoodFile(events);
  return RulesOf(Judge(file));
}

TEST(EventChecks, ReportAnAttributeNewerThanPerf61) {
  PerfDataBuilder file = GoodFile({{.attr_size = 136}});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("event-attr-newer"));
  EXPECT_TRUE(Overlap(report.broken(), Readers::kPerf61));
  EXPECT_FALSE(Overlap(report.broken(), Readers::kPerf612));
}

TEST(EventChecks, ReportAnAttributeNewerThanPerf612) {
  PerfDataBuilder file = GoodFile({{.attr_size = 144}});
  EXPECT_TRUE(Overlap(Judge(file).broken(), Readers::kPerf612));
}

TEST(EventChecks, ReportAnAttributeNewerThanPerf73) {
  PerfDataBuilder largest = GoodFile({{.attr_size = 144}}), larger = GoodFile({{.attr_size = 176}});
  EXPECT_FALSE(Overlap(Judge(largest).broken(), Readers::kPerf73));
  EXPECT_TRUE(Overlap(Judge(larger).broken(), Readers::kPerf73));
}

TEST(EventChecks, NoteThatAnAttributeIsNewerThanPerf510) {
  EXPECT_THAT(RulesOfEvents({{.attr_size = 128}}), ElementsAre("event-attr-newer-than-5.10"));
}

TEST(EventChecks, HaveNothingAgainstALargeAttributeInAPipe) {
  PerfDataBuilder file = GoodFile({{.attr_size = 144}}, Container::kPipe);
  EXPECT_TRUE(Judge(file).is_clean());
}

TEST(EventChecks, ReportAnEmptyTable) {
  std::vector<std::byte> file = GoodFile().Build();
  Put<std::uint64_t>(file, kAttrsSizeAt, 0);  // EVENT_DESC still has it
  EXPECT_THAT(RulesOf(Judge(file)), Contains("event-none"));
}

TEST(EventChecks, ReportIdsBehindTheEnd) {
  std::vector<std::byte> file = GoodFile().Build();
  const auto attrs = Get<std::uint64_t>(file, kAttrsOffsetAt);
  Put<std::uint64_t>(file, attrs + EventAttr::kSize, std::uint64_t{1} << 40);
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("event-ids-outside"));
}

TEST(EventChecks, ReportOneOfTwoEventsWithoutAnId) {
  std::vector<std::byte> file = GoodFile({{.name = "a"}, {.name = "b"}}).Build();
  const auto attrs = Get<std::uint64_t>(file, kAttrsOffsetAt);
  const std::uint64_t entry = EventAttr::kSize + 16;
  Put<std::uint64_t>(file, attrs + entry + EventAttr::kSize + 8, 0);  // EVENT_DESC still has it
  EXPECT_THAT(RulesOf(Judge(file)), ElementsAre("event-ids-missing"));
}

TEST(EventChecks, ReportAnIdOfTwoEvents) {
  EXPECT_THAT(RulesOfEvents({{.name = "a", .ids = {5}}, {.name = "b", .ids = {5}}}),
              ElementsAre("event-id-duplicate"));
}

TEST(EventChecks, ReportTwoEventsWhoseRecordsHaveNoId) {
  EXPECT_THAT(RulesOfEvents({{.name = "a", .sample_type = kIp | kTid | kTime},
                             {.name = "b", .sample_type = kIp | kTid | kTime}}),
              Contains("event-id-unrecorded"));
}

TEST(EventChecks, ReportTwoEventsWithIdsAtDifferentOffsets) {
  EXPECT_THAT(RulesOfEvents({{.name = "a", .sample_type = kId | kIp | kTid | kTime},
                             {.name = "b", .sample_type = kId | kIp | kTid | kTime | kAddr}}),
              Contains("event-id-position"));
}

TEST(EventChecks, ReportTrailersOfOnlyOneOfTwoEvents) {
  const auto rules = RulesOfEvents({{.name = "a"}, {.name = "b", .flags = 0}});
  EXPECT_THAT(rules, Contains("event-sample-id-all-differs"));
}

TEST(EventChecks, ReportTrailersThatHotspotMisreads) {
  PerfDataBuilder file =
      GoodFile({{.name = "a", .sample_type = kUsual}, {.name = "b", .sample_type = kUsual | kCpu}});
  const Report report = Judge(file);
  EXPECT_THAT(RulesOf(report), ElementsAre("event-trailer-differs"));
  EXPECT_EQ(report.broken(), Readers::kHotspot);
}

TEST(EventChecks, ReportCountersWithoutIds) {
  EXPECT_THAT(RulesOfEvents({{.sample_type = kUsual | kRead}}),
              ElementsAre("event-read-without-id"));
  EXPECT_THAT(RulesOfEvents({{.sample_type = kUsual | kRead, .read_format = kReadId}}),
              Not(Contains("event-read-without-id")));
}

TEST(EventChecks, ReportATracepointWithoutItsFormat) {
  EXPECT_THAT(RulesOfEvents({{.type = kTypeTracepoint, .config = 300}}),
              ElementsAre("event-tracepoint-without-format"));
}

TEST(EventChecks, ReportAnUnknownField) {
  EXPECT_THAT(RulesOfEvents({{.sample_type = kUsual | std::uint64_t{1} << 40}}),
              ElementsAre("event-sample-type-unknown"));
}

TEST(EventChecks, ReportRegistersWithoutAMask) {
  EXPECT_THAT(RulesOfEvents({{.sample_type = kUsual | kRegsUser}}),
              ElementsAre("event-regs-without-mask"));
}

TEST(EventChecks, ReportFieldsThatReadersNeed) {
  EXPECT_THAT(RulesOfEvents({{.sample_type = kTid | kTime}}), ElementsAre("event-ip-missing"));
  EXPECT_THAT(RulesOfEvents({{.sample_type = kIp | kTid}}), ElementsAre("event-time-missing"));
  EXPECT_THAT(RulesOfEvents({{.sample_type = kIp | kTime}}), ElementsAre("event-tid-missing"));
  EXPECT_THAT(RulesOfEvents({{.flags = 0}}), ElementsAre("event-trailer-missing"));
}

}  // namespace
}  // namespace perftape::perfdata
