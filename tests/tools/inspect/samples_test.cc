// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/perfdata_builder.h"
#include "tests/support/tracing_data.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {
namespace {

using Json = nlohmann::json;
using perfdata::PerfDataBuilder;
using records::SampleRow;
using testing::EndsWith;

TEST(RowText, IsOneLineOfElevenColumns) {
  const SampleRow row{.event = "cycles",
                      .comm = "ls",
                      .pid = 7,
                      .tid = 8,
                      .cpu = 3,
                      .time_ns = 99,
                      .period = 12,
                      .ip = 0x401136,
                      .dso = "ls",
                      .frames = {0x401136, 0x7f00}};
  EXPECT_EQ(RowText(row), "cycles\tls\t7\t8\t3\t99\t12\t401136\tls\t2\t401136,7f00\n");
}

TEST(RowText, HasAColumnWithTheFieldsOfATracepointOnRequest) {
  PerfDataBuilder file;
  file.AddEvent({.type = perfdata::kTypeTracepoint, .config = 77, .sample_type = perfdata::kRaw});
  file.AddFeature(
      perfdata::FeatureBit::kTracingData,
      perfdata::RawFeature{perfdata::TracingDataOf({{"sched", {perfdata::kWakeFormat}}})});
  file.AddSample({.raw = perfdata::WakeRaw()});
  const perfdata::Reader reader = file.Open();
  SampleRow row = records::SampleRows(reader).Next().value().value();
  EXPECT_THAT(SampleTableHead(FieldColumn::kLast), EndsWith("\tframes\tfields\n"));
  EXPECT_THAT(RowText(row, FieldColumn::kLast),
              EndsWith("\tname=\"disk\" pid=-1 reason=9 skaddr=0xffff888000000010 "
                       "ports={0x50,0x1bb}\n"));
  EXPECT_THAT(RowText(row), EndsWith("\t0\t\n"));
  row.tracepoint = nullptr;
  EXPECT_THAT(RowText(row, FieldColumn::kLast), EndsWith("\t0\t\t\n"));
}

TEST(RowText, WritesANameWithATabAsOneColumn) {
  const SampleRow row{
      .event = "e", .comm = "a\tb\n", .cpu = std::nullopt, .time_ns = 0, .dso = "d", .frames = {}};
  EXPECT_EQ(RowText(row), "e\ta\\tb\\n\t0\t0\t-1\t0\t0\t0\td\t0\t\n");
}

TEST(RowText, WritesATimeThatWasNotRecordedAsPerfDoes) {
  const SampleRow row{.event = "e",
                      .comm = "ls",
                      .cpu = std::nullopt,
                      .time_ns = std::nullopt,
                      .dso = "d",
                      .frames = {}};
  EXPECT_EQ(RowText(row), "e\tls\t0\t0\t-1\t18446744073709551615\t0\t0\td\t0\t\n");
}

TEST(RowText, WritesTheIdsOfATaskThatIsGoneAsPerfDoes) {
  const SampleRow row{.event = "e",
                      .comm = ":-1",
                      .pid = UINT32_MAX,
                      .tid = UINT32_MAX,
                      .cpu = std::nullopt,
                      .time_ns = 0,
                      .dso = "d",
                      .frames = {}};
  EXPECT_EQ(RowText(row), "e\t:-1\t4294967295\t4294967295\t-1\t0\t0\t0\td\t0\t\n");
}

TEST(RowText, NamesTheThreadThatAWakeupWokeInTheColumnOfFields) {
  const SampleRow row{.event = "wakeup",
                      .comm = "waker",
                      .cpu = std::nullopt,
                      .time_ns = 0,
                      .dso = "d",
                      .woken = SampleRow::Woken{.comm = "sleeper", .tid = 9},
                      .frames = {}};
  EXPECT_THAT(RowText(row, FieldColumn::kLast), EndsWith("\twoken=\"sleeper\" woken_tid=9\n"));
}

TEST(SampleJson, IsOneLineWithTheColumnsOfTheTable) {
  const SampleRow row{.event = "cycles",
                      .comm = "ls",
                      .pid = 7,
                      .tid = 8,
                      .cpu = 3,
                      .time_ns = 1000,
                      .period = 10,
                      .ip = 0xffffffff81000000,
                      .dso = "[kernel.kallsyms]",
                      .frames = {0xffffffff81000000, 0x401136}};
  EXPECT_EQ(SampleJson(row),
            R"({"sample":{"event":"cycles","comm":"ls","pid":7,"tid":8,"cpu":3,"time_ns":1000,)"
            R"("period":10,"ip":"0xffffffff81000000","dso":"[kernel.kallsyms]",)"
            R"("frames":["0xffffffff81000000","0x401136"]}})"
            "\n");
}

TEST(SampleJson, HasNoCpuAndNoTimeWhereNoneWasRecorded) {
  const Json sample = Json::parse(SampleJson(SampleRow{})).at("sample");
  EXPECT_TRUE(sample.at("cpu").is_null());
  EXPECT_TRUE(sample.at("time_ns").is_null());
}

TEST(SampleJson, HasTheWokenThreadOfAWakeup) {
  EXPECT_FALSE(Json::parse(SampleJson(SampleRow{})).at("sample").contains("woken"));
  SampleRow row;
  row.woken = {.comm = "sleeper", .tid = 9};
  EXPECT_EQ(Json::parse(SampleJson(row)).at("sample").at("woken"),
            Json({{"comm", "sleeper"}, {"tid", 9}}));
}

TEST(SampleJson, HasTheControlGroupOfASampleThatHasOne) {
  EXPECT_FALSE(Json::parse(SampleJson(SampleRow{})).at("sample").contains("cgroup"));
  SampleRow row;
  row.cgroup = "/system.slice";
  EXPECT_EQ(Json::parse(SampleJson(row)).at("sample").at("cgroup"), "/system.slice");
}

TEST(SampleJson, HasTheFieldsOfATracepointByName) {
  SampleRow row;
  row.tracepoint =
      perfdata::ReadTracepoints(perfdata::TracingDataOf({{"sched", {perfdata::kWakeFormat}}}))
          .at(77);
  row.raw = perfdata::WakeRaw();
  EXPECT_EQ(Json::parse(SampleJson(row)).at("sample").at("fields"),
            Json::parse(R"({"name": "disk", "pid": -1, "reason": 9,
                            "skaddr": "0xffff888000000010", "ports": ["0x50", "0x1bb"]})"));
  row.raw.resize(13);  // up to the reason; the name is behind it
  EXPECT_EQ(Json::parse(SampleJson(row)).at("sample").at("fields"),
            Json::parse(R"({"pid": -1, "reason": 9})"));
  row.raw.clear();
  EXPECT_FALSE(Json::parse(SampleJson(row)).at("sample").contains("fields"));
}

TEST(SampleJson, ReplacesWhatIsNoText) {
  SampleRow row;
  row.comm = "a\xff\n";
  const Json sample = Json::parse(SampleJson(row)).at("sample");
  EXPECT_EQ(sample.at("comm"), "a\ufffd\n");
}

}  // namespace
}  // namespace perftape::inspect
