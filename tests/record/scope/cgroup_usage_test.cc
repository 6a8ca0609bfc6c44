// SPDX-License-Identifier: Apache-2.0
// With directories that have the files of cgroups, of both versions.
#include "record/scope/cgroup_usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "formats/base/duration.h"
#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using bundle::CgroupUse;
using bundle::NotedCgroup;
using bundle::NotedIoLimit;
using testing::ElementsAre;
using testing::IsEmpty;

class CgroupUsageTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& content) { temp_.Write(name, content); }
  std::filesystem::path In(const std::string& name) const { return temp_ / name; }
  CgroupUsage Usage(std::vector<CgroupHierarchy> hierarchies) const {
    return CgroupUsage(FindUsageControllers(hierarchies), PodNames(In("node")), In("proc"));
  }

  TempDir temp_;
};

TEST_F(CgroupUsageTest, ReadsVersion2) {
  Write("proc/7/cgroup", "0::/pod/app\n");
  Write("v2/pod/app/cpu.max", "20000 100000\n");
  Write("v2/pod/app/cpu.stat",
        "usage_usec 5\nuser_usec 4\nnr_periods 10\nnr_throttled 3\nthrottled_usec 6\n");
  Write("v2/pod/app/memory.max", "1000000\n");
  Write("v2/pod/app/memory.current", "900000\n");
  Write("v2/pod/app/memory.stat", "anon 1\ninactive_file 100000\n");
  Write("v2/pod/app/memory.events", "low 0\nmax 4\noom_kill 1\noom_group_kill 0\n");
  Write("v2/pod/app/io.max", "7:0 rbps=max wbps=1000 riops=max wiops=max\n");
  Write("v2/pod/app/io.stat", "7:0 rbytes=1 wbytes=500 rios=1 wios=2 dbytes=0 dios=0\n");
  Write("v2/pod/app/pids.max", "max\n");
  Write("v2/pod/app/pids.current", "2\n");
  Write("v2/pod/memory.max", "max\n");
  CgroupUsage usage = Usage({{.mount = In("v2"), .is_perfs = true}});
  usage.AddProcess(7);
  usage.Check(1);
  Write("v2/pod/app/memory.current", "1000000\n");
  Write("v2/pod/app/io.stat", "7:0 rbytes=1 wbytes=800 rios=1 wios=3\n");
  usage.Check(kNsPerSecond / 2);  // not yet
  usage.ReadAll(kNsPerSecond);
  NotedCgroup app{.path = "/pod/app", .cpu_quota_us = 20'000, .cpu_period_us = 100'000};
  app.memory_limit = 1'000'000;
  app.first = {.time_ns = 1,
               .cpu_ns = 5'000,
               .periods = 10,
               .throttled_periods = 3,
               .throttled_ns = 6'000,
               .memory_bytes = 800'000,
               .memory_failures = 4,
               .oom_kills = 1,
               .tasks = 2};
  app.last = app.first;
  app.last.time_ns = kNsPerSecond;
  app.last.memory_bytes = app.memory_peak = 900'000;
  app.memory_peak_ns = kNsPerSecond;
  app.io_limits = {{"7:0", "wbps", 1000, 500, 800, 300}};
  app.pids = {7};
  const std::vector<NotedCgroup> noted = usage.Noted();
  ASSERT_EQ(noted.size(), 2);
  EXPECT_EQ(noted[0].path, "/pod");  // it may have the limit
  EXPECT_THAT(noted[0].pids, ElementsAre(7));
  EXPECT_EQ(noted[1], app);
}

