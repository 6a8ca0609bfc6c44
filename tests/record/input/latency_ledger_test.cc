// SPDX-License-Identifier: Apache-2.0
#include "record/input/latency_ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "formats/perfdata/latency_probes.h"

namespace perftape::record {
namespace {

using bundle::NotedCount;
using bundle::NotedLatency;
using bundle::NotedLatencyLoss;
using bundle::NotedLatencyMin;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr std::uint32_t kRead = 1, kConnect = 2, kFaults = 3;

// Events of a recording: a clock, and three probes with the numbers above.
std::vector<PlannedEvent> Planned() {
  std::vector<PlannedEvent> planned(4);
  planned[0].name = "cpu-clock";
  const auto set = [&](std::uint32_t event, LatencyOptions options) {
    planned[event].cause = SampleCause::kLatency;
    planned[event].settings.id = static_cast<__u16>(0xf000 + event);
    planned[event].latency = std::move(options);
  };
  set(kRead, {.probe = "read", .min_ns = 1000, .samples_errors = true});
  set(kConnect, {.probe = "tcp-connect", .min_ns = 5000});
  set(kFaults, {.probe = "page-fault"});
  return planned;
}

// The calls of a process on a CPU. Each takes as long as given, and no time makes a sample.
struct Counted {
  std::uint32_t event = kRead, tgid = 7;
  std::vector<std::uint64_t> times = {};
  std::uint64_t cgroup = 0;
  std::uint32_t cpu = 0;
  std::string comm = "cat";
  std::vector<wire_latency_error> errors = {};
  std::uint64_t other_errors = 0;
};

LatencyCounts CountsOf(const Counted& counted) {
  LatencyCounts counts = {};
  counts.key = {.tgid = counted.tgid,
                .event = counted.event,
                .cgroup = counted.cgroup,
                .cpu = counted.cpu,
                .pad = 0};
  wire_latency& histogram = counts.histogram;
  for (const std::uint64_t ns : counted.times) {
    ++histogram.count;
    histogram.sum_ns += ns;
    histogram.max_ns = std::max<std::uint64_t>(histogram.max_ns, ns);
    ++histogram.buckets[LatencyBucketOf(ns)];
  }
  histogram.fast_ns = histogram.sum_ns;
  histogram.other_errors = counted.other_errors;
  std::ranges::copy(counted.errors, histogram.errors);
  std::memcpy(histogram.comm, counted.comm.data(), std::min<std::size_t>(counted.comm.size(), 16));
  return counts;
}

void Add(LatencyLedger& ledger, const Counted& counted) {
  ledger.Add(std::vector{CountsOf(counted)});
}

LatencySummary SummaryOf(const LatencyLedger& ledger) {
  return ledger.Summarize([](std::uint64_t id) { return "/of/" + std::to_string(id); }, {});
}

std::vector<wire_sample> FastCallsOf(LatencyLedger& ledger) {
  std::vector<wire_sample> samples;
  ledger.SumUpFastCalls(500, [&](Bytes message) {
    ASSERT_GE(message.size(), sizeof(wire_sample));
    wire_sample& sample = samples.emplace_back();
    std::memcpy(&sample, message.data(), sizeof sample);
    EXPECT_EQ(sample.header.size, message.size());
  });
  return samples;
}

TEST(LatencyLedger, AddsUpTheCpusAndTheSecondsOfAProcess) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.times = {3, 100}, .cpu = 0});
  Add(ledger, {.times = {2}, .cpu = 1});
  Add(ledger, {.times = {101}, .cpu = 0});
  EXPECT_THAT(SummaryOf(ledger).calls,
              ElementsAre(NotedLatency{.probe = "read",
                                       .pid = 7,
                                       .comm = "cat",
                                       .count = 4,
                                       .sum_ns = 206,
                                       .max_ns = 101,
                                       .buckets = {{2, 1}, {3, 1}, {22, 2}}}));
}

TEST(LatencyLedger, NamesCallsAsTheirProcessIsNamedLast) {
  LatencyLedger ledger(Planned());
  const auto name_of = [&](std::uint32_t pid) -> std::string {
    for (const NotedLatency& calls : SummaryOf(ledger).calls) {
      if (calls.pid == pid) return calls.comm;
    }
    return "";
  };
  Add(ledger, {.tgid = 7, .times = {1}, .comm = "sh"});
  EXPECT_EQ(name_of(7), "sh");
  ledger.Rename(7, "dd");
  Add(ledger, {.tgid = 7, .times = {1}, .comm = "sh"});  // of another CPU
  EXPECT_EQ(name_of(7), "dd");
  ledger.Start(7);  // the PID again, for a process that never has another name
  Add(ledger, {.tgid = 7, .times = {1}, .comm = "bash"});
  EXPECT_EQ(name_of(7), "bash");
}

