// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::json;
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
  EXPECT_THAT(VerdictText(report), HasSubstr("Rejected, or read with loss, by: perf-6.1, hotspot"));
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

TEST(ValidationJson, IsOneLineWithTheFindings) {
  Report report;
  report.Add(Rule::kRecordSizeAlignment,
             RecordView{.type = RecordType::kMmap, .file_offset = 0x1a8},
             [] { return std::string("MMAP has 57 bytes, not a multiple of 8"); });
  const std::string text = ValidationJson(report);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const Json validate = Json::parse(text).at("validate");
  EXPECT_EQ(validate.at("clean"), false);
  EXPECT_EQ(validate.at("errors"), 1);
  EXPECT_EQ(validate.at("findings"), Json::parse(R"([{
      "rule": "record-size-alignment", "severity": "error", "offset": 424, "place": "0x1a8",
      "record": "MMAP", "message": "MMAP has 57 bytes, not a multiple of 8", "breaks": ["perf-7.3"]}])"));
  EXPECT_EQ(validate.at("counts"), Json::parse(R"({"record-size-alignment": 1})"));
  EXPECT_EQ(validate.at("breaks"), Json::parse(R"(["perf-7.3"])"));
}

TEST(ValidationJson, CountsMoreThanItLists) {
  Report report;
  for (int i = 0; i < 50; ++i) report.AddAt(Rule::kThrottled, 8, "paused");
  const Json validate = Json::parse(ValidationJson(report)).at("validate");
  EXPECT_EQ(validate.at("findings").size(), Report::kKept);
  EXPECT_EQ(validate.at("counts").at("throttled"), 50);
  EXPECT_EQ(validate.at("clean"), true);
}

TEST(ValidationJson, ReplacesWhatIsNoText) {
  Report report;
  report.AddAt(Rule::kBuildIdMissing, 8, "/bin/\xff");
  const Json validate = Json::parse(ValidationJson(report)).at("validate");
  EXPECT_EQ(validate.at("findings").at(0).at("message"), "/bin/\ufffd");
}

}  // namespace
}  // namespace perftape::inspect
