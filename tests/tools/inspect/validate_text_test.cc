// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/validate_text.h"

#include <gmock/gmock.h>

namespace perftape::inspect {
namespace {

using perfdata::Readers;
using perfdata::RecordType;
using perfdata::RecordView;
using perfdata::Report;
using perfdata::Rule;
using testing::HasSubstr;
using testing::StartsWith;

TEST(FindingsText, IsALineForEachFinding) {
  Report report;
  report.Add(Rule::kRecordSizeAlignment,
             RecordView{.type = RecordType::kMmap, .file_offset = 0x1a8},
             [] { return std::string("MMAP has 57 bytes, not a multiple of 8"); });
  report.AddAt(Rule::kThrottled, 0x1b0, "the kernel paused cycles");
  EXPECT_EQ(FindingsText(report),
            "0x1a8 error record-size-alignment: MMAP has 57 bytes, not a multiple of 8; breaks "
            "perf-7.3\n"
            "0x1b0 note throttled: the kernel paused cycles\n");
}

TEST(FindingsText, EscapesNames) {
  Report report;
  report.AddAt(Rule::kBuildIdMissing, 8, "/bin/\x1b[2J");
  EXPECT_THAT(FindingsText(report), HasSubstr("/bin/\\x1b[2J"));
}

TEST(VerdictText, ListsReadersThatRejectTheFile) {
  Report report;
  report.AddAt(Rule::kRecordCut, 8, "cut", Readers::kPerf61 | Readers::kHotspot);
  EXPECT_THAT(VerdictText(report), HasSubstr("Refused, or read with loss, by: perf-6.1, hotspot"));
  EXPECT_THAT(VerdictText(report), HasSubstr("1 error, 0 warnings, 0 notes"));
}

TEST(VerdictText, ListsErrorsFirstAndTheirSum) {
  Report report;
  report.AddAt(Rule::kLostSamples, 8, "LOST_SAMPLES of 5 samples");
  report.SetSum(Rule::kLostSamples, "5 samples");
  report.AddAt(Rule::kCompressedDamaged, 8, "no zstd");
  const std::string text = VerdictText(report);
  EXPECT_LT(text.find("compressed-damaged"), text.find("lost-samples (5 samples)"));
}

TEST(VerdictText, ReportsACleanFile) {
  EXPECT_THAT(VerdictText(Report{}), StartsWith("\n0 errors, 0 warnings, 0 notes\nClean"));
}

}  // namespace
}  // namespace perftape::inspect
