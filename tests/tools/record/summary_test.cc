// SPDX-License-Identifier: Apache-2.0
#include "tools/record/summary.h"

#include <gmock/gmock.h>

#include <csignal>

#include <nlohmann/json.hpp>

#include "tools/common/cli/console.h"

namespace perftape::record_tool {
namespace {

record::RecordSummary Summary(std::uint64_t samples, std::uint64_t lost,
                              std::optional<int> command_status = std::nullopt) {
  record::RecordSummary summary;
  summary.output.counts.samples = samples;
  summary.losses.lost_samples = lost;
  summary.output.bytes_written = 2048;
  summary.output.file = "perf.data";
  summary.command_status = command_status;
  return summary;
}

using testing::ElementsAre;

TEST(SummaryLines, AreOneWhereNothingWasLost) {
  EXPECT_THAT(SummaryLines(Summary(4950, 0)),
              ElementsAre("4950 samples, 0 lost, 2.0 KiB in perf.data"));
}

TEST(SummaryLines, ReportTheCompressionRatio) {
  record::RecordSummary summary = Summary(4950, 0);
  summary.output.compression = perfdata::Compression{.original = 10240, .compressed = 2000};
  EXPECT_THAT(SummaryLines(summary), ElementsAre("4950 samples, 0 lost, 2.0 KiB in perf.data, "
                                                 "compressed (original 10.0 KiB, ratio 5.1)"));
}

TEST(SummaryLines, ReportLossesByCpuAndCause) {
  record::RecordSummary summary = Summary(10, 9);
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {10};
  summary.losses.events[0].losses = {{.cpu = 0, .ring_full = 5},
                                     {.cpu = 3, .ring_full = 1, .no_scratch = 2}};
  summary.losses.damaged_messages = 1;
  summary.output.counts.unwritten_process_events = 4;
  summary.output.file.clear();
  EXPECT_THAT(
      SummaryLines(summary),
      ElementsAre("10 samples, 9 lost, 2.0 KiB in stdout",
                  "lost on CPUs 0,3: 6, the ring was full; a larger one (-m) or a lower rate (-F) "
                  "helps",
                  "lost on CPU 3: 2, a sample interrupted another",
                  "lost: 1, damaged between kernel and recorder",
                  "process events lost: 4; names or mappings may be missing"));
}

TEST(SummaryLines, SayWhyCallChainsAreIncomplete) {
  record::RecordSummary summary = Summary(2000, 0);
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {2000};
  summary.losses.events[0].chains.ends[WIRE_END_OF_STACK] = 1999;
  summary.losses.events[0].chains.ends[WIRE_END_NO_TABLE] = 1;
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("2000 samples, 0 lost, 2.0 KiB in perf.data",
                          "user call chains: 99.9 % complete; incomplete: 1 no table"));
}

TEST(SummaryLines, SayHowManyCallChainsNeedInstructions) {
  record::RecordSummary summary = Summary(4000, 0);
  summary.losses.events = {{.name = "cpu-clock", .chains = {.derived = 1}},
                           {.name = "page-faults"}};
  summary.output.counts.samples_by_event = {2000, 2000};
  summary.losses.events[0].chains.ends[WIRE_END_OF_STACK] = 1999;
  summary.losses.events[0].chains.ends[WIRE_END_NO_TABLE] = 1;
  summary.losses.events[1].chains.ends[WIRE_END_OF_STACK] = 2000;
  EXPECT_EQ(
      SummaryLines(summary).back(),
      "user call chains: 99.9 % complete, 0.1 % through code without tables; incomplete: 1 no "
      "table");
}

TEST(SummaryLines, ListSeveralEvents) {
  record::RecordSummary summary = Summary(2345, 3);
  summary.losses.events = {{.name = "cpu-clock", .losses = {{.cpu = 1, .late = 3}}},
                           {.name = "page-faults"}};
  summary.output.counts.samples_by_event = {2000, 345};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("2345 samples: 2000 cpu-clock, 345 page-faults; 3 lost, 2.0 KiB in "
                          "perf.data",
                          "cpu-clock: lost on CPU 1: 3, the timer could not keep up; a lower rate "
                          "(-F) helps"));
}