TEST(LatencyLedger, KeepsTheNamesOfSomeProcesses) {
  LatencyLedger ledger(Planned(), 1);
  ledger.Rename(7, "dd");
  ledger.Rename(8, "cat");
  ledger.Rename(7, "cp");
  Add(ledger, {.tgid = 7, .times = {1}, .comm = "sh"});
  EXPECT_EQ(SummaryOf(ledger).calls.front().comm, "cp");
}

TEST(LatencyLedger, KeepsProbesProcessesAndCgroupsApart) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.event = kConnect, .tgid = 7, .times = {1}});
  Add(ledger, {.event = kRead, .tgid = 8, .times = {1, 1}, .cgroup = 42});
  Add(ledger, {.event = kRead, .tgid = 8, .times = {1, 1, 1}});
  const auto is = [](const char* probe, std::uint32_t pid, const char* cgroup,
                     std::uint64_t count) {
    return AllOf(Field("probe", &NotedLatency::probe, probe), Field("pid", &NotedLatency::pid, pid),
                 Field("cgroup", &NotedLatency::cgroup, cgroup),
                 Field("count", &NotedLatency::count, count));
  };
  EXPECT_THAT(SummaryOf(ledger).calls, ElementsAre(is("read", 8, "", 3), is("read", 8, "/of/42", 2),
                                                   is("tcp-connect", 7, "", 1)));
}

TEST(LatencyLedger, IgnoresHistogramsOfEventsThatAreNoProbes) {
  LatencyLedger ledger(Planned());
  EXPECT_FALSE(ledger.is_empty());
  Add(ledger, {.event = 0, .times = {5}});
  Add(ledger, {.event = 77, .times = {5}});
  EXPECT_THAT(SummaryOf(ledger).calls, IsEmpty());
  EXPECT_TRUE(LatencyLedger(std::vector<PlannedEvent>(2)).is_empty());
}

TEST(LatencyLedger, CountsErrorsByCodeAndTellsWhichHadNoRoom) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.times = {1, 1, 1}, .errors = {{.code = 9, .count = 2}, {.code = 2, .count = 1}}});
  Add(ledger, {.times = {1, 1}, .errors = {{.code = 9, .count = 1}}, .other_errors = 1});
  const LatencySummary summary = SummaryOf(ledger);
  EXPECT_THAT(summary.calls.front().errors, ElementsAre(NotedCount{2, 1}, NotedCount{9, 3}));
  EXPECT_THAT(summary.lost, ElementsAre(NotedLatencyLoss{"read", "error_codes", 1}));
}

TEST(LatencyLedger, CountsTheProcessesForWhichThereIsNoRoomAsOne) {
  LatencyLedger ledger(Planned(), 2);
  Add(ledger, {.tgid = 7, .times = {1}});
  Add(ledger, {.tgid = 8, .times = {1}});
  Add(ledger, {.tgid = 9, .times = {1, 1}, .comm = "dog"});
  Add(ledger, {.tgid = 10, .times = {1, 1, 1}});
  Add(ledger, {.tgid = 7, .times = {1}});
  const LatencySummary summary = SummaryOf(ledger);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> counts;
  for (const NotedLatency& calls : summary.calls) counts.emplace_back(calls.pid, calls.count);
  EXPECT_THAT(counts, ElementsAre(std::pair(0U, 5U), std::pair(7U, 2U), std::pair(8U, 1U)));
  EXPECT_EQ(summary.calls.front().comm, "");
  EXPECT_THAT(summary.lost, ElementsAre(NotedLatencyLoss{"read", "processes", 5}));
}

TEST(LatencyLedger, TellsWhatIsASampleAndWhatFoundNoRoom) {
  const LatencyLedger ledger(Planned());
  const std::vector<UncountedCalls> uncounted = {
      {100, 100}, {}, {.no_histogram = 12, .no_begin = 7}, {}, {100, 100}};
  const LatencySummary summary = ledger.Summarize([](std::uint64_t) { return ""; }, uncounted);
  EXPECT_THAT(summary.min, ElementsAre(NotedLatencyMin{"read", 1000, true},
                                       NotedLatencyMin{"tcp-connect", 5000, false},
                                       NotedLatencyMin{"page-fault", 0, false}));
  EXPECT_THAT(summary.lost, ElementsAre(NotedLatencyLoss{"tcp-connect", "no_room", 12},
                                        NotedLatencyLoss{"tcp-connect", "in_progress", 7}));
}

