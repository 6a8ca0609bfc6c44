// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/facts.h"

#include <gmock/gmock.h>

#include "tests/convert/diagnose/incident.h"

namespace perftape::diagnose {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// "ECONNREFUSED 10.0.0.1:80 3".
std::vector<std::string> FailuresOf(const Calls& calls) {
  std::vector<std::string> lines;
  for (const FailedCalls& failed : calls.failed) {
    lines.push_back(failed.error + " " + failed.object + " " + std::to_string(failed.count));
  }
  return lines;
}

TEST(Facts, HaveTheCallsOfTheHistogramsAndTheObjectsOfTheSamples) {
  Incident incident;
  bundle::NotedLatency& noted = incident.AddCalls("tcp-connect", 100, 2 * kMs);
  noted.errors = {{111, 4}};
  incident.AddSlow("tcp-connect", kMs, {{"error", "ECONNREFUSED"}, {"peer", "10.0.0.1:80"}});
  incident.AddSlow("tcp-connect", kMs, {{"error", "ECONNREFUSED"}, {"peer", "10.0.0.1:80"}});
  incident.AddSlow("tcp-connect", kMs, {{"error", "ECONNREFUSED"}, {"peer", "10.0.0.2:80"}});
  const Facts& facts = incident.MakeFacts();
  ASSERT_EQ(facts.calls.size(), 1);
  const Calls& calls = facts.calls[0];
  EXPECT_EQ(calls.count, 100);
  EXPECT_EQ(calls.failures(), 4);
  // One failure has no sample.
  EXPECT_THAT(FailuresOf(calls), ElementsAre("ECONNREFUSED 10.0.0.1:80 2", "ECONNREFUSED  1",
                                             "ECONNREFUSED 10.0.0.2:80 1"));
  EXPECT_THAT(facts.seconds, DoubleEq(10));
}

TEST(Facts, HaveTheNamesOfContainers) {
  Incident incident;
  incident.AddCalls("read", 10, kMs).cgroup = "/kubepods/pod1/2/inner";
  incident.AddCalls("write", 10, kMs).cgroup = "/docker/3";
  incident.AddCalls("open", 10, kMs).cgroup = "/user.slice";
  incident.notes().containers = {{"/kubepods/pod1", "1", "", "shop", "web-0", ""},
                                 {"/kubepods/pod1/2", "1", "2", "shop", "web-0", "nginx"},
                                 {.cgroup = "/docker/3", .container = "db"}};
  std::vector<std::string> places;
  for (const Calls& calls : incident.MakeFacts().calls) {
    places.push_back(calls.probe + " " + calls.process.place());
  }
  EXPECT_THAT(places,
              UnorderedElementsAre("read shop/web-0 nginx", "write db", "open /user.slice"));
}

TEST(Facts, TakePercentilesOfSlowCallsFromTheirSamples) {
  Incident incident;
  bundle::NotedLatency& noted = incident.AddCalls("fsync", 90, kMs);
  for (std::uint64_t ms = 101; ms <= 110; ++ms) {
    Incident::AddTo(noted, 1, ms * kMs);
    incident.AddSlow("fsync", ms * kMs, {{"file", "/var/db"}});
  }
  const Calls& calls = incident.MakeFacts().calls.at(0);
  EXPECT_EQ(calls.p99_ns, 109 * kMs);  // the 99th of 100 calls
  EXPECT_EQ(calls.p95_ns, 105 * kMs);
  EXPECT_NEAR(calls.p50_ns, kMs, kMs / 4);  // in its bucket
}

TEST(Facts, TakePercentilesFromTheBucketsIfSamplesWereLost) {
  Incident incident;
  bundle::NotedLatency& noted = incident.AddCalls("fsync", 90, kMs);
  for (std::uint64_t ms = 101; ms <= 110; ++ms) Incident::AddTo(noted, 1, ms * kMs);
  incident.AddSlow("fsync", 101 * kMs, {});
  const Calls& calls = incident.MakeFacts().calls.at(0);
  EXPECT_GT(calls.p99_ns, 101 * kMs);
  EXPECT_LE(calls.p99_ns, 110 * kMs);
}

TEST(Facts, JoinShortLivedProcessesOfOneNameInOneCgroup) {
  Incident incident;
  incident.AddCgroup("/a", {7, 8, 10});
  incident.AddCgroup("/b", {9});
  for (const std::uint32_t pid : {7U, 8U, 9U}) incident.AddCalls("open", 3, kMs, pid, "sh");
  incident.AddCalls("open", 1000, kMs, 10, "sh");
  std::vector<std::string> lines;
  for (const Calls& calls : incident.MakeFacts().calls) {
    lines.push_back(calls.process.cgroup + " " + std::to_string(calls.process.pid) + " " +
                    std::to_string(calls.pids.size()) + " " + std::to_string(calls.count));
  }
  EXPECT_THAT(lines, UnorderedElementsAre("/a 0 2 6", "/a 10 1 1000", "/b 9 1 3"));
}

TEST(Facts, WithoutNotesAreOfSlowCallsOnly) {
  Incident incident;
  incident.HasNoNotes();
  incident.AddSlow("dns", 2 * kMs,
                   {{"error", "SERVFAIL"}, {"name", "example.com"}, {"peer", "10.0.0.53:53"}});
  const Calls& calls = incident.MakeFacts().calls.at(0);
  EXPECT_FALSE(calls.has_histogram);
  EXPECT_EQ(calls.count, 1);
  EXPECT_EQ(calls.p99_ns, 0);
  EXPECT_THAT(FailuresOf(calls), ElementsAre("SERVFAIL example.com at 10.0.0.53:53 1"));
}

TEST(Facts, LeaveOutTheSumsOfFastCalls) {
  Incident incident;
  incident.AddSlow("read", 500 * kMs, {}, 7, "app", {perfdata::kFastCalls});
  incident.AddSlow("read", 20 * kMs, {{"file", "/data"}});
  const Facts& facts = incident.MakeFacts();
  ASSERT_EQ(facts.slow_calls.size(), 1);
  EXPECT_EQ(facts.slow_calls[0].object, "/data");
}

TEST(Facts, HaveTheSlowestCallsFirst) {
  Incident incident;
  for (const std::uint64_t ms : {20U, 40U, 30U}) incident.AddSlow("read", ms * kMs, {});
  std::vector<std::uint64_t> times;
  for (const SlowCall& call : incident.MakeFacts().slow_calls) times.push_back(call.ns / kMs);
  EXPECT_THAT(times, ElementsAre(40, 30, 20));
}

TEST(Facts, HavePeersAndKillsOfTracepoints) {
  Incident incident;
  incident.AddCgroup("/app", {42});
  for (const std::string_view event : {"tcp:tcp_retransmit_skb", "tcp:tcp_receive_reset"}) {
    incident.AddSample(event, {{"daddr", "{0xa,0x0,0x0,0x1}"}});
  }
  incident.AddSample("tcp:tcp_receive_reset",
                     {{"daddr", "{0x0,0x0,0x0,0x0}"},
                      {"daddr_v6",
                       "{0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,0x0,"
                       "0x1}"}});
  incident.AddSample("oom:mark_victim", {{"comm", "leak"}});
  const Facts& facts = incident.MakeFacts();
  ASSERT_EQ(facts.peers.size(), 2);
  EXPECT_EQ(facts.peers[0].address, "10.0.0.1:0");
  EXPECT_EQ(facts.peers[0].retransmissions, 1);
  EXPECT_EQ(facts.peers[0].resets_received, 1);
  EXPECT_EQ(facts.peers[1].address, "[::1]:0");
  ASSERT_EQ(facts.oom_kills.size(), 1);
  EXPECT_EQ(facts.oom_kills[0].process.comm, "leak");
}

TEST(Facts, AreOfTheProcessesThatTheFilterKeeps) {
  Incident incident;
  incident.AddCalls("open", 30, kMs, 7, "app");
  incident.AddCalls("open", 30, kMs, 8, "other");
  convert::FilterOptions filter;
  filter.comms.Add("oth*");
  const Facts& facts = incident.MakeFacts(filter);
  ASSERT_EQ(facts.calls.size(), 1);
  EXPECT_EQ(facts.calls[0].process.pid, 8);
}

TEST(Facts, HaveTheCgroupsOfTheProcessesThatTheFilterKeeps) {
  const auto paths_of = [](const convert::FilterOptions& filter) {
    Incident incident;
    incident.AddCgroup("/pod", {7, 8});
    incident.AddCgroup("/pod/app", {7});
    incident.AddCgroup("/pod/other", {8});
    std::vector<std::string> paths;
    for (const bundle::NotedCgroup& cgroup : incident.MakeFacts(filter).cgroups) {
      paths.push_back(cgroup.path);
    }
    return paths;
  };
  EXPECT_THAT(paths_of({.pids = {7}}), ElementsAre("/pod", "/pod/app"));
  EXPECT_THAT(paths_of({.cgroups = convert::Globs("/pod/other")}),
              ElementsAre("/pod", "/pod/other"));
}

TEST(CgroupOf, IsTheInnermostOneOrThatWithALimit) {
  std::vector<bundle::NotedCgroup> cgroups = {{.path = "/pod", .pids = {7}},
                                              {.path = "/pod/app", .pids = {7}}};
  EXPECT_EQ(CgroupOf(cgroups, 7), "/pod/app");
  EXPECT_EQ(CgroupOf(cgroups, 8), "");
  cgroups[0].memory_limit = 1;
  EXPECT_EQ(CgroupOf(cgroups, 7), "/pod");
}

TEST(IsWithin, IsBelowOrTheSame) {
  EXPECT_TRUE(IsWithin("/pod/app", "/pod"));
  EXPECT_TRUE(IsWithin("/pod", "/pod"));
  EXPECT_TRUE(IsWithin("/pod", "/"));
  EXPECT_FALSE(IsWithin("/podium", "/pod"));
  EXPECT_FALSE(IsWithin("", "/"));
}

TEST(NeededFields, AreThoseOfTheProbesAndEventsOfTheFacts) {
  EXPECT_TRUE(IsNeeded("latency:syscall_openat"));
  EXPECT_TRUE(IsNeeded("oom:mark_victim"));
  EXPECT_FALSE(IsNeeded("cpu-clock"));
  for (const std::string_view field : {"error", "peer", "file", "pid", "daddr"}) {
    EXPECT_THAT(NeededFields(), testing::Contains(field));
  }
}

}  // namespace
}  // namespace perftape::diagnose