TEST(SummaryLines, ListTheMostFrequentOfManyEvents) {
  record::RecordSummary summary = Summary(36, 0);
  for (std::uint64_t i = 1; i <= 8; ++i) {
    summary.losses.events.push_back({.name = "e" + std::to_string(i)});
    summary.output.counts.samples_by_event.push_back(i);
  }
  EXPECT_THAT(
      SummaryLines(summary),
      ElementsAre("36 samples: 8 e8, 7 e7, 6 e6, 5 e5, 4 e4, 3 e3, 3 samples of 2 other events; 0 "
                  "lost, 2.0 KiB in perf.data"));
}

TEST(SummaryLines, ReportMissedExpiriesAndWhatHelps) {
  record::RecordSummary summary = Summary(37, 1010);
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {37};
  summary.losses.events[0].losses = {{.cpu = 0, .throttled = 400, .skipped = 20},
                                     {.cpu = 1, .throttled = 563, .late = 5},
                                     {.cpu = 2, .late = 15, .unexplained = 7}};
  EXPECT_THAT(
      SummaryLines(summary),
      ElementsAre(
          "37 samples, 1010 lost, 2.0 KiB in perf.data",
          "lost on CPUs 0-1: 963, the kernel throttled the timer; a lower rate (-F) or a higher "
          "kernel.perf_event_max_sample_rate helps",
          "lost on CPU 0: 20, the kernel skipped them while other programs used BPF; end those "
          "programs, or use 'perf record'",
          "lost on CPUs 1-2: 20, the timer could not keep up; a lower rate (-F) helps",
          "lost on CPU 2: 7, throttled, skipped or late; Linux 6.2 and later report "
          "which"));
}

TEST(SummaryLines, ReportTheTimeThatAnEventWasThrottled) {
  record::RecordSummary summary = Summary(2, 0);
  summary.losses.events = {{.name = "cycles",
                            .throttled = {{.cpu = 0, .times = 112, .throttled_ns = 944'000'000},
                                          {.cpu = 3, .times = 1, .throttled_ns = 4'000'000}}},
                           {.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {2, 0};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("2 samples: 2 cycles, 0 cpu-clock; 0 lost, 2.0 KiB in perf.data",
                          "cycles: CPU 0: throttled 112 times, 0.94 s without samples; a lower "
                          "rate (-F) or a higher kernel.perf_event_max_sample_rate helps",
                          "cycles: CPU 3: throttled 1 time, 0.00 s without samples; a lower "
                          "rate (-F) or a higher kernel.perf_event_max_sample_rate helps"));
  EXPECT_EQ(ExitStatus(summary, {}), 0);
}

TEST(SummaryLines, ReportStalledAndOfflineCpus) {
  record::RecordSummary summary = Summary(37, 0);
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {37};
  summary.losses.events[0].stalls = {
      {.cpu = 1, .stalled_ns = 250'000'000, .sampled_ns = 1'000'000'000}};
  summary.losses.absences = {{.cpu = 1, .from_ns = 500'000'000, .until_ns = 1'250'000'000},
                             {.cpu = 2, .from_ns = 2'000'000'000, .until_ns = {}}};
  EXPECT_THAT(
      SummaryLines(summary),
      ElementsAre("37 samples, 0 lost, 2.0 KiB in perf.data",
                  "CPU 1 did not run for 0.25 s, stopped by the hypervisor or with interrupts off: "
                  "there are no samples of that time",
                  "CPU 1 was not recorded from 0.50 s to 1.25 s: it went offline; names of "
                  "processes that started there meanwhile may be missing",
                  "CPU 2 was not recorded from 2.00 s to the end: it went offline; names of "
                  "processes that started there meanwhile may be missing"));
}

TEST(SummaryLines, ReportSkippedHitsThatAreNoLoss) {
  record::RecordSummary summary = Summary(37, 0);
  summary.skipped_hits = 12;
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("37 samples, 0 lost, 2.0 KiB in perf.data",
                          "12 tracepoint hits of any process skipped, not counted as lost: on its "
                          "CPU another BPF program or a bpf(2) call was running"));
  EXPECT_EQ(ExitStatus(summary, {}), 0);
}

TEST(SummaryLines, ReportCpusWithoutSamplesForUnknownReasons) {
  record::RecordSummary summary = Summary(37, 0);
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {37};
  summary.losses.events[0].silences = {{.cpu = 1, .expiries = 48}};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("37 samples, 0 lost, 2.0 KiB in perf.data",
                          "CPU 1: 48 timer interrupts without a sample, not counted as lost: the "
                          "kernel hid the task that ran, or skipped the sampling program"));
}

TEST(SummaryLines, ReportTheSymbolsOfTheBundle) {
  record::RecordSummary summary = Summary(4950, 0);
  summary.output.bundle = record::BundleSummary{
      .files = 35, .bytes = 1 << 20, .original_bytes = 10 << 20, .missing = {}};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("4950 samples, 0 lost, 2.0 KiB in perf.data",
                          "symbols of 35 files, 1.0 MiB (10 % of the original files)"));
}

TEST(SummaryLines, TellTheSizeOfTheFileAndOfItsParts) {
  record::RecordSummary summary = Summary(4950, 0);
  summary.output.bundle = record::BundleSummary{.files = 35,
                                                .bytes = 1 << 20,
                                                .original_bytes = 10 << 20,
                                                .missing = {},
                                                .is_in_recording = true};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("4950 samples, 0 lost, 1.0 MiB in perf.data (2.0 KiB samples, 1.0 MiB "
                          "symbols of 35 files)"));
  summary.output.bundle->missing = {"/a: gone"};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre(testing::_, "symbols: 1 missing", "no symbols for /a: gone"));
  summary.output.compression = perfdata::Compression{.original = 8192, .compressed = 2048};
  EXPECT_THAT(SummaryLines(summary)[0],
              testing::HasSubstr("(2.0 KiB samples, compressed (original 8.0 KiB, ratio 4.0), 1.0 "
                                 "MiB symbols of 35 files)"));
}

TEST(SummaryLines, NameTheFirstFilesWithoutSymbols) {
  record::RecordSummary summary = Summary(4950, 0);
  summary.output.bundle =
      record::BundleSummary{.files = 1,
                            .bytes = 2048,
                            .original_bytes = 0,
                            .missing = {"/a: gone", "/b: gone", "/c: gone", "/d: gone"}};
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("4950 samples, 0 lost, 2.0 KiB in perf.data",
                          "symbols of 1 file, 2.0 KiB, 4 missing", "no symbols for /a: gone",
                          "no symbols for /b: gone", "no symbols for /c: gone"));
}

