// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/findings.h"

#include <gmock/gmock.h>

#include "tests/convert/diagnose/incident.h"
#include "tests/support/matchers.h"

namespace perftape::diagnose {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// "cpu-throttled", or "run-queue-slow < cpu-throttled" with its cause.
std::vector<std::string> RulesOf(const Diagnosis& diagnosis) {
  std::vector<std::string> lines;
  for (const Finding& finding : diagnosis.findings) {
    std::string line(finding.rule.rule->name);
    if (finding.cause) {
      line.append(" < ").append(diagnosis.findings[*finding.cause].rule.rule->name);
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> PassedRules(const Diagnosis& diagnosis) {
  std::vector<std::string> names;
  for (const Passed& passed : diagnosis.passed) names.emplace_back(passed.rule.rule->name);
  return names;
}

// Of the first finding: "/app: the CPU limit …".
std::string FirstText(const Diagnosis& diagnosis) {
  if (diagnosis.findings.empty()) return "";
  const Finding& finding = diagnosis.findings[0];
  return SubjectOf(finding.measurement) + ": " + SentenceOf(finding);
}

void Throttle(Incident& incident) {
  bundle::NotedCgroup& app = incident.AddCgroup("/app");
  app.cpu_quota_us = 20'000;
  app.cpu_period_us = 100'000;
  app.last.periods = 100;
  app.last.throttled_periods = 80;
  app.last.throttled_ns = 4 * kNsPerSecond;
  app.last.cpu_ns = 2 * kNsPerSecond;  // in 10 s
}

TEST(Diagnose, FindsACpuLimitBeforeTheWaitsForACpuThatItExplains) {
  Incident incident;
  Throttle(incident);
  incident.AddCalls("runq", 100, 80 * kMs);
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(
      RulesOf(diagnosis),
      ElementsAre("cpu-throttled-most", "cpu-limit-95 < cpu-throttled-most",
                  "run-queue-slow < cpu-throttled-most", "run-queue-time < cpu-throttled-most"));
  EXPECT_EQ(FirstText(diagnosis),
            "/app: the CPU limit stopped its tasks in 80.0 % of the periods (80 of 100, 4.00 s on "
            "all CPUs, limit 0.20 CPUs)");
  EXPECT_EQ(diagnosis.worst(), Severity::kCritical);
}

TEST(Diagnose, DoesNotExplainTheWaitsOfAnotherCgroup) {
  Incident incident;
  Throttle(incident);
  incident.AddCgroup("/other", {8});
  incident.AddCalls("runq", 100, 80 * kMs, 8, "other");
  EXPECT_THAT(RulesOf(incident.Diagnose()),
              ElementsAre("cpu-throttled-most", "cpu-limit-95 < cpu-throttled-most",
                          "run-queue-slow", "run-queue-time"));
}

// 8 s of waits for a CPU in 10 s of two processes, and 12 s of one.
TEST(Diagnose, FindsMoreRunnableThreadsThanCpus) {
  Incident incident;
  incident.HasCpus(2);
  incident.AddCalls("runq", 200, 40 * kMs);
  incident.AddCalls("runq", 300, 40 * kMs, 8, "other");
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis),
              ElementsAre("runnable-threads", "run-queue-time < runnable-threads",
                          "run-queue-time < runnable-threads"));
  EXPECT_EQ(
      FirstText(diagnosis),
      "the machine: more threads than CPUs: the threads that waited for a CPU were 100.0 % of "
      "the number of CPUs (4.0 runnable threads on 2 CPUs on average)");
}

TEST(Diagnose, DoesNotJudgeRunnableThreadsWithoutTheNumberOfCpus) {
  Incident incident;
  incident.AddCalls("runq", 500, 40 * kMs);
  EXPECT_THAT(RulesOf(incident.Diagnose()), ElementsAre("run-queue-time"));
}

TEST(Diagnose, FindsTheTimeInManyFastCallsOfFsync) {
  Incident incident;
  incident.AddCalls("fsync", 1000, 4 * kMs);  // 4 s of 10 s
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), ElementsAre("fsync-time"));
  EXPECT_THAT(FirstText(diagnosis), HasSubstr("waited for fsync for 40.0 % of the time"));
}

