// SPDX-License-Identifier: Apache-2.0
#include "tools/record/summary_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace perftape::record_tool {
namespace {

using Json = nlohmann::json;

TEST(SummaryJson, HasTheLossesOfEachCpuByCause) {
  record::RecordSummary summary;
  summary.output.counts.samples = 95;
  summary.losses.lost_samples = 5;
  summary.losses.events = {{.name = "cpu-clock",
                            .losses = {{.cpu = 3, .ring_full = 4, .late = 1}},
                            .stalls = {{.cpu = 1, .stalled_ns = 7, .sampled_ns = 9}},
                            .silences = {{.cpu = 0, .expiries = 2}},
                            .throttled = {{.cpu = 2, .times = 3, .throttled_ns = 8}}}};
  summary.output.counts.samples_by_event = {95};
  const Json event = Json::parse(SummaryJson(summary, 1))["events"][0];
  EXPECT_EQ(event["name"], "cpu-clock");
  EXPECT_EQ(event["samples"], 95);
  EXPECT_EQ(event["lost"][0]["cpu"], 3);
  EXPECT_EQ(event["lost"][0]["ring_full"], 4);
  EXPECT_EQ(event["lost"][0]["late"], 1);
  EXPECT_EQ(event["lost"][0]["throttled"], 0);
  EXPECT_EQ(event["stalled"], Json::parse(R"([{"cpu": 1, "ns": 7}])"));
  EXPECT_EQ(event["silent"], Json::parse(R"([{"cpu": 0, "expiries": 2}])"));
  EXPECT_EQ(event["throttled"], Json::parse(R"([{"cpu": 2, "times": 3, "ns": 8}])"));
}

TEST(SummaryJson, HasWhereCallChainsEnded) {
  record::RecordSummary summary;
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {10};
  summary.losses.events[0].chains.ends[WIRE_END_OF_STACK] = 9;
  summary.losses.events[0].chains.ends[WIRE_END_NO_TABLE] = 1;
  summary.losses.events[0].chains.derived = 3;
  const Json chains = Json::parse(SummaryJson(summary, 0))["events"][0]["chains"];
  EXPECT_EQ(chains["complete"], 9);
  EXPECT_EQ(chains["no_table"], 1);
  EXPECT_EQ(chains["too_deep"], 0);
  EXPECT_EQ(chains["derived"], 3);
}

TEST(SummaryJson, HasTheExitStatusAndWhatExplainsIt) {
  record::RecordSummary summary;
  summary.output.file = "perf.data";
  summary.output.failure = "perf.data: no space left";
  summary.command_status = 5;
  const Json json = Json::parse(SummaryJson(summary, 1));
  EXPECT_EQ(json["file"], "perf.data");
  EXPECT_EQ(json["failure"], "perf.data: no space left");
  EXPECT_EQ(json["command_status"], 5);
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_FALSE(json.contains("bundle"));
  EXPECT_FALSE(json.contains("compression"));
}

TEST(SummaryJson, HasTheFilesOfAFlightRecording) {
  record::RecordSummary summary;
  EXPECT_FALSE(Json::parse(SummaryJson(summary, 0)).contains("flight"));
  summary.output.flight =
      record::FlightSummary{.span_ns = 10,
                            .kept_ns = 4,
                            .dropped_samples = 3,
                            .ignored_triggers = 2,
                            .files = {{.trigger = "SIGUSR2", .file = "r.1", .kept_ns = 4}}};
  EXPECT_EQ(Json::parse(SummaryJson(summary, 0))["flight"], Json::parse(R"({
    "span_ns": 10, "kept_ns": 4, "least_kept_ns": null, "dropped_samples": 3,
    "ignored_triggers": 2,
    "files": [{"file": "r.1", "trigger": "SIGUSR2", "kept_ns": 4}]})"));
}

TEST(SummaryJson, HasTheBundleAndTheAbsences) {
  record::RecordSummary summary;
  summary.output.bundle = record::BundleSummary{
      .files = 2, .bytes = 10, .original_bytes = 100, .missing = {"/x: No such file"}};
  summary.losses.absences = {{.cpu = 1, .from_ns = 5, .until_ns = {}},
                             {.cpu = 2, .from_ns = 6, .until_ns = 7}};
  const Json json = Json::parse(SummaryJson(summary, 1));
  EXPECT_EQ(json["bundle"]["files"], 2);
  EXPECT_EQ(json["bundle"]["missing"][0], "/x: No such file");
  EXPECT_TRUE(json["absent_cpus"][0]["until_ns"].is_null());
  EXPECT_EQ(json["absent_cpus"][1]["until_ns"], 7);
}

}  // namespace
}  // namespace perftape::record_tool