TEST(SummaryLines, ReportSamplesThatDidNotFit) {
  record::RecordSummary summary = Summary(4950, 0);
  summary.output.counts.unwritten_samples = 12;
  EXPECT_THAT(SummaryLines(summary), ElementsAre("4950 samples, 12 lost, 2.0 KiB in perf.data",
                                                 "lost: 12, they could not be written"));
}

TEST(FailureText, ReportsSavedAndLostSamples) {
  record::RecordSummary summary = Summary(4950, 12);
  summary.output.failure = "perf.data: write: No space left on device";
  EXPECT_EQ(FailureText(summary),
            "perf.data: write: No space left on device; 4950 samples written before, 12 lost");
}

record::RecordSummary FlightSummary() {
  record::RecordSummary summary = Summary(100, 0);
  summary.output.file = "/tmp/r.2";
  summary.output.rotation =
      record::RotationSummary{.files = 2, .bytes = 2048, .first = "/tmp/r.1", .last = "/tmp/r.2"};
  summary.output.flight =
      record::FlightSummary{.span_ns = 10'000'000'000,
                            .kept_ns = 4'500'000'000,
                            .dropped_samples = 300,
                            .ignored_triggers = 1,
                            .files = {{.trigger = "SIGUSR2", .file = "r.1"},
                                      {.trigger = "the recorded tasks ended", .file = "r.2"}}};
  return summary;
}

TEST(SummaryLines, ListTheFilesOfAFlightRecording) {
  record::RecordSummary summary = FlightSummary();
  EXPECT_THAT(SummaryLines(summary),
              ElementsAre("100 samples in the last file, 0 lost, 2.0 KiB in 2 files, /tmp/r.1 to "
                          "/tmp/r.2",
                          "in memory: the last 4.5 s; 300 samples dropped as older", "r.1: SIGUSR2",
                          "r.2: the recorded tasks ended",
                          "1 trigger ignored, too soon after the last file (--cooldown)"));
  summary.output.flight->least_kept_ns = 1'250'000'000;
  EXPECT_EQ(SummaryLines(summary)[2],
            "a file has only the last 1.2 of 10 s, because --flight-memory is too small");
}

TEST(SummaryLines, NameNoFileIfAFlightRecordingCouldNotWriteOne) {
  record::RecordSummary summary = FlightSummary();
  summary.output.rotation = record::RotationSummary{};
  summary.output.file.clear();
  EXPECT_EQ(SummaryLines(summary)[0], "100 samples, 0 lost, 2.0 KiB in no file");
}