TEST(Diagnose, FindsALeakBeforeTheKill) {
  Incident incident;
  bundle::NotedCgroup& app = incident.AddCgroup("/app");
  app.memory_limit = 100 << 20;
  app.first.memory_bytes = 10 << 20;
  app.last.memory_bytes = app.memory_peak = 85 << 20;
  app.memory_peak_ns = app.last.time_ns;
  const Diagnosis growing = incident.Diagnose();
  EXPECT_THAT(RulesOf(growing), ElementsAre("memory-growth", "memory-limit-80 < memory-growth"));
  EXPECT_THAT(
      FirstText(growing),
      HasSubstr("has grown to 85.0 % of its limit: a leak, or a limit that is too small (from 10.0 "
                "MiB to 85.0 MiB of 100.0 MiB in 10.0 s, full in 2 s at this rate)"));
}

// The process has ended before the last reading, as a recorded command does.
TEST(Diagnose, FindsALeakOfAProcessThatHasEnded) {
  for (const std::uint64_t peak_s : {9U, 3U}) {
    Incident incident;
    bundle::NotedCgroup& app = incident.AddCgroup("/app");
    app.memory_limit = 100 << 20;
    app.memory_peak = 78 << 20;
    app.memory_peak_ns = app.first.time_ns + peak_s * kNsPerSecond;
    // Memory that was freed long ago is none.
    EXPECT_EQ(RulesOf(incident.Diagnose()).size(), peak_s == 9 ? 1 : 0);
  }
}

TEST(Diagnose, FindsTheLeakThatExplainsAKill) {
  Incident incident;
  bundle::NotedCgroup& app = incident.AddCgroup("/app", {42});
  app.memory_limit = 100 << 20;
  app.first.memory_bytes = 1 << 20;
  app.last.memory_bytes = 2 << 20;  // the kill has freed it
  app.memory_peak = 96 << 20;       // of the readings
  app.last.oom_kills = 1;
  app.last.memory_failures = 9;
  incident.AddSample("oom:mark_victim", {{"pid", "42"}, {"comm", "leak"}}, 1, 1, "other");
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), ElementsAre("memory-growth", "memory-limit-95 < memory-growth",
                                              "oom-kill < memory-growth"));
  EXPECT_EQ(diagnosis.findings.at(2).measurement.detail, "leak (42)");
}

TEST(Diagnose, CountsAKillOnceInNestedCgroups) {
  Incident incident;
  for (const std::string_view path : {"/pod", "/pod/app"}) {
    incident.AddCgroup(path).last.oom_kills = 2;
  }
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), ElementsAre("oom-kill"));
  EXPECT_EQ(FirstText(diagnosis), "/pod/app: the kernel killed processes for lack of memory: 2");
}

TEST(Diagnose, FindsASlowDiskBehindItsLimit) {
  Incident incident;
  bundle::NotedCgroup& app = incident.AddCgroup("/app");
  app.io_limits = {{"7:0", "wbps", 1000, 50, 10'000}};  // 9950 in 10 s
  incident.AddCalls("fsync", 10, 300 * kMs);
  incident.AddSlow("fsync", 300 * kMs, {{"file", "/var/db"}});
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis),
              ElementsAre("io-limit-95", "fsync-slow < io-limit-95", "fsync-time < io-limit-95"));
  EXPECT_EQ(FirstText(diagnosis),
            "/app: it used 99.5 % of its I/O limit (995 of 1000 wbps, device 7:0)");
  EXPECT_EQ(diagnosis.findings[1].measurement.object, "/var/db");
  EXPECT_EQ(diagnosis.findings[1].measurement.slow_calls.size(), 1);
}

// With cgroups of version 1, a process is in another one for each controller.
TEST(Diagnose, ExplainsByACgroupOfAnotherHierarchy) {
  Incident incident;
  incident.AddCgroup("/a/long/path/of/another/controller").memory_limit = 100;
  incident.AddCgroup("/io").io_limits = {{"7:0", "wbps", 1000, 0, 5000, 990}};
  incident.AddCalls("fsync", 10, 300 * kMs);
  EXPECT_THAT(RulesOf(incident.Diagnose()),
              ElementsAre("io-limit-95", "fsync-slow < io-limit-95", "fsync-time < io-limit-95"));
}

