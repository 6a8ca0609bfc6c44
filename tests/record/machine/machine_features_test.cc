// SPDX-License-Identifier: Apache-2.0
#include "record/machine/machine_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using perfdata::Feature;
using perfdata::FeatureBit;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kCpuinfo =
    "processor\t: 0\n"
    "vendor_id\t: AuthenticAMD\n"
    "cpu family\t: 25\n"
    "model\t\t: 1\n"
    "model name\t: AMD EPYC  7763   64-Core Processor \n"
    "stepping\t: 2\n"
    "flags\t\t: fpu vme la57x avx\n"
    "\n"
    "processor\t: 1\n"
    "vendor_id\t: Other\n";

// Writes two sockets with two CPUs each, one of them offline.
void WriteCpus(const TempDir& root) {
  root.Write("devices/system/cpu/present", "0-3\n");
  root.Write("devices/system/cpu/online", "0-2\n");
  const auto write = [&](int cpu, std::string_view name, std::string_view text) {
    root.Write("devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/" + std::string(name),
               text);
  };
  for (int cpu = 0; cpu < 3; ++cpu) {
    write(cpu, "core_id", cpu == 1 ? "1\n" : "0\n");
    write(cpu, "physical_package_id", cpu < 2 ? "0\n" : "1\n");
    write(cpu, "die_id", "0\n");
    write(cpu, "package_cpus_list", cpu < 2 ? "0-1\n" : "2\n");
    write(cpu, "core_cpus_list", std::to_string(cpu) + "\n");
    write(cpu, "die_cpus_list", cpu < 2 ? "0-1\n" : "2\n");
  }
}

class Machine : public testing::Test {
 protected:
  // Returns a feature, described with this test's tree as both /proc and /sys.
  template <class Value>
  std::optional<Value> Find(FeatureBit bit) const {
    const std::vector<std::string> arguments = {"perftape-record", "-a"};
    for (const Feature& feature : DescribeMachine({.proc = root_.path(), .sys = root_.path()},
                                                  {.version = "1.2.3", .arguments = arguments})) {
      if (feature.bit == bit) return std::get<Value>(feature.value);
    }
    return std::nullopt;
  }

  TempDir root_;
};

TEST_F(Machine, CountsCpusUpToTheHighestPresentOne) {
  root_.Write("devices/system/cpu/present", "0,2-3\n");
  root_.Write("devices/system/cpu/online", "0,2\n");
  const auto cpus = Find<perfdata::NrCpus>(FeatureBit::kNrCpus);
  ASSERT_TRUE(cpus);
  EXPECT_EQ(cpus->available, 4u);
  EXPECT_EQ(cpus->online, 2u);
}

TEST_F(Machine, CountsCpusWithoutSysToo) {
  EXPECT_GE(Find<perfdata::NrCpus>(FeatureBit::kNrCpus).value().available, 1u);
}

TEST_F(Machine, ListsPackagesAndCoresOfOnlineCpusOnce) {
  WriteCpus(root_);
  const auto topology = Find<perfdata::CpuTopology>(FeatureBit::kCpuTopology).value();
  EXPECT_THAT(topology.packages, ElementsAre("0-1", "2"));
  EXPECT_THAT(topology.cores, ElementsAre("0", "1", "2"));
  EXPECT_THAT(topology.dies, ElementsAre("0-1", "2"));
}

TEST_F(Machine, ReadsCoreAndSocketAndMarksOfflineCpus) {
  WriteCpus(root_);
  const auto topology = Find<perfdata::CpuTopology>(FeatureBit::kCpuTopology).value();
  ASSERT_EQ(topology.cpus.size(), 4u);
  ASSERT_EQ(topology.die_of_cpu.size(), 4u);
  EXPECT_EQ(topology.cpus[1].core, 1u);
  EXPECT_EQ(topology.cpus[2].socket, 1u);
  EXPECT_EQ(topology.cpus[3].core, 0xffffffffu);
}

TEST_F(Machine, OmitsDiesThatTheKernelDoesNotReport) {
  WriteCpus(root_);
  for (int cpu = 0; cpu < 3; ++cpu) {
    std::filesystem::remove(root_.path() / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) /
                            "topology/die_cpus_list");
  }
  const auto topology = Find<perfdata::CpuTopology>(FeatureBit::kCpuTopology).value();
  EXPECT_THAT(topology.dies, IsEmpty());
  EXPECT_THAT(topology.die_of_cpu, IsEmpty());
}

TEST_F(Machine, ReadsMemoryAndCpusOfEachNode) {
  root_.Write("devices/system/node/online", "0,2\n");
  root_.Write("devices/system/node/node0/meminfo",
              "\nNode 0 MemTotal:       16000000 kB\nNode 0 MemFree:        500 kB\n");
  root_.Write("devices/system/node/node0/cpulist", "0-1\n");
  root_.Write("devices/system/node/node2/meminfo", "Node 2 MemTotal:       8 kB\n");
  root_.Write("devices/system/node/node2/cpulist", "\n");
  const auto numa = Find<perfdata::NumaTopology>(FeatureBit::kNumaTopology).value();
  ASSERT_EQ(numa.nodes.size(), 2u);
  EXPECT_EQ(numa.nodes[0].total_kilobytes, 16000000u);
  EXPECT_EQ(numa.nodes[0].free_kilobytes, 500u);
  EXPECT_EQ(numa.nodes[0].cpus, "0-1");
  EXPECT_EQ(numa.nodes[1].node, 2u);
  EXPECT_EQ(numa.nodes[1].cpus, "");
}