TEST(ExitStatus, CountsTheSamplesThatAFlightRecordingDropped) {
  record::RecordSummary summary = FlightSummary();
  summary.losses.lost_samples = 10;  // of 410
  EXPECT_EQ(ExitStatus(summary, {}), cli::kDone);
  summary.output.flight->dropped_samples = 0;
  EXPECT_EQ(ExitStatus(summary, {}), cli::kDegraded);
}

TEST(SecondSignalText, SaysThatAFlightRecordingIsLost) {
  record::RecordOptions options;
  options.flight.emplace();
  EXPECT_EQ(SecondSignalText(SIGTERM, options),
            "second signal (SIGTERM), exiting at once: the records in memory are lost, and there "
            "is no summary");
}

TEST(SecondSignalText, ReportsWhatIsLeftOut) {
  record::RecordOptions options;
  EXPECT_EQ(SecondSignalText(SIGTERM, options),
            "second signal (SIGTERM), exiting at once: perf.data contains what was written so far, "
            "without symbols and summary");
  options.output.bundle.destination = record::BundleRequest::Destination::kNone;
  EXPECT_EQ(SecondSignalText(SIGINT, options),
            "second signal (SIGINT), exiting at once: perf.data contains what was written so far, "
            "without summary");
}

TEST(ExitStatus, IsDegradedWhereTheSymbolsCouldNotBeKept) {
  record::RecordSummary summary = Summary(100, 0);
  summary.output.bundle_failure = "perf.data: No space left on device";
  EXPECT_EQ(ExitStatus(summary, {}), cli::kDegraded);
}

TEST(ExitStatus, IsDegradedAboveATwentiethLost) {
  EXPECT_EQ(ExitStatus(Summary(95, 5), {}), cli::kDone);
  EXPECT_EQ(ExitStatus(Summary(94, 6), {}), cli::kDegraded);
  EXPECT_EQ(ExitStatus(Summary(0, 0), {}), cli::kDone);
}

TEST(ExitStatus, IsDegradedAboveTheAllowedLoss) {
  EXPECT_EQ(ExitStatus(Summary(99, 1), 1), cli::kDone);
  EXPECT_EQ(ExitStatus(Summary(98, 2), 1), cli::kDegraded);
  EXPECT_EQ(ExitStatus(Summary(98, 2, 0), 1), cli::kDegraded);
  EXPECT_EQ(ExitStatus(Summary(98, 2, 7), 1), 7);
  EXPECT_EQ(ExitStatus(Summary(1, 99), 100), cli::kDone);
}

TEST(ExitStatus, IsTheCommandsWhereOneEnded) {
  EXPECT_EQ(ExitStatus(Summary(1, 9, 0), {}), 0);
  EXPECT_EQ(ExitStatus(Summary(1, 0, 130), {}), 130);
}

TEST(ExitStatus, IsFailureIfTheRecordingEndedEarly) {
  record::RecordSummary summary = Summary(1, 0, 0);
  summary.output.failure = "perf.data: write: No space left on device";
  EXPECT_EQ(ExitStatus(summary, {}), cli::kFailed);
}

TEST(ExitStatus, IsAShellsWhereTheCommandCouldNotBeRun) {
  record::RecordSummary summary;
  summary.command_failure = "x: no such command in $PATH";
  summary.command_status = 127;
  EXPECT_EQ(ExitStatus(summary, {}), 127);
}

TEST(SummaryJson, HasTheLossesOfEachCpuByCause) {
  record::RecordSummary summary;
  summary.output.counts.samples = 95;
  summary.losses.lost_samples = 5;
  summary.losses.events = {{.name = "cpu-clock",
                            .losses = {{.cpu = 3, .ring_full = 4, .late = 1}},
                            .stalls = {{.cpu = 1, .stalled_ns = 7, .sampled_ns = 9}},
                            .silences = {{.cpu = 0, .expiries = 2}},
                            .other_tasks = {{.cpu = 3, .overflows = 6}},
                            .throttled = {{.cpu = 2, .times = 3, .throttled_ns = 8}}}};
  summary.output.counts.samples_by_event = {95};
  const nlohmann::json event = nlohmann::json::parse(SummaryJson(summary, 1))["events"][0];
  EXPECT_EQ(event["name"], "cpu-clock");
  EXPECT_EQ(event["samples"], 95);
  EXPECT_EQ(event["lost"][0]["cpu"], 3);
  EXPECT_EQ(event["lost"][0]["ring_full"], 4);
  EXPECT_EQ(event["lost"][0]["late"], 1);
  EXPECT_EQ(event["lost"][0]["throttled"], 0);
  EXPECT_EQ(event["stalled"], nlohmann::json::parse(R"([{"cpu": 1, "ns": 7}])"));
  EXPECT_EQ(event["silent"], nlohmann::json::parse(R"([{"cpu": 0, "expiries": 2}])"));
  EXPECT_EQ(event["other_tasks"], nlohmann::json::parse(R"([{"cpu": 3, "overflows": 6}])"));
  EXPECT_EQ(event["throttled"], nlohmann::json::parse(R"([{"cpu": 2, "times": 3, "ns": 8}])"));
}