TEST_F(CgroupUsageTest, ReadsVersion1) {
  Write("proc/7/cgroup", "8:blkio:/app\n3:cpuacct,cpu:/app\n2:memory:/other\n0::/\n");
  Write("cpu/app/cpu.cfs_quota_us", "-1\n");
  Write("cpu/app/cpu.cfs_period_us", "100000\n");
  Write("cpu/app/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 6000\n");
  Write("cpu/app/cpuacct.usage", "5000\n");
  Write("memory/other/memory.limit_in_bytes", "9223372036854771712\n");
  Write("memory/other/memory.usage_in_bytes", "900000\n");
  Write("memory/other/memory.failcnt", "4\n");
  Write("memory/other/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  Write("memory/other/memory.stat", "inactive_file 7\ntotal_inactive_file 100000\n");
  Write("blkio/app/blkio.throttle.write_bps_device", "7:0 1000\n");
  Write("blkio/app/blkio.throttle.io_service_bytes", "7:0 Read 1\n7:0 Write 500\nTotal 501\n");
  std::filesystem::create_directories(In("v2"));
  CgroupUsage usage = Usage({{.mount = In("v2")},
                             {.mount = In("cpu"), .controllers = {"cpu", "cpuacct"}},
                             {.mount = In("memory"), .controllers = {"memory"}},
                             {.mount = In("blkio"), .controllers = {"blkio"}}});
  usage.AddProcess(7);
  usage.ReadAll(1);
  const std::vector<NotedCgroup> noted = usage.Noted();
  ASSERT_EQ(noted.size(), 2);
  EXPECT_EQ(noted[0].path, "/app");
  EXPECT_EQ(noted[0].cpu_quota_us, 0);
  EXPECT_EQ(noted[0].last, (CgroupUse{.time_ns = 1,
                                      .cpu_ns = 5'000,
                                      .periods = 10,
                                      .throttled_periods = 3,
                                      .throttled_ns = 6'000}));
  EXPECT_THAT(noted[0].io_limits, ElementsAre(NotedIoLimit{"7:0", "wbps", 1000, 500, 500}));
  EXPECT_EQ(noted[1].path, "/other");
  EXPECT_EQ(noted[1].memory_limit, 0);
  EXPECT_EQ(
      noted[1].last,
      (CgroupUse{.time_ns = 1, .memory_bytes = 800'000, .memory_failures = 4, .oom_kills = 1}));
}

TEST_F(CgroupUsageTest, ReadsAllOnceASecondAndKeepsThePeak) {
  Write("proc/7/cgroup", "0::/app\n");
  Write("v2/app/memory.current", "100\n");
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  usage.AddProcess(7);
  usage.Check(kNsPerSecond);
  Write("v2/app/memory.current", "300\n");
  usage.Check(2 * kNsPerSecond);
  Write("v2/app/memory.current", "200\n");
  usage.Check(3 * kNsPerSecond);
  ASSERT_EQ(usage.Noted().size(), 1);
  EXPECT_EQ(usage.Noted()[0].first.memory_bytes, 100);
  EXPECT_EQ(usage.Noted()[0].memory_peak, 300);
  EXPECT_EQ(usage.Noted()[0].memory_peak_ns, 2 * kNsPerSecond);
  EXPECT_EQ(usage.Noted()[0].last.memory_bytes, 200);
}

TEST_F(CgroupUsageTest, FollowsAProcessIntoAnotherCgroup) {
  Write("proc/7/cgroup", "0::/\n");
  Write("v2/app/memory.max", "100\n");
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  usage.AddProcess(7);
  usage.Check(kNsPerSecond);
  EXPECT_THAT(usage.Noted(), IsEmpty());
  Write("proc/7/cgroup", "0::/app\n");
  usage.Check(2 * kNsPerSecond);
  ASSERT_EQ(usage.Noted().size(), 1);
  EXPECT_THAT(usage.Noted()[0].pids, ElementsAre(7));
}

TEST_F(CgroupUsageTest, HasTheLargestRateOfIo) {
  Write("proc/7/cgroup", "0::/app\n");
  Write("v2/app/io.max", "7:0 rbps=max wbps=1000 riops=max wiops=max\n");
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  usage.AddProcess(7);
  std::uint64_t second = 1;
  for (const int written : {0, 0, 900, 950, 960}) {
    Write("v2/app/io.stat", "7:0 wbytes=" + std::to_string(written) + "\n");
    usage.Check(second++ * kNsPerSecond);
  }
  ASSERT_EQ(usage.Noted().size(), 1);
  EXPECT_THAT(usage.Noted()[0].io_limits,
              ElementsAre(NotedIoLimit{"7:0", "wbps", 1000, 0, 960, 900}));
}

TEST_F(CgroupUsageTest, HasTheProcessesThatOthersStarted) {
  Write("proc/7/cgroup", "0::/app\n");
  std::filesystem::create_directories(In("v2/app"));
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  usage.AddProcess(7);
  usage.Check(1);
  usage.AddFork(8, 7);  // it ends before it is read
  usage.AddFork(9, 1);  // not of a recorded process
  usage.AddFork(7, 7);  // a thread
  ASSERT_EQ(usage.Noted().size(), 1);
  EXPECT_THAT(usage.Noted()[0].pids, ElementsAre(7, 8));
}

TEST_F(CgroupUsageTest, FindsTheContainersAndPods) {
  const std::string uid = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0", id(64, 'a');
  const std::string pod = "/kubepods/pod" + uid, container = pod + "/" + id;
  Write("proc/7/cgroup", "0::" + container + "\n");
  Write("proc/8/cgroup", "0::/other\n");
  Write("node/var/log/containers/web-0_shop_nginx-" + id + ".log", "");
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  usage.AddProcess(7);
  usage.AddProcess(8);
  usage.Check(1);
  std::filesystem::create_directories(In("node/var/log/pods/shop_web-0_" + uid));
  using Noted = bundle::NotedContainer;
  const Noted of_container{container, uid, id, "shop", "web-0", "nginx"};
  EXPECT_THAT(usage.Containers(), ElementsAre(Noted{pod, uid}, of_container));
}

TEST_F(CgroupUsageTest, KeepsTheLastReadingOfACgroupThatIsGone) {
  Write("proc/7/cgroup", "0::/app\n");
  Write("v2/app/memory.current", "100\n");
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  usage.AddProcess(7);
  usage.Check(1);
  std::filesystem::remove_all(In("v2/app"));
  usage.ReadAll(2);
  ASSERT_EQ(usage.Noted().size(), 1);
  EXPECT_EQ(usage.Noted()[0].last, (CgroupUse{.time_ns = 1, .memory_bytes = 100}));
}

TEST_F(CgroupUsageTest, LeavesOutTheRootWithoutLimitAndWhatCannotBeRead) {
  Write("proc/7/cgroup", "0::/\n");
  Write("proc/8/cgroup", "0::/../outside\nwithout colons\n");
  Write("v2/cgroup.procs", "7\n");
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  for (const std::uint32_t pid : {7U, 8U, 9U}) usage.AddProcess(pid);
  usage.ReadAll(1);
  EXPECT_THAT(usage.Noted(), IsEmpty());
  Write("v2/memory.max", "1000\n");  // as in a container
  usage.ReadAll(2);
  EXPECT_EQ(usage.Noted().size(), 1);
}

TEST_F(CgroupUsageTest, IsBounded) {
  CgroupUsage usage = Usage({{.mount = In("v2")}});
  for (std::uint32_t pid = 1; pid <= 300; ++pid) {
    const std::string path = "/app" + std::to_string(pid);
    Write("proc/" + std::to_string(pid) + "/cgroup", "0::" + path + "\n");
    std::filesystem::create_directories(In("v2" + path));
    usage.AddProcess(pid);
  }
  usage.ReadAll(1);
  EXPECT_EQ(usage.Noted().size(), 255);  // and the root
}

}  // namespace
}  // namespace perftape::record