TEST_F(Machine, ListsPmusByType) {
  root_.Write("bus/event_source/devices/msr/type", "9\n");
  root_.Write("bus/event_source/devices/software/type", "1\n");
  root_.Write("bus/event_source/devices/odd/type", "none\n");
  const auto mappings = Find<perfdata::PmuMappings>(FeatureBit::kPmuMappings).value();
  ASSERT_EQ(mappings.pmus.size(), 2u);
  EXPECT_EQ(mappings.pmus[0].name, "software");
  EXPECT_EQ(mappings.pmus[1].type, 9u);
}

TEST_F(Machine, LeavesOutAnEmptyListOfPmus) {
  EXPECT_FALSE(Find<perfdata::PmuMappings>(FeatureBit::kPmuMappings));
}

TEST_F(Machine, ReadsTotalMemory) {
  root_.Write("meminfo", "MemTotal:       24684084 kB\nMemFree:  1 kB\n");
  EXPECT_EQ(Find<perfdata::TotalMem>(FeatureBit::kTotalMem).value().kilobytes, 24684084u);
}

TEST_F(Machine, UsesAVersionThatReadersAccept) {
  EXPECT_EQ(Find<perfdata::TextFeature>(FeatureBit::kVersion).value().text, "6.1.perftape-1.2.3");
}

TEST_F(Machine, PutsThePathOfTheExecutableFirstInTheCommandLine) {
  std::filesystem::create_directory(root_ / "self");
  std::filesystem::create_symlink("/usr/bin/perftape-record", root_ / "self/exe");
  EXPECT_THAT(Find<perfdata::Cmdline>(FeatureBit::kCmdline).value().arguments,
              ElementsAre("/usr/bin/perftape-record", "-a"));
}

TEST_F(Machine, KeepsItsNameInTheCommandLineWhereThePathIsUnknown) {
  EXPECT_THAT(Find<perfdata::Cmdline>(FeatureBit::kCmdline).value().arguments,
              ElementsAre("perftape-record", "-a"));
}

TEST_F(Machine, UsesMainIdRegisterAsArmCpuId) {
  root_.Write("devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd0c0\n");
  EXPECT_EQ(Find<perfdata::TextFeature>(FeatureBit::kCpuId).value().text, "0x00000000410fd0c0");
}

TEST(DescribeMachine, ReturnsAllFeaturesInBitOrder) {
  std::vector<FeatureBit> bits;
  for (const Feature& feature : DescribeMachine({}, {.version = "1"})) bits.push_back(feature.bit);
  EXPECT_TRUE(std::ranges::is_sorted(bits));
  EXPECT_THAT(bits, Contains(FeatureBit::kHostname));
  EXPECT_THAT(bits, Contains(FeatureBit::kArch));
  EXPECT_THAT(bits, Contains(FeatureBit::kTotalMem));
  EXPECT_THAT(bits, Contains(FeatureBit::kPmuMappings));
  EXPECT_THAT(bits, Contains(FeatureBit::kClockData));
}

TEST(CpuId, IsPutTogetherAsPerfDoes) {
  EXPECT_EQ(CpuIdOf(kCpuinfo), "AuthenticAMD,25,1,2");
  EXPECT_EQ(CpuIdOf("processor\t: 0\nBogoMIPS\t: 50.00\n"), "");
}

TEST(CpuName, HasItsSpacesSqueezed) {
  EXPECT_EQ(CpuNameOf(kCpuinfo), "AMD EPYC 7763 64-Core Processor");
  EXPECT_EQ(CpuNameOf(""), "");
}

TEST(Clocks, AreReadAtOneInstant) {
  const perfdata::ClockData clocks = ReadClocks(CLOCK_MONOTONIC).value();
  EXPECT_EQ(clocks.clockid, static_cast<std::uint32_t>(CLOCK_MONOTONIC));
  const perfdata::ClockData later = ReadClocks(CLOCK_MONOTONIC).value();
  EXPECT_LE(clocks.clockid_ns, later.clockid_ns);
  EXPECT_NE(clocks.wall_ns, 0u);
}

TEST(Clocks, FailForAClockThatIsNotThere) {
  EXPECT_FALSE(ReadClocks(static_cast<clockid_t>(99)));
}

#if defined(__x86_64__)
TEST(UserAddressLimit, FollowsThePageTables) {
  const TempDir proc;
  proc.Write("cpuinfo", kCpuinfo);
  EXPECT_EQ(UserAddressLimit(proc.path()), std::uint64_t{1} << 47);
  proc.Write("cpuinfo", "flags\t\t: fpu la57 avx\n");
  EXPECT_EQ(UserAddressLimit(proc.path()), std::uint64_t{1} << 56);
}
#endif

}  // namespace
}  // namespace perftape::record
