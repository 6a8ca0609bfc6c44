// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/process_lives.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A recording whose clock shows 100 s at the wall clock's 5000 s.
class ProcessLivesTest : public testing::Test {
 protected:
  ProcessLivesTest() {
    file_.AddEvent({.sample_type = kIp | kTid | kTime});
    file_.AddFeature(FeatureBit::kClockData,
                     ClockData{.wall_ns = 5000 * kSecond, .clockid_ns = 100 * kSecond});
  }
  void AddFork(std::uint32_t pid, std::uint64_t time) {
    file_.AddFork({.pid = pid, .ppid = 1, .tid = pid, .ptid = 1, .time = time});
  }
  static ProcessIdentity StartedAt(std::int64_t ns) {
    ProcessIdentity identity;
    identity.started_ns = ns;
    return identity;
  }

  PerfDataBuilder file_;
};

TEST_F(ProcessLivesTest, StartWithTheirForkOnTheWallClock) {
  AddFork(7, 101 * kSecond);
  const ProcessLives lives = ReadProcessLives(file_.Open());
  EXPECT_EQ(lives.at(7).started_ns, 5001 * kSecond);
  EXPECT_TRUE(lives.at(7).CanBe(StartedAt(5001 * kSecond - 10'000'000)));
  EXPECT_FALSE(lives.at(7).CanBe(StartedAt(5002 * kSecond)));
  EXPECT_FALSE(lives.at(7).CanBe(StartedAt(4999 * kSecond)));
}

TEST_F(ProcessLivesTest, ThatRanBeforeTheRecordingCanHaveStartedAtAnyEarlierTime) {
  AddFork(7, 0);
  file_.AddSample({.pid = 7, .tid = 7, .time = 102 * kSecond});
  const ProcessLives lives = ReadProcessLives(file_.Open());
  EXPECT_FALSE(lives.at(7).started_ns);
  EXPECT_TRUE(lives.at(7).CanBe(StartedAt(kSecond)));
  EXPECT_FALSE(lives.at(7).CanBe(StartedAt(5003 * kSecond)));
}

TEST_F(ProcessLivesTest, EndWithTheExitOfTheirFirstThread) {
  AddFork(7, 101 * kSecond);
  file_.AddExit({.pid = 7, .ppid = 1, .tid = 8, .ptid = 1, .time = 102 * kSecond});
  file_.AddExit({.pid = 9, .ppid = 1, .tid = 9, .ptid = 1, .time = 102 * kSecond});
  const ProcessLives lives = ReadProcessLives(file_.Open());
  EXPECT_FALSE(lives.at(7).has_ended);
  EXPECT_FALSE(lives.at(9).CanBe(StartedAt(kSecond)));
}

TEST_F(ProcessLivesTest, AreThoseOfTheLastProcessWithTheNumber) {
  AddFork(7, 101 * kSecond);
  file_.AddExit({.pid = 7, .ppid = 1, .tid = 7, .ptid = 1, .time = 102 * kSecond});
  AddFork(7, 103 * kSecond);
  const ProcessLives lives = ReadProcessLives(file_.Open());
  EXPECT_EQ(lives.at(7).started_ns, 5003 * kSecond);
  EXPECT_FALSE(lives.at(7).has_ended);
}

TEST_F(ProcessLivesTest, KnowThePidNamespace) {
  std::vector<std::uint64_t> links(14);
  links[7] = 4711;
  file_.Add(Namespaces{.pid = 7, .tid = 7, .links = WordArray(links)});
  const ProcessLives lives = ReadProcessLives(file_.Open());
  EXPECT_EQ(lives.at(7).pid_namespace, 4711u);
  const struct stat file = {};
  EXPECT_NE(lives.at(7).WhyNotItsFile(file), "");
}

TEST_F(ProcessLivesTest, HaveNoOlderFiles) {
  AddFork(7, 101 * kSecond);
  const ProcessLives lives = ReadProcessLives(file_.Open());
  struct stat file = {};
  file.st_mtim.tv_sec = 5000;
  EXPECT_NE(lives.at(7).WhyNotItsFile(file), "");
  file.st_mtim.tv_sec = 5001;
  EXPECT_EQ(lives.at(7).WhyNotItsFile(file), "");
}

}  // namespace
}  // namespace perftape::perfdata
