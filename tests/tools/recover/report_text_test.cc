// SPDX-License-Identifier: Apache-2.0
#include "tools/recover/report_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::recover_tool {
namespace {

using perfdata::FeatureBit;
using perfdata::RecordType;
using rewrite::FeatureFate;
using rewrite::RecoverReport;
using testing::HasSubstr;
using testing::Not;

RecoverReport DamagedReport() {
  RecoverReport report;
  report.events = 1;
  report.kept = {{RecordType::kSample, 5}, {RecordType::kComm, 1}};
  report.corrections = {"at 0x30: data size is 0"};
  report.dropped = {{.position = {.offset = 0x1c00, .inside = 0x30, .is_inside = true},
                     .size = 12,
                     .reason = "no record"}};
  report.stretches = 3;
  report.dropped_bytes = 40;
  report.features = {{FeatureBit::kHostname, FeatureFate::kKept, ""},
                     {FeatureBit::kEventDesc, FeatureFate::kRebuilt, "it was cut"}};
  return report;
}

TEST(ReportText, ReportsWhatWasKeptDroppedAndGuessed) {
  const std::string text = ReportText(DamagedReport(), "in", "out");
  EXPECT_THAT(text, HasSubstr("in: 5 samples and 1 other record in out; something was lost"));
  EXPECT_THAT(text, HasSubstr("  at 0x30: data size is 0\n"));
  EXPECT_THAT(text, HasSubstr("dropped: 40 bytes in 3 stretches\n"));
  EXPECT_THAT(text, HasSubstr("  at 0x1c00+0x30: 12 bytes: no record\n"));
  EXPECT_THAT(text, HasSubstr("  and 2 more\n"));
  EXPECT_THAT(text, HasSubstr("features: kept HOSTNAME\n  rebuilt EVENT_DESC: it was cut\n"));
}

TEST(ReportText, ReportsThatNothingWasLost) {
  RecoverReport report;
  report.kept = {{RecordType::kSample, 1}};
  const std::string text = ReportText(report, "in", "out");
  EXPECT_THAT(text, HasSubstr("nothing was lost"));
  EXPECT_THAT(text, Not(HasSubstr("dropped")));
}

TEST(ReportText, EscapesNames) {
  EXPECT_THAT(ReportText(RecoverReport(), "a\x1b[2J", "out"), Not(HasSubstr("\x1b")));
}

TEST(ReportJson, HasTheSameFacts) {
  const std::string text = ReportJson(DamagedReport(), "in", "out");
  EXPECT_THAT(text, HasSubstr("\"whole\": false"));
  EXPECT_THAT(text, HasSubstr("\"SAMPLE\": 5"));
  EXPECT_THAT(text, HasSubstr("\"dropped_stretches\": 3"));
  EXPECT_THAT(text, HasSubstr("\"inside\": 48"));
  EXPECT_THAT(text, HasSubstr("\"fate\": \"rebuilt\""));
}

// A file's name need not be UTF-8, but JSON must be.
TEST(ReportJson, ReplacesBytesThatAreNoText) {
  EXPECT_THAT(ReportJson(RecoverReport(), "a\xff", "out"), HasSubstr("a\xef\xbf\xbd"));
}

}  // namespace
}  // namespace perftape::recover_tool
