// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/perfdata_builder.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::json;
using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::HasSubstr;
using testing::StartsWith;

TEST(StatisticsText, BeginsAsPerfReportWritesIt) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls"});
  file.AddSample({.time = 1});
  file.AddSample({.time = 2});
  file.AddLostSamples(30, 3);
  const perfdata::Reader reader = file.Open();
  EXPECT_THAT(StatisticsText(records::CountRecords(reader), reader.events()),
              StartsWith("\nAggregated stats:\n"
                         "           TOTAL events:          4\n"
                         "            COMM events:          1  (25.0%)\n"
                         "          SAMPLE events:          2  (50.0%)\n"
                         "    LOST_SAMPLES events:          1  (25.0%)\n"
                         "cpu-clock:HG stats:\n"
                         "          SAMPLE events:          2\n"
                         "    LOST_SAMPLES events:         30\n"));
}

TEST(StatisticsText, LeavesOutPerfsLinesOfAnEventWithoutSamples) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddEvent({.config = perfdata::kSoftwareDummy});
  file.AddSample({.time = 1});
  const perfdata::Reader reader = file.Open();
  const std::string text = StatisticsText(records::CountRecords(reader), reader.events());
  EXPECT_THAT(text, HasSubstr("cpu-clock:HG stats:"));
  EXPECT_THAT(text, testing::Not(HasSubstr("dummy:HG stats:")));
}

Json StatsOf(PerfDataBuilder& file) {
  const perfdata::Reader reader = file.Open();
  const std::string text = StatisticsJson(records::CountRecords(reader), reader.events());
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  return Json::parse(text).at("stats");
}

TEST(StatisticsJson, CountsRecordsAndEvents) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls"});
  file.AddSample({.time = 1, .period = 10});
  file.AddSample({.time = 2, .period = 20});
  const Json stats = StatsOf(file);
  EXPECT_EQ(stats.at("records"), Json::parse(R"({"COMM": 1, "SAMPLE": 2})"));
  EXPECT_EQ(stats.at("events"), Json::parse(R"([
      {"name": "cpu-clock:HG", "samples": 2, "period": 30, "lost_samples": 0}])"));
  EXPECT_FALSE(stats.contains("damage"));
}

TEST(StatisticsJson, DistinguishesLostRecordsFromLostSamples) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddLost(5, 1);
  file.AddLostSamples(30, 3);
  EXPECT_EQ(StatsOf(file).at("lost"), Json::parse(R"({"LOST": 5, "LOST_SAMPLES": 30})"));
}

TEST(StatisticsJson, ReportsWhyItEndedEarly) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  EXPECT_THAT(StatsOf(file).at("damage").get<std::string>(), HasSubstr("size 4"));
}

}  // namespace
}  // namespace perftape::inspect
