// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/followed_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/base/duration.h"
#include "tests/record/records.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kNow = 1'000'000'000'000;
constexpr std::uint32_t kParent = 100, kChild = 101, kOther = 200;
constexpr std::uint64_t kStart = 0x400000;

// Processes that map a small program.
class FollowedProcessesTest : public testing::Test {
 protected:
  // A process that has a thread.
  void Map(std::uint32_t pid, std::uint64_t start) {
    followed_.ApplyAll(RecordOf(perfdata::Comm{.pid = pid, .tid = pid, .comm = "program"}, kNow));
    const perfdata::Mmap2 mmap{.pid = pid,
                               .tid = pid,
                               .start = start,
                               .length = 0x1000,
                               .protection = 5,
                               .filename = program_};
    followed_.ApplyAll(RecordOf(mmap, kNow, perfdata::MiscOf(perfdata::CpuMode::kUser)));
  }
  void Fork(std::uint32_t parent, std::uint32_t child) {
    followed_.ApplyAll(RecordOf(
        perfdata::Fork{{.pid = child, .ppid = parent, .tid = child, .ptid = parent}}, kNow));
  }
  void Exit(std::uint32_t pid) {
    followed_.ApplyAll(RecordOf(
        perfdata::Exit{{.pid = pid, .ppid = 1, .tid = pid, .ptid = 1, .time = kNow}}, kNow));
  }
  // What the programs find for a process.
  std::vector<wire_unwind_mapping> MappingsOf(std::uint32_t pid) const {
    const std::uint64_t word = words_[pid & (WIRE_UNWIND_PROCESSES - 1)];
    const auto first =
        mappings_.begin() + static_cast<std::ptrdiff_t>(word & WIRE_UNWIND_FIRST_MASK);
    const auto count = (word >> WIRE_UNWIND_COUNT_SHIFT) & WIRE_UNWIND_COUNT_MASK;
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
  std::vector<std::uint64_t> StartsOf(std::uint32_t pid) const {
    std::vector<std::uint64_t> starts;
    for (const wire_unwind_mapping& mapping : MappingsOf(pid)) starts.push_back(mapping.start);
    return starts;
  }

  const std::string program_ = std::filesystem::canonical("/bin/true");
  std::vector<wire_unwind_cell> cells_ = std::vector<wire_unwind_cell>(1 << 20);
  std::vector<wire_unwind_rule> rules_ = std::vector<wire_unwind_rule>(WIRE_UNWIND_RULES);
  std::vector<wire_unwind_table> tables_ = std::vector<wire_unwind_table>(64);
  std::vector<wire_unwind_mapping> mappings_ = std::vector<wire_unwind_mapping>(1024);
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(WIRE_UNWIND_PROCESSES);
  KnownBinaries known_;
  OthersFiles files_;
  std::atomic<bool> stop_ = false;
  FollowedProcesses followed_{kTestFormat,
                              {cells_, rules_, tables_, mappings_, words_},
                              known_,
                              files_,
                              {.table_bytes = 0, .binaries = 0}};
};

TEST_F(FollowedProcessesTest, WritesTheMappingsOfThoseThatChanged) {
  Map(kParent, kStart);
  EXPECT_THAT(StartsOf(kParent), IsEmpty()) << "before WriteChanged";
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), ElementsAre(kStart));
  Map(kParent, kStart + 0x10000);
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), ElementsAre(kStart, kStart + 0x10000));
}

TEST_F(FollowedProcessesTest, HasNoTableUntilTheBinaryIsRead) {
  Map(kParent, kStart);
  followed_.WriteChanged(kNow);
  EXPECT_EQ(MappingsOf(kParent).at(0).table, WIRE_UNWIND_UNKNOWN);
  ASSERT_TRUE(followed_.has_unread());
  followed_.ReadNextBinary(kNow, stop_);
  EXPECT_FALSE(followed_.has_unread());
  followed_.WriteChanged(kNow);
  EXPECT_LT(MappingsOf(kParent).at(0).table, WIRE_UNWIND_UNKNOWN);
}

TEST_F(FollowedProcessesTest, GivesAChildTheMappingsOfItsParent) {
  Map(kParent, kStart);
  Fork(kParent, kChild);
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kChild), ElementsAre(kStart));
}

TEST_F(FollowedProcessesTest, FollowsOnlyTheTargetsAndTheirChildren) {
  const std::uint32_t targets[] = {kParent};
  followed_.FollowOnly(targets);
  Map(kParent, kStart);
  Map(kOther, kStart);
  Fork(kParent, kChild);
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), ElementsAre(kStart));
  EXPECT_THAT(StartsOf(kChild), ElementsAre(kStart));
  EXPECT_THAT(StartsOf(kOther), IsEmpty());
}

