// SPDX-License-Identifier: Apache-2.0
#include "record/rings/time_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/record/records.h"
#include "tests/support/excess.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns a record that contains its number as the count.
std::vector<std::byte> Numbered(std::uint64_t number, std::uint64_t time) {
  return RecordOf(perfdata::LostSamples{.count = number}, time);
}

class Merge : public testing::Test {
 protected:
  void Add(std::uint64_t number, std::uint64_t time) { merge_.Add(time, Numbered(number, time)); }

  // Returns the numbers of the released records.
  std::vector<std::uint64_t> Release(std::uint64_t limit) {
    CollectedRecords collected;
    EXPECT_TRUE(merge_.Release(limit, collected));
    std::vector<std::uint64_t> numbers;
    for (const auto& record : Decoded<perfdata::LostSamples>(collected.records())) {
      numbers.push_back(record.count);
    }
    return numbers;
  }

  TimeMerge merge_;
};

TEST_F(Merge, ReleasesTheOldestFirst) {
  Add(1, 30);
  Add(2, 10);
  Add(3, 20);
  EXPECT_THAT(Release(100), ElementsAre(2, 3, 1));
}

TEST_F(Merge, KeepsTheOrderOfEqualTimes) {
  for (std::uint64_t i = 0; i < 50; ++i) Add(i, 7);
  const std::vector<std::uint64_t> numbers = Release(7);
  EXPECT_EQ(numbers.size(), 50u);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

TEST_F(Merge, HoldsBackWhatIsYoungerThanTheLimit) {
  Add(1, 30);
  Add(2, 10);
  Add(3, 20);
  EXPECT_THAT(Release(20), ElementsAre(2, 3));
  EXPECT_THAT(Release(20), IsEmpty());
  EXPECT_THAT(Release(30), ElementsAre(1));
}

TEST_F(Merge, PutsWhatWaitedBetweenWhatCameLater) {
  Add(1, 30);
  Add(2, 50);
  Release(20);
  Add(3, 40);
  Add(4, 25);
  EXPECT_THAT(Release(100), ElementsAre(4, 1, 3, 2));
}

TEST_F(Merge, KeepsTheOrderOfEqualTimesOverReleases) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    Add(100 + i, 50 - i);  // so that a release sorts and moves the waiting records
    Add(i, 200);
  }
  Release(100);
  Add(20, 200);
  const std::vector<std::uint64_t> numbers = Release(200);
  EXPECT_EQ(numbers.size(), 21u);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

TEST_F(Merge, ReleasesALateRecordWithTheNextOnes) {
  Add(1, 30);
  Release(30);
  Add(2, 29);
  Add(3, 31);
  Add(4, 0);  // synthesized records have no time
  EXPECT_THAT(Release(100), ElementsAre(4, 2, 3));
}

TEST_F(Merge, ReadsTheTimeFromTheTrailer) {
  ASSERT_TRUE(merge_.AddKernelRecord(Numbered(1, 40), kTestFormat));
  ASSERT_TRUE(merge_.AddKernelRecord(Numbered(2, 10), kTestFormat));
  EXPECT_THAT(Release(20), ElementsAre(2));
}

TEST_F(Merge, RefusesAKernelRecordCutAtAnyByte) {
  const std::vector<std::byte> record = Numbered(1, 40);
  for (std::size_t size = 0; size < record.size(); ++size) {
    EXPECT_FALSE(merge_.AddKernelRecord(Bytes(record).first(size), kTestFormat)) << size;
  }
  EXPECT_THAT(Release(100), IsEmpty());
}

TEST_F(Merge, SetsTheSizeOfAKernelRecordRightThatCountsTooMuch) {
  const perfdata::Ksymbol symbol = {.address = 1, .length = 8, .symbol_type = 1, .name = "f"};
  const perfdata::SampleId trailer = {.time = 40};
  for (const std::size_t excess : {32U, 64U}) {
    ASSERT_TRUE(merge_.AddKernelRecord(RecordWithExcess(symbol, trailer, kTestFormat, excess),
                                       kTestFormat));
  }
  Add(1, 30);
  Add(2, 50);
  CollectedRecords collected;
  ASSERT_TRUE(merge_.Release(45, collected));  // the time of the round is in the trailer
  std::vector<std::byte> expected = Numbered(1, 30);
  const std::vector<std::byte> whole = RecordOf(symbol, 40);
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), whole.begin(), whole.end());
  EXPECT_EQ(collected.bytes, expected);
}

TEST_F(Merge, RefusesTwoRecordsAtOnce) {
  std::vector<std::byte> two = Numbered(1, 40);
  const std::vector<std::byte> second = Numbered(2, 50);
  two.insert(two.end(), second.begin(), second.end());
  EXPECT_EQ(merge_.AddKernelRecord(two, kTestFormat).error().code, ErrorCode::kCorrupt);
}

TEST_F(Merge, AddsNothingOfARecordThatCannotBeWritten) {
  Add(1, 10);
  const auto write = [](std::vector<std::byte>& out) -> Result<std::uint64_t> {
    out.resize(out.size() + 100);
    return Fail(ErrorCode::kCorrupt, "no message");
  };
  EXPECT_EQ(merge_.AddSample(7, write).error().message, "no message");
  Add(2, 20);
  EXPECT_THAT(Release(20), ElementsAre(1, 2));
}

TEST_F(Merge, PassesOnTheErrorOfItsSink) {
  struct FullDisk {
    Status Append(Bytes) { return Fail(ErrorCode::kIo, "disk full"); }
  } full;
  Add(1, 10);
  const Status status = merge_.Release(10, full);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "disk full");
}