TEST(LatencyLedger, TellsWhatTheProgramsMissedSoFar) {
  LatencyLedger ledger(Planned());
  ledger.SetMissed([](std::uint32_t event) { return event == kRead ? 0 : 10 * event; });
  ledger.SetMissed([](std::uint32_t event) { return event == kRead ? 0 : 11 * event; });
  EXPECT_THAT(SummaryOf(ledger).lost,
              ElementsAre(NotedLatencyLoss{"tcp-connect", "recursion", 11 * kConnect},
                          NotedLatencyLoss{"page-fault", "recursion", 11 * kFaults}));
}

TEST(LatencyLedger, HasNoTimesOfWhatIsOnlyCounted) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.event = kFaults, .times = {0, 0}});
  EXPECT_THAT(
      SummaryOf(ledger).calls,
      ElementsAre(NotedLatency{.probe = "page-fault", .pid = 7, .comm = "cat", .count = 2}));
  EXPECT_THAT(FastCallsOf(ledger), IsEmpty());
}

TEST(LatencyLedger, KeepsTheLastNameOfAProcess) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.times = {1}, .comm = "sh"});
  Add(ledger, {.times = {1}, .comm = "sixteen letters!"});
  EXPECT_EQ(SummaryOf(ledger).calls.front().comm, "sixteen letters!");
}

TEST(LatencyLedger, SumsUpFastCallsOnce) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.times = {3, 100}, .cgroup = 42, .cpu = 1});
  const std::vector<wire_sample> samples = FastCallsOf(ledger);
  ASSERT_EQ(samples.size(), 1U);
  const wire_sample& sample = samples.front();
  EXPECT_EQ(sample.header.time_ns, 500U);
  EXPECT_EQ(sample.header.cpu, 1);
  EXPECT_EQ(sample.event, kRead);
  EXPECT_EQ(sample.pid, 7U);
  EXPECT_EQ(sample.tid, 7U);
  EXPECT_EQ(sample.cgroup, 42U);
  EXPECT_EQ(sample.period, 103U);
  EXPECT_EQ(sample.ip, WIRE_FAST_CALLS_IP);
  EXPECT_EQ(sample.kernel_frames + sample.user_frames, 0);

  EXPECT_THAT(FastCallsOf(ledger), IsEmpty());
  Add(ledger, {.times = {5}, .cgroup = 42});
  EXPECT_THAT(FastCallsOf(ledger), ElementsAre(Field("period", &wire_sample::period, 5)));
  EXPECT_EQ(SummaryOf(ledger).calls.front().sum_ns, 108U);
}

TEST(LatencyLedger, GivesFastCallsTheRawRecordOfTheirEvent) {
  LatencyLedger ledger(Planned());
  Add(ledger, {.times = {3}});
  std::vector<std::byte> raw;
  ledger.SumUpFastCalls(
      0, [&](Bytes message) { raw.assign(message.begin() + sizeof(wire_sample), message.end()); });
  ASSERT_EQ(raw.size(), perfdata::kLatencyTextOffset + sizeof(std::uint64_t));
  std::uint16_t type = 0;
  std::uint32_t text = 0;
  std::memcpy(&type, raw.data(), sizeof type);
  std::memcpy(&text, raw.data() + perfdata::kFileField.offset, sizeof text);
  EXPECT_EQ(type, 0xf000 + kRead);
  EXPECT_EQ(text & 0xffff, perfdata::kLatencyTextOffset);
  EXPECT_EQ(text >> 16, 1U);  // its NUL
}

TEST(LatencyLedger, ReturnsTheCallsOfEachIntervalOnce) {
  LatencyLedger ledger(Planned());
  Add(ledger,
      {.tgid = 7, .times = {3, 100}, .errors = {{.code = 9, .count = 1}}, .other_errors = 1});
  Add(ledger, {.tgid = 8, .times = {200}});
  std::vector<LatencyInterval> intervals = ledger.NextInterval();
  ASSERT_EQ(intervals.size(), 3U);
  EXPECT_EQ(intervals[0].probe, "read");
  EXPECT_EQ(intervals[0].count, 3U);
  EXPECT_EQ(intervals[0].errors, 2U);
  EXPECT_EQ(intervals[0].sum_ns, 303U);
  EXPECT_EQ(intervals[0].max_ns, 200U);
  EXPECT_EQ(intervals[0].buckets[LatencyBucketOf(200)], 1U);
  EXPECT_EQ(intervals[1].probe, "tcp-connect");
  EXPECT_EQ(intervals[1].count, 0U);

  Add(ledger, {.times = {4}});
  intervals = ledger.NextInterval();
  EXPECT_EQ(intervals[0].probe, "read");
  EXPECT_EQ(intervals[0].count, 1U);
  EXPECT_EQ(intervals[0].max_ns, 4U);
  EXPECT_EQ(SummaryOf(ledger).calls.front().count, 3U);
}

}  // namespace
}  // namespace perftape::record
