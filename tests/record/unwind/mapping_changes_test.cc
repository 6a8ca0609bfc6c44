// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/mapping_changes.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "tests/record/records.h"

namespace perftape::record {
namespace {

constexpr std::uint32_t kPid = 7;
constexpr std::uint64_t kLibrary = 0x10000, kSize = 0x1000, kProgram = 0x400000;
constexpr std::uint16_t kUser = perfdata::MiscOf(perfdata::CpuMode::kUser);

class MappingChangesTest : public testing::Test {
 protected:
  MappingChangesTest() {
    Map(kProgram, "/bin/program", 1, /*time_ns=*/1);
    Map(kLibrary, "/lib/old.so", 2, /*time_ns=*/2);
    loads_.Add(/*written_ns=*/10, /*loaded_ns=*/11);
  }

  void Map(std::uint64_t start, const char* path, std::uint64_t inode, std::uint64_t time_ns,
           std::uint64_t page_offset = 0) {
    Apply(RecordOf(perfdata::Mmap2{.pid = kPid,
                                   .tid = kPid,
                                   .start = start,
                                   .length = kSize,
                                   .page_offset = page_offset,
                                   .inode = inode,
                                   .protection = 5,
                                   .filename = path},
                   time_ns, kUser));
  }
  void Apply(const std::vector<std::byte>& record) {
    changes_.Apply(RecordsIn(record).at(0), kTestFormat, processes_);
  }
  // Of a walk from the program over the library to the program.
  std::size_t SureFrames(std::uint64_t walked_ns, std::uint32_t pid = kPid) {
    const std::uint64_t frames[] = {kProgram + 1, kLibrary + 8, kLibrary + 9, kProgram + 2};
    return changes_.SureFrames(pid, walked_ns,
                               WordArray(std::as_bytes(std::span(frames)), std::endian::native));
  }

  LoadTimes loads_;
  MappingChanges changes_{loads_};
  perfdata::Processes processes_;
};

TEST_F(MappingChangesTest, ALibraryAtTheAddressOfAnotherIsUnsureUntilItIsLoaded) {
  Map(kLibrary, "/lib/new.so", 3, 100);
  EXPECT_EQ(SureFrames(99), 4U) << "the old one";
  EXPECT_EQ(SureFrames(100), 2U);
  EXPECT_EQ(SureFrames(5000), 2U) << "not loaded yet";
  loads_.Add(/*written_ns=*/100, /*loaded_ns=*/150);  // records before this time only
  EXPECT_EQ(SureFrames(200), 2U);
  loads_.Add(/*written_ns=*/180, /*loaded_ns=*/190);
  loads_.Add(/*written_ns=*/300, /*loaded_ns=*/310);
  EXPECT_EQ(SureFrames(189), 2U);
  EXPECT_EQ(SureFrames(190), 4U);
  EXPECT_EQ(SureFrames(99), 4U) << "of a thread that has slept since then";
  EXPECT_EQ(SureFrames(120), 2U);
  EXPECT_EQ(SureFrames(120, kPid + 1), 4U) << "another process";
}

TEST_F(MappingChangesTest, TheSameCodeAgainIsNoChange) {
  Map(kLibrary, "/lib/old.so", 2, 100);
  EXPECT_EQ(SureFrames(100), 4U);
  Map(kLibrary + 2 * kSize, "/lib/new.so", 3, 101);
  EXPECT_EQ(SureFrames(101), 4U) << "nothing was there";
  Map(kLibrary, "/lib/old.so", 2, 102, /*page_offset=*/kSize);
  EXPECT_EQ(SureFrames(102), 2U) << "another part of the file";
}

TEST_F(MappingChangesTest, APartOfALibrary) {
  Apply(RecordOf(perfdata::Mmap2{.pid = kPid,
                                 .tid = kPid,
                                 .start = kLibrary + 9,
                                 .length = 1,
                                 .inode = 9,
                                 .protection = 5,
                                 .filename = "/lib/other.so"},
                 100, kUser));
  EXPECT_EQ(SureFrames(100), 4U) << "the calls are before it";
  Apply(RecordOf(perfdata::Mmap2{.pid = kPid,
                                 .tid = kPid,
                                 .start = kLibrary + 8,
                                 .length = 8,
                                 .inode = 9,
                                 .protection = 5,
                                 .filename = "/lib/other.so"},
                 200, kUser));
  EXPECT_EQ(SureFrames(200), 3U);
}

TEST_F(MappingChangesTest, AnotherProgramReplacesAll) {
  Apply(RecordOf(perfdata::Comm{.pid = kPid, .tid = kPid, .comm = "x"}, 50));
  EXPECT_EQ(SureFrames(50), 4U) << "only a name";
  Apply(RecordOf(perfdata::Comm{.pid = kPid, .tid = kPid, .comm = "x"}, 100,
                 perfdata::kMiscCommExec));
  EXPECT_EQ(SureFrames(100), 1U);
  loads_.Add(101, 102);
  EXPECT_EQ(SureFrames(102), 4U);
}

TEST_F(MappingChangesTest, AProcessThatGetsTheNumberOfAnother) {
  Apply(RecordOf(perfdata::Fork{{.pid = kPid, .ppid = kPid, .tid = 8, .ptid = kPid}}, 100));
  EXPECT_EQ(SureFrames(100), 4U) << "a thread";
  Apply(RecordOf(perfdata::Fork{{.pid = kPid, .ppid = 1, .tid = kPid, .ptid = 1}}, 200));
  EXPECT_EQ(SureFrames(200), 1U);
}

TEST_F(MappingChangesTest, OfManyChangesTheLastCount) {
  for (std::uint64_t i = 0; i < 1000; ++i) Map(kLibrary, "/lib/x.so", i + 10, 1000 + 10 * i);
  EXPECT_EQ(SureFrames(1000 + 10 * 999), 2U);
  loads_.Add(20000, 20001);
  EXPECT_EQ(SureFrames(20001), 4U);
}

}  // namespace
}  // namespace perftape::record
