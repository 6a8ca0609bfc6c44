// SPDX-License-Identifier: Apache-2.0
#include "record/processes/command_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

CommandRunner StartRunner(const std::string& command) {
  return CommandRunner::Start(command, SignalState::Now()).value();
}

std::vector<std::string> LinesOf(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::ranges::sort(lines);
  return lines;
}

TEST(CommandRunner, AddsTheNameOfTheFile) {
  const TempDir dir;
  CommandRunner runner = StartRunner("echo >> " + (dir / "log").string());
  ASSERT_TRUE(runner.Run("/a b"));
  ASSERT_TRUE(runner.Run("/c;exit 3"));
  EXPECT_EQ(runner.WaitForAll(), 0);
  EXPECT_THAT(LinesOf(dir / "log"), testing::ElementsAre("/a b", "/c;exit 3"));
}

TEST(CommandRunner, CountsFailures) {
  CommandRunner runner = StartRunner("test /good =");
  ASSERT_TRUE(runner.Run("/good"));
  ASSERT_TRUE(runner.Run("/bad"));
  ASSERT_TRUE(runner.Run("/worse"));
  EXPECT_EQ(runner.WaitForAll(), 2);
  EXPECT_EQ(runner.WaitForAll(), 0);
  EXPECT_EQ(runner.CountFailed(), 0);
}

TEST(CommandRunner, CountsACommandThatASignalEnds) {
  CommandRunner runner = StartRunner("kill -9 $$; :");
  ASSERT_TRUE(runner.Run("/file"));
  EXPECT_EQ(runner.WaitForAll(), 1);
}

TEST(CommandRunner, DoesNotWaitForACommand) {
  const TempDir dir;
  CommandRunner runner = StartRunner("read line < " + (dir / "fifo").string() + "; :");
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  ASSERT_TRUE(runner.Run("/file"));
  EXPECT_EQ(runner.CountFailed(), 0);
  const std::ofstream writer(dir / "fifo");  // lets it end
}

TEST(CommandRunner, RunsSeveralCommandsAtOnce) {
  const TempDir dir;
  const std::string fifo = dir / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // Each waits for the other.
  CommandRunner runner = StartRunner("f() { if [ $1 = /reader ]; then read line < " + fifo +
                                     "; else echo line > " + fifo + "; fi; }; f");
  ASSERT_TRUE(runner.Run("/reader"));
  ASSERT_TRUE(runner.Run("/writer"));
  EXPECT_EQ(runner.WaitForAll(), 0);
}

TEST(CommandRunner, RestoresSignals) {
  const TempDir dir;
  CommandRunner runner =
      StartRunner("grep SigBlk /proc/self/status > " + (dir / "log").string() + "; : ");
  ASSERT_TRUE(runner.Run("/file"));
  EXPECT_EQ(runner.WaitForAll(), 0);
  EXPECT_THAT(LinesOf(dir / "log"), testing::ElementsAre("SigBlk:\t0000000000000000"));
}

// As under the filter of the recorder, which refuses fork(2).
TEST(CommandRunner, NeedsNoForkInTheCallingProcess) {
  const pid_t child = fork();
  if (child == 0) {
    CommandRunner runner = StartRunner("test /file =");
    const rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    if (setuid(12345) != 0 || setrlimit(RLIMIT_NPROC, &none) != 0) _exit(2);
    if (fork() >= 0) _exit(3);
    _exit(runner.Run("/file") && runner.WaitForAll() == 0 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (geteuid() != 0) GTEST_SKIP() << "not root";
  EXPECT_EQ(status, 0);
}

TEST(CommandRunner, ReportsThatItsProcessIsGone) {
  const TempDir dir;
  CommandRunner runner = StartRunner("kill -9 $PPID; :");
  ASSERT_TRUE(runner.Run("/file"));
  EXPECT_EQ(runner.WaitForAll(), 1);
  EXPECT_FALSE(runner.Run("/file"));
}

}  // namespace
}  // namespace perftape::record
