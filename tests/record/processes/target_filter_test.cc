// SPDX-License-Identifier: Apache-2.0
#include "record/processes/target_filter.h"

#include <gtest/gtest.h>

#include "tests/record/records.h"

namespace perftape::record {
namespace {

using perfdata::Comm;
using perfdata::Exit;
using perfdata::Fork;
using perfdata::Mmap;
using perfdata::Mmap2;

class Filter : public testing::Test {
 protected:
  template <class Record>
  bool Keeps(const Record& value, std::uint16_t misc = 0) {
    const std::vector<std::byte> bytes = RecordOf(value, 1, misc);
    return filter_.Keeps(RecordsIn(bytes).at(0));
  }
  bool KeepsFork(std::uint32_t ppid, std::uint32_t pid) {
    return Keeps(Fork{{.pid = pid, .ppid = ppid, .tid = pid, .ptid = ppid}});
  }
  bool KeepsExit(std::uint32_t pid, std::uint32_t tid) {
    return Keeps(Exit{{.pid = pid, .ppid = 1, .tid = tid, .ptid = 1}});
  }
  bool KeepsComm(std::uint32_t pid) { return Keeps(Comm{.pid = pid, .tid = pid, .comm = "x"}); }

  static constexpr std::uint32_t kTargets[] = {7};
  TargetFilter filter_{kTargets, kTestFormat};
};

TEST_F(Filter, KeepsWhatItsTargetsDo) {
  EXPECT_TRUE(KeepsComm(7));
  EXPECT_TRUE(Keeps(Mmap2{.pid = 7, .tid = 9, .filename = "/usr/bin/x"}));
  EXPECT_TRUE(KeepsExit(7, 9));
}

TEST_F(Filter, DropsWhatOthersDo) {
  EXPECT_FALSE(KeepsComm(8));
  EXPECT_FALSE(Keeps(Mmap2{.pid = 8, .tid = 8, .filename = "/usr/bin/x"}));
  EXPECT_FALSE(Keeps(Mmap{.pid = 8, .tid = 8, .filename = "/usr/bin/x"}));
  EXPECT_FALSE(KeepsExit(8, 8));
  EXPECT_FALSE(Keeps(perfdata::Namespaces{.pid = 8, .tid = 8}));
  EXPECT_FALSE(KeepsFork(8, 9));
}

TEST_F(Filter, FollowsChildrenAndTheirChildren) {
  EXPECT_TRUE(KeepsFork(7, 20));
  EXPECT_TRUE(KeepsComm(20));
  EXPECT_TRUE(KeepsFork(20, 21));
  EXPECT_TRUE(KeepsComm(21));
}

TEST_F(Filter, KeepsNewThreadsOfTargetsOnly) {
  EXPECT_TRUE(Keeps(Fork{{.pid = 7, .ppid = 7, .tid = 30, .ptid = 7}}));
  EXPECT_FALSE(Keeps(Fork{{.pid = 8, .ppid = 8, .tid = 31, .ptid = 8}}));
}

TEST_F(Filter, KeepsAChildWhoseParentEnded) {
  EXPECT_TRUE(KeepsFork(7, 20));
  EXPECT_TRUE(KeepsExit(7, 7));
  EXPECT_TRUE(KeepsComm(20));
}

TEST_F(Filter, KeepsThreadsThatOutliveTheFirst) {
  EXPECT_TRUE(KeepsExit(7, 7));
  EXPECT_TRUE(Keeps(Comm{.pid = 7, .tid = 9, .comm = "x"}));
}

TEST_F(Filter, ForgetsAPidThatAnotherProcessUsesAgain) {
  EXPECT_TRUE(KeepsExit(7, 7));
  EXPECT_FALSE(KeepsFork(1, 7));
  EXPECT_FALSE(KeepsComm(7));
}

TEST_F(Filter, KeepsTheForkThatMadeATarget) {
  EXPECT_TRUE(KeepsFork(1, 7));
  EXPECT_TRUE(KeepsComm(7));
}

TEST_F(Filter, KeepsWhatConcernsTheKernel) {
  constexpr auto kKernel = MiscOf(perfdata::CpuMode::kKernel);
  EXPECT_TRUE(Keeps(Mmap{.pid = 0xffffffff, .filename = "[kernel.kallsyms]_text"}, kKernel));
  EXPECT_TRUE(Keeps(perfdata::Ksymbol{.address = 1, .length = 1, .name = "bpf_prog_1_x"}));
  EXPECT_TRUE(Keeps(perfdata::BpfEvent{.id = 4}));
  EXPECT_TRUE(Keeps(perfdata::Lost{.event_id = 1, .count = 3}));
  EXPECT_TRUE(Keeps(perfdata::LostSamples{.count = 3}));
}

TEST_F(Filter, KeepsSamples) {
  const std::vector<std::byte> bytes = SampleOf({.pid = 8, .tid = 8}, perfdata::CpuMode::kUser);
  EXPECT_TRUE(filter_.Keeps(RecordsIn(bytes).at(0)));
}

TEST_F(Filter, KeepsDamagedRecords) {
  EXPECT_TRUE(filter_.Keeps({.type = perfdata::RecordType::kFork}));
  EXPECT_TRUE(filter_.Keeps({.type = perfdata::RecordType::kExit}));
  EXPECT_TRUE(filter_.Keeps({.type = perfdata::RecordType::kComm}));
}

}  // namespace
}  // namespace perftape::record
