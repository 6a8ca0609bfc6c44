// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sample_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/support/tracing_data.h"

namespace perftape::inspect {
namespace {

using nlohmann::json;

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
  const json sample = json::parse(SampleJson(SampleRow{})).at("sample");
  EXPECT_TRUE(sample.at("cpu").is_null());
  EXPECT_TRUE(sample.at("time_ns").is_null());
}

TEST(SampleJson, HasTheWokenThreadOfAWakeup) {
  EXPECT_FALSE(json::parse(SampleJson(SampleRow{})).at("sample").contains("woken"));
  SampleRow row;
  row.woken = {.comm = "sleeper", .tid = 9};
  EXPECT_EQ(json::parse(SampleJson(row)).at("sample").at("woken"),
            json({{"comm", "sleeper"}, {"tid", 9}}));
}

TEST(SampleJson, HasTheControlGroupOfASampleThatHasOne) {
  EXPECT_FALSE(json::parse(SampleJson(SampleRow{})).at("sample").contains("cgroup"));
  SampleRow row;
  row.cgroup = "/system.slice";
  EXPECT_EQ(json::parse(SampleJson(row)).at("sample").at("cgroup"), "/system.slice");
}

TEST(SampleJson, HasTheFieldsOfATracepointByName) {
  SampleRow row;
  row.tracepoint =
      perfdata::ReadTracepoints(perfdata::TracingDataOf({{"sched", {perfdata::kWakeFormat}}}))
          .at(77);
  row.raw = perfdata::WakeRaw();
  EXPECT_EQ(json::parse(SampleJson(row)).at("sample").at("fields"),
            json::parse(R"({"name": "disk", "pid": -1, "reason": 9,
                            "skaddr": "0xffff888000000010", "ports": ["0x50", "0x1bb"]})"));
  row.raw.resize(13);  // up to the reason; the name is behind it
  EXPECT_EQ(json::parse(SampleJson(row)).at("sample").at("fields"),
            json::parse(R"({"pid": -1, "reason": 9})"));
  row.raw.clear();
  EXPECT_FALSE(json::parse(SampleJson(row)).at("sample").contains("fields"));
}

TEST(SampleJson, ReplacesWhatIsNoText) {
  SampleRow row;
  row.comm = "a\xff\n";
  const json sample = json::parse(SampleJson(row)).at("sample");
  EXPECT_EQ(sample.at("comm"), "a\ufffd\n");
}

}  // namespace
}  // namespace perftape::inspect