TEST(Diagnose, FindsDnsThatDoesNotAnswer) {
  Incident incident;
  bundle::NotedLatency& noted = incident.AddCalls("dns", 4, 5000 * kMs);
  noted.errors = {{110, 3}, {3, 1}};
  for (int i = 0; i < 3; ++i) {
    incident.AddSlow("dns", 5000 * kMs,
                     {{"error", "ETIMEDOUT"}, {"name", "db.local"}, {"peer", "10.0.0.53:53"}});
  }
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), ElementsAre("dns-timeout", "dns-slow < dns-timeout"));
  EXPECT_EQ(FirstText(diagnosis),
            "app (7): 75.0 % of the DNS queries got no answer (3 of 4 calls of dns, mostly "
            "ETIMEDOUT, db.local at 10.0.0.53:53)");
  EXPECT_THAT(PassedRules(diagnosis), Contains("dns-failure"));
}

TEST(Diagnose, FindsRefusedConnectionsAndNamesThePeer) {
  Incident incident;
  incident.AddCalls("tcp-connect", 10, kMs).errors = {{111, 5}};
  for (int i = 0; i < 5; ++i) {
    incident.AddSlow("tcp-connect", kMs, {{"error", "ECONNREFUSED"}, {"peer", "10.0.0.1:80"}});
    incident.AddSample("tcp:tcp_receive_reset", {{"daddr", "{0xa,0x0,0x0,0x1}"}, {"dport", "80"}});
  }
  // The resets are the refusals.
  EXPECT_THAT(RulesOf(incident.Diagnose()), ElementsAre("connect-failure"));
}

TEST(Diagnose, FindsAPeerThatResetsBeforeTheCallsThatFail) {
  Incident incident;
  incident.AddCalls("read", 100, kMs).errors = {{104, 4}};
  for (int i = 0; i < 4; ++i) {
    incident.AddSlow("read", kMs, {{"error", "ECONNRESET"}, {"file", "socket:[7]"}});
    incident.AddSample("tcp:tcp_receive_reset", {{"daddr", "{0xa,0x0,0x0,0x1}"}, {"dport", "80"}});
  }
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), ElementsAre("peer-resets", "connection-reset < peer-resets"));
  EXPECT_EQ(FirstText(diagnosis),
            "peer 10.0.0.1:80: the peer reset connections: 4 (0 retransmissions, 4 resets "
            "received, 0 resets sent)");
}

TEST(Diagnose, CountsAFailedCallOfSeveralProbesOnce) {
  Incident incident;
  incident.AddCalls("write", 100, kMs).errors = {{28, 3}};
  incident.AddCalls("syscall", 1000, kMs).errors = {{28, 3}, {2, 50}};
  incident.AddSlow("write", kMs, {{"error", "ENOSPC"}, {"file", "/data/log"}});
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), ElementsAre("disk-full"));
  EXPECT_EQ(diagnosis.findings[0].measurement.value, 3);
}

TEST(Diagnose, FindsSlowReadsOfFilesOnly) {
  Incident incident;
  incident.AddSlow("read", 9000 * kMs, {{"file", "pipe:[7]"}});
  incident.AddSlow("read", 9000 * kMs, {{"file", "/dev/pts/0"}});
  EXPECT_THAT(RulesOf(incident.Diagnose()), IsEmpty());
  Incident disk;
  disk.AddSlow("read", 9000 * kMs, {{"file", "/data"}});
  EXPECT_THAT(RulesOf(disk.Diagnose()), ElementsAre("read-time"));
}

TEST(Diagnose, FindsLocksButNoIdleThreads) {
  Incident incident;
  incident.AddSlow("futex", 9000 * kMs, {{"lock", "0x7f00"}}, 7, "app",
                   {"main", "wait", "pthread_cond_wait"});
  EXPECT_THAT(RulesOf(incident.Diagnose()), IsEmpty());
  Incident locks;
  locks.AddSlow("futex", 9000 * kMs, {{"lock", "0x7f00"}}, 7, "app",
                {"main", "work", "__pthread_mutex_lock"});
  EXPECT_THAT(RulesOf(locks.Diagnose()), ElementsAre("lock-time"));
}

