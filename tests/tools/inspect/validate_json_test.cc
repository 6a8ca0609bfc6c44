// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/validate_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace perftape::inspect {
namespace {

using nlohmann::json;
using perfdata::RecordType;
using perfdata::RecordView;
using perfdata::Report;
using perfdata::Rule;

TEST(ValidationJson, IsOneLineWithTheFindings) {
  Report report;
  report.Add(Rule::kRecordSizeAlignment,
             RecordView{.type = RecordType::kMmap, .file_offset = 0x1a8},
             [] { return std::string("MMAP has 57 bytes, not a multiple of 8"); });
  const std::string text = ValidationJson(report);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const json validate = json::parse(text).at("validate");
  EXPECT_EQ(validate.at("clean"), false);
  EXPECT_EQ(validate.at("errors"), 1);
  EXPECT_EQ(validate.at("findings"), json::parse(R"([{
      "rule": "record-size-alignment", "severity": "error", "offset": 424, "place": "0x1a8",
      "record": "MMAP", "message": "MMAP has 57 bytes, not a multiple of 8", "breaks": ["perf-7.3"]}])"));
  EXPECT_EQ(validate.at("counts"), json::parse(R"({"record-size-alignment": 1})"));
  EXPECT_EQ(validate.at("breaks"), json::parse(R"(["perf-7.3"])"));
}

TEST(ValidationJson, CountsMoreThanItLists) {
  Report report;
  for (int i = 0; i < 50; ++i) report.AddAt(Rule::kThrottled, 8, "paused");
  const json validate = json::parse(ValidationJson(report)).at("validate");
  EXPECT_EQ(validate.at("findings").size(), Report::kKept);
  EXPECT_EQ(validate.at("counts").at("throttled"), 50);
  EXPECT_EQ(validate.at("clean"), true);
}

TEST(ValidationJson, ReplacesWhatIsNoText) {
  Report report;
  report.AddAt(Rule::kBuildIdMissing, 8, "/bin/\xff");
  const json validate = json::parse(ValidationJson(report)).at("validate");
  EXPECT_EQ(validate.at("findings").at(0).at("message"), "/bin/\ufffd");
}

}  // namespace
}  // namespace perftape::inspect