TEST_F(FollowedProcessesTest, IgnoresWhatAProcessMapsUntilItsExec) {
  const std::uint32_t ignored[] = {kParent};
  followed_.IgnoreUntilExec(ignored);
  Map(kParent, kStart);
  Fork(kParent, kChild);
  Map(kChild, kStart);
  Map(kOther, kStart);
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), IsEmpty());
  EXPECT_THAT(StartsOf(kChild), IsEmpty());
  EXPECT_THAT(StartsOf(kOther), ElementsAre(kStart));
  followed_.ApplyAll(RecordOf(perfdata::Comm{.pid = kParent, .tid = kParent, .comm = "new"}, kNow,
                              perfdata::kMiscCommExec));
  Map(kParent, kStart);
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), ElementsAre(kStart));
}

TEST_F(FollowedProcessesTest, HasTheTablesThatAProcessMappedBeforeItsExec) {
  const std::uint32_t ignored[] = {kParent};
  followed_.IgnoreUntilExec(ignored);
  Map(kParent, kStart);
  followed_.ReadFirstBinaries(kNow, stop_);
  followed_.ApplyAll(RecordOf(perfdata::Comm{.pid = kParent, .tid = kParent, .comm = "new"}, kNow,
                              perfdata::kMiscCommExec));
  Map(kParent, kStart);
  followed_.WriteChanged(kNow);
  EXPECT_LT(MappingsOf(kParent).at(0).table, WIRE_UNWIND_UNKNOWN);
  EXPECT_FALSE(followed_.has_unread());
}

TEST_F(FollowedProcessesTest, RemovesTheMappingsThatAnExecEnds) {
  Map(kParent, kStart);
  followed_.ApplyAll(RecordOf(perfdata::Comm{.pid = kParent, .tid = kParent, .comm = "new"}, kNow,
                              perfdata::kMiscCommExec));
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), IsEmpty());
}

TEST_F(FollowedProcessesTest, ReportsLostRecordsOnce) {
  EXPECT_FALSE(followed_.HasLostRecords());
  followed_.ApplyAll(RecordOf(perfdata::Lost{.event_id = 1, .count = 3}, kNow));
  EXPECT_TRUE(followed_.HasLostRecords());
  EXPECT_FALSE(followed_.HasLostRecords());
}

TEST_F(FollowedProcessesTest, ForgetsThoseWhoseExitWasLost) {
  Map(kParent, kStart);
  Map(kOther, kStart);
  followed_.ForgetIf([](std::uint32_t pid) { return pid == kOther; });
  followed_.WriteChanged(kNow);
  EXPECT_THAT(StartsOf(kParent), ElementsAre(kStart));
  EXPECT_THAT(StartsOf(kOther), IsEmpty());
}

// The records of its children may come later from another ring.
TEST_F(FollowedProcessesTest, KeepsAnEndedProcessForAnInterval) {
  Map(kParent, kStart);
  followed_.WriteChanged(kNow);
  followed_.ReadNextBinary(kNow, stop_);
  followed_.WriteChanged(kNow);
  Exit(kParent);
  EXPECT_TRUE(followed_.ForgetUnmapped(kNow));
  EXPECT_THAT(StartsOf(kParent), ElementsAre(kStart));
  Fork(kParent, kChild);
  EXPECT_TRUE(followed_.ForgetUnmapped(kNow + kNsPerSecond));
  EXPECT_THAT(StartsOf(kParent), IsEmpty());
  EXPECT_THAT(StartsOf(kChild), ElementsAre(kStart));
}

TEST_F(FollowedProcessesTest, GivesUpTheTablesThatNoProcessUses) {
  Map(kParent, kStart);
  followed_.WriteChanged(kNow);
  followed_.ReadNextBinary(kNow, stop_);
  followed_.WriteChanged(kNow);
  const std::uint32_t table = MappingsOf(kParent).at(0).table;
  EXPECT_NE(tables_[table].pages, 0U);
  Exit(kParent);
  EXPECT_TRUE(followed_.ForgetUnmapped(kNow));
  EXPECT_TRUE(followed_.ForgetUnmapped(kNow + kNsPerSecond));
  EXPECT_EQ(tables_[table].pages, 0U);
  EXPECT_FALSE(followed_.ForgetUnmapped(kNow + 2 * kNsPerSecond)) << "nothing has changed";
}

}  // namespace
}  // namespace perftape::record