TEST(Diagnose, HasTheFindingsOfTheMostSevereCauseFirst) {
  Incident incident;
  bundle::NotedCgroup& app = incident.AddCgroup("/app");
  app.memory_limit = 100;
  app.memory_peak = 85;  // info
  incident.AddCalls("write", 10, kMs).errors = {{28, 1}};
  EXPECT_THAT(RulesOf(incident.Diagnose()), ElementsAre("disk-full", "memory-limit-80"));
}

TEST(Diagnose, FindsNothingInAHealthyProgram) {
  Incident incident;
  bundle::NotedCgroup& app = incident.AddCgroup("/app");
  app.cpu_quota_us = app.cpu_period_us = 100'000;
  app.memory_limit = 100;
  app.memory_peak = app.last.memory_bytes = 50;
  app.last.periods = 100;
  app.last.throttled_periods = 1;
  for (const std::string_view probe : {"fsync", "dns", "tcp-connect", "runq", "open", "block-io"}) {
    incident.AddCalls(probe, 1000, kMs / 10);
  }
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), IsEmpty());
  EXPECT_EQ(diagnosis.worst(), std::nullopt);
  EXPECT_THAT(PassedRules(diagnosis),
              testing::IsSupersetOf({"cpu-throttled", "memory-growth", "fsync-slow", "dns-timeout",
                                     "connect-failure", "run-queue-slow"}));
}

TEST(Diagnose, JudgesByThresholdsThatWereChanged) {
  RuleSet rules;
  ASSERT_THAT(rules.ChangeAll("cpu-throttled-most=90%\ncpu-throttled=off\ncpu-limit-95=off\n"
                              "cpu-limit-90=off\ncpu-limit-80=off"),
              IsOk());
  Incident incident;
  Throttle(incident);
  EXPECT_THAT(RulesOf(incident.Diagnose(rules)), IsEmpty());
}

TEST(Diagnose, DoesNotJudgeWhatIsTooLittle) {
  Incident incident;
  incident.AddCalls("fsync", 4, 900 * kMs);
  const Diagnosis diagnosis = incident.Diagnose();
  EXPECT_THAT(RulesOf(diagnosis), IsEmpty());
  EXPECT_THAT(PassedRules(diagnosis), Not(Contains("fsync-slow")));
}

TEST(Diagnose, DoesNotJudgeByOneSlowCallOfAFew) {
  for (const std::uint64_t slow : {1U, 2U}) {
    Incident incident;
    bundle::NotedLatency& noted = incident.AddCalls("fsync", 30, kMs);
    Incident::AddTo(noted, slow, 900 * kMs);
    for (std::uint64_t i = 0; i < slow; ++i) incident.AddSlow("fsync", 900 * kMs, {});
    EXPECT_EQ(RulesOf(incident.Diagnose()).size(), slow - 1);
  }
}

TEST(Gaps, TellWhatWasNotRecordedAndWhatWasLost) {
  Incident incident;
  for (const perfdata::LatencyProbe& probe : perfdata::LatencyProbes()) {
    if (probe.name != "dns") incident.AddCalls(probe.name, 30, 1);
  }
  incident.notes().latency_lost = {{"read", "no_room", 12}, {"tcp-connect", "recursion", 3}};
  incident.Lose(5);
  incident.Record("tcp:tcp_send_reset");
  incident.Record("tcp:tcp_receive_reset");
  EXPECT_THAT(
      incident.Diagnose().gaps,
      UnorderedElementsAre(
          "calls of these probes were not recorded: dns (perftape-record -e latency:dns)",
          "TCP segments that were sent again: not recorded (perftape-record -e "
          "tcp:tcp_retransmit_skb)",
          "limits of CPU, memory and I/O: no cgroup was noted (perftape-record --cgroup-usage)",
          "12 calls of read are not counted: no_room",
          "up to 3 calls of tcp-connect are not counted: recursion",
          "5 samples lost; slow or failed calls may be among them"));
}

TEST(Gaps, TellThatAPipeHasNoHistograms) {
  Incident incident;
  incident.HasNoNotes();
  incident.AddSlow("fsync", 900 * kMs, {});
  EXPECT_THAT(incident.Diagnose().gaps,
              Contains(HasSubstr("no histograms (a recording in pipe form never has any)")));
}

}  // namespace
}  // namespace perftape::diagnose