TEST(SummaryJson, HasWhereCallChainsEnded) {
  record::RecordSummary summary;
  summary.losses.events = {{.name = "cpu-clock"}};
  summary.output.counts.samples_by_event = {10};
  summary.losses.events[0].chains.ends[WIRE_END_OF_STACK] = 9;
  summary.losses.events[0].chains.ends[WIRE_END_NO_TABLE] = 1;
  summary.losses.events[0].chains.derived = 3;
  const nlohmann::json chains =
      nlohmann::json::parse(SummaryJson(summary, 0))["events"][0]["chains"];
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
  const nlohmann::json json = nlohmann::json::parse(SummaryJson(summary, 1));
  EXPECT_EQ(json["file"], "perf.data");
  EXPECT_EQ(json["failure"], "perf.data: no space left");
  EXPECT_EQ(json["command_status"], 5);
  EXPECT_EQ(json["exit_status"], 1);
  EXPECT_FALSE(json.contains("bundle"));
  EXPECT_FALSE(json.contains("compression"));
}

TEST(SummaryJson, HasTheFilesOfAFlightRecording) {
  record::RecordSummary summary;
  EXPECT_FALSE(nlohmann::json::parse(SummaryJson(summary, 0)).contains("flight"));
  summary.output.flight =
      record::FlightSummary{.span_ns = 10,
                            .kept_ns = 4,
                            .dropped_samples = 3,
                            .ignored_triggers = 2,
                            .files = {{.trigger = "SIGUSR2", .file = "r.1", .kept_ns = 4}}};
  EXPECT_EQ(nlohmann::json::parse(SummaryJson(summary, 0))["flight"], nlohmann::json::parse(R"({
    "span_ns": 10, "kept_ns": 4, "least_kept_ns": null, "dropped_samples": 3,
    "ignored_triggers": 2,
    "files": [{"file": "r.1", "trigger": "SIGUSR2", "kept_ns": 4}]})"));
}

TEST(Summary, SaysHowLongEventsWereOff) {
  record::RecordSummary summary;
  summary.losses.start_ns = 1'000'000'000;
  summary.end_ns = 6'000'000'000;
  summary.pauses = {{"", 2, 3'200'000'000, {{10, 20}}}};
  EXPECT_THAT(
      SummaryLines(summary),
      testing::Contains(testing::HasSubstr("events were off for 3.20 s of 5.00 s, 2 times")));
  const nlohmann::json json = nlohmann::json::parse(SummaryJson(summary, 0));
  EXPECT_EQ(json["off"][0]["ns"], 3'200'000'000);
  EXPECT_EQ(json["off"][0]["pauses"][0], (nlohmann::json{10, 20}));
}

TEST(SummaryJson, HasTheBundleAndTheAbsences) {
  record::RecordSummary summary;
  summary.output.bundle = record::BundleSummary{
      .files = 2, .bytes = 10, .original_bytes = 100, .missing = {"/x: No such file"}};
  summary.losses.absences = {{.cpu = 1, .from_ns = 5, .until_ns = {}},
                             {.cpu = 2, .from_ns = 6, .until_ns = 7}};
  const nlohmann::json json = nlohmann::json::parse(SummaryJson(summary, 1));
  EXPECT_EQ(json["bundle"]["files"], 2);
  EXPECT_EQ(json["bundle"]["missing"][0], "/x: No such file");
  EXPECT_TRUE(json["absent_cpus"][0]["until_ns"].is_null());
  EXPECT_EQ(json["absent_cpus"][1]["until_ns"], 7);
}

}  // namespace
}  // namespace perftape::record_tool