// Adds the records of threads, and returns them as "NAME TID TIME".
class MergeOfThreads : public testing::Test {
 protected:
  void AddExit(std::uint32_t tid, std::uint64_t time) {
    AddKernel(perfdata::Exit{{.pid = 7, .ppid = 1, .tid = tid, .ptid = 1, .time = time}}, time);
  }
  void AddFork(std::uint32_t tid, std::uint64_t time) {
    AddKernel(perfdata::Fork{{.pid = 7, .ppid = 1, .tid = tid, .ptid = 1, .time = time}}, time);
  }
  void AddComm(std::uint32_t tid, std::uint64_t time) {
    AddKernel(perfdata::Comm{.pid = 7, .tid = tid, .comm = "x"}, time);
  }
  void AddSample(std::uint32_t tid, std::uint64_t time) {
    ASSERT_TRUE(merge_.AddSample(tid, [&](std::vector<std::byte>& out) -> Result<std::uint64_t> {
      const std::vector<std::byte> sample =
          SampleOf({.pid = 7, .tid = tid, .time = time}, perfdata::CpuMode::kKernel);
      out.insert(out.end(), sample.begin(), sample.end());
      return time;
    }));
  }

  std::vector<std::string> Release(std::uint64_t limit) {
    CollectedRecords collected;
    EXPECT_TRUE(merge_.Release(limit, collected));
    std::vector<std::string> texts;
    for (const perfdata::RecordView& record : collected.records()) texts.push_back(TextOf(record));
    return texts;
  }

  TimeMerge merge_;

 private:
  template <class Record>
  void AddKernel(const Record& record, std::uint64_t time) {
    ASSERT_TRUE(merge_.AddKernelRecord(RecordOf(record, time), kTestFormat));
  }
  static std::string TextOf(const perfdata::RecordView& record) {
    const std::string time = " " + std::to_string(perfdata::TimeOf(record, kTestFormat));
    if (record.type == perfdata::RecordType::kSample) {
      const auto sample = perfdata::DecodeSample(record, kTestFormat);
      return "sample " + std::to_string(sample->tid) + time;
    }
    if (record.type == perfdata::RecordType::kComm) return "comm" + time;
    if (record.type == perfdata::RecordType::kFork) return "fork" + time;
    const auto task = perfdata::Decode<perfdata::Exit>(record, kTestFormat);
    return "exit " + std::to_string(task->tid) + " of " + std::to_string(task->time) + time;
  }
};

TEST_F(MergeOfThreads, PutsAnExitAfterTheLastSampleOfItsThread) {
  AddSample(8, 10);
  AddExit(8, 20);
  AddSample(9, 25);
  AddSample(8, 30);
  AddSample(8, 40);
  AddSample(9, 50);
  EXPECT_THAT(Release(100), ElementsAre("sample 8 10", "sample 9 25", "sample 8 30", "sample 8 40",
                                        "exit 8 of 20 40", "sample 9 50"));
}

TEST_F(MergeOfThreads, PutsAnExitAfterASampleOfItsTime) {
  AddExit(8, 20);
  AddSample(9, 30);
  AddSample(8, 20);  // of the same time, from another ring
  EXPECT_THAT(Release(100), ElementsAre("sample 8 20", "exit 8 of 20 20", "sample 9 30"));
}

// FORK: the number has another thread. COMM: another thread has called execve(2).
TEST_F(MergeOfThreads, ForgetsAnExitWhenAnotherThreadHasTheNumber) {
  AddExit(8, 20);
  AddSample(8, 25);
  AddFork(8, 30);
  AddSample(8, 40);
  AddExit(9, 50);
  AddComm(9, 60);
  AddSample(9, 70);
  EXPECT_THAT(Release(100), ElementsAre("sample 8 25", "exit 8 of 20 25", "fork 30", "sample 8 40",
                                        "exit 9 of 50 50", "comm 60", "sample 9 70"));
}

TEST_F(MergeOfThreads, LeavesExitsOfThreadsWithoutANumber) {
  AddExit(0xffffffff, 20);
  AddExit(0, 21);
  AddSample(0xffffffff, 30);
  AddSample(0, 31);
  EXPECT_THAT(Release(100), ElementsAre("exit 4294967295 of 20 20", "exit 0 of 21 21",
                                        "sample 4294967295 30", "sample 0 31"));
}

// The samples of thread 8 are in two rounds, unless the first one ends before its EXIT.
TEST_F(MergeOfThreads, EndsARoundBeforeThreadsThatHaveJustEnded) {
  constexpr std::uint64_t kRound = 1'000'000'000, kLongest = TimeMerge::kLongestEndNs;
  AddExit(9, kRound - kLongest);
  AddSample(8, kRound - 60);
  AddExit(8, kRound - 50);
  AddSample(8, kRound - 40);
  const std::uint64_t limit = merge_.BeforeLastExits(kRound);
  EXPECT_EQ(limit, kRound - 51);
  EXPECT_THAT(Release(limit), ElementsAre("exit 9 of 900000000 900000000", "sample 8 999999940"));
  AddSample(8, kRound + 10);
  EXPECT_EQ(merge_.BeforeLastExits(kRound + kLongest), kRound + kLongest);
  EXPECT_EQ(merge_.BeforeLastExits(UINT64_MAX), UINT64_MAX);
  EXPECT_THAT(Release(UINT64_MAX), ElementsAre("sample 8 999999960", "sample 8 1000000010",
                                               "exit 8 of 999999950 1000000010"));
}

}  // namespace
}  // namespace perftape::record
