// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sample_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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

TEST(SampleJson, HasTheControlGroupOfASampleThatHasOne) {
  EXPECT_FALSE(json::parse(SampleJson(SampleRow{})).at("sample").contains("cgroup"));
  SampleRow row;
  row.cgroup = "/system.slice";
  EXPECT_EQ(json::parse(SampleJson(row)).at("sample").at("cgroup"), "/system.slice");
}

TEST(SampleJson, ReplacesWhatIsNoText) {
  SampleRow row;
  row.comm = "a\xff\n";
  const json sample = json::parse(SampleJson(row)).at("sample");
  EXPECT_EQ(sample.at("comm"), "a\ufffd\n");
}

}  // namespace
}  // namespace perftape::inspect
