// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/validate/report.h"

#include <gmock/gmock.h>

#include <set>
#include <string>

namespace perftape::perfdata {
namespace {

using testing::SizeIs;

TEST(Report, KeepsTheFirstFindingsOfARuleAndCountsTheRest) {
  Report report;
  for (std::uint64_t offset = 0; offset < 1000; offset += 8) {
    report.AddAt(Rule::kSampleUnmapped, offset, "unmapped");
  }
  EXPECT_THAT(report.InFileOrder(), SizeIs(Report::kKept));
  EXPECT_EQ(report.tally(Rule::kSampleUnmapped).count, 125U);
  EXPECT_EQ(report.InFileOrder().back().offset, 8 * (Report::kKept - 1));
}

TEST(Report, AsksForTheTextOfKeptFindingsOnly) {
  Report report;
  std::uint64_t asked = 0;
  for (int i = 0; i < 100; ++i) {
    report.Add(Rule::kThrottled, RecordView{}, [&] { return std::to_string(++asked); });
  }
  EXPECT_EQ(asked, Report::kKept);
}

TEST(Report, OrdersFindingsByOffset) {
  Report report;
  report.AddAt(Rule::kThrottled, 16, "b");
  report.AddAt(Rule::kHeaderSize, 8, "a");
  EXPECT_EQ(report.InFileOrder().front().message, "a");
}

TEST(Report, IsBrokenForTheReadersOfItsErrorsOnly) {
  Report report;
  report.AddAt(Rule::kSampleTimeZero, 0, "a warning");
  EXPECT_EQ(report.broken(), Readers::kNone);
  EXPECT_FALSE(report.is_clean());
  report.AddAt(Rule::kRecordCut, 0, "in a pipe", Readers::kHotspot);
  EXPECT_EQ(report.broken(), Readers::kHotspot);
}

TEST(Report, IsCleanWithNotes) {
  Report report;
  report.AddAt(Rule::kThrottled, 0, "a note");
  EXPECT_TRUE(report.is_clean());
}

TEST(AllRules, HaveUniqueNamesAndAReason) {
  std::set<std::string_view> names;
  for (const RuleInfo& info : AllRules()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.why.empty()) << info.name;
    EXPECT_EQ(&InfoOf(info.rule), &info) << info.name;
  }
}

}  // namespace
}  // namespace perftape::perfdata
