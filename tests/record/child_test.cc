// SPDX-License-Identifier: Apache-2.0
#include "record/child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape {
namespace {

using testing::HasSubstr;

Result<Child> StartShell(const std::string& script,
                         const SignalState& signals = SignalState::Now()) {
  const std::vector<std::string> command = {"sh", "-c", script};
  return Child::Start(command, signals);
}

// The exit status of a shell script.
int StatusOf(const std::string& script) {
  Child child = StartShell(script).value();
  EXPECT_TRUE(child.Release());
  return child.Wait().value();
}

Status Release(const std::vector<std::string>& command) {
  return Child::Start(command, SignalState::Now()).value().Release();
}

TEST(Child, DoesNotRunBeforeItIsReleased) {
  const TempDir dir;
  Child child = StartShell("echo ran > " + (dir / "ran").string()).value();
  EXPECT_EQ(child.TryWait().value(), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(dir / "ran"));

  ASSERT_TRUE(child.Release());
  EXPECT_EQ(child.Wait().value(), 0);
  EXPECT_TRUE(std::filesystem::exists(dir / "ran"));
}

TEST(Child, IsTheProcessThatRunsTheCommand) {
  const TempDir dir;
  Child child = StartShell("echo $$ > " + (dir / "pid").string()).value();
  ASSERT_TRUE(child.Release());
  ASSERT_TRUE(child.Wait());
  pid_t pid = 0;
  std::ifstream(dir / "pid") >> pid;
  EXPECT_EQ(pid, child.pid());
}

TEST(Child, PassesTheExitStatusOn) {
  EXPECT_EQ(StatusOf("exit 0"), 0);
  EXPECT_EQ(StatusOf("exit 42"), 42);
}

TEST(Child, TellsASignalAsAShellDoes) {
  EXPECT_EQ(StatusOf("kill -TERM $$"), 128 + SIGTERM);
}

TEST(Child, RemembersItsExitStatus) {
  Child child = StartShell("exit 3").value();
  ASSERT_TRUE(child.Release());
  EXPECT_EQ(child.Wait().value(), 3);
  EXPECT_EQ(child.Wait().value(), 3);
  EXPECT_EQ(child.TryWait().value(), 3);
}

TEST(Child, SaysThatACommandIsNotInThePath) {
  EXPECT_THAT(Release({"no-such-command"}),
              FailsWith(ErrorCode::kNotFound, "no-such-command: no such command in $PATH"));
}

TEST(Child, SaysThatAFileIsNotThere) {
  EXPECT_THAT(Release({"/no/such/file"}),
              FailsWith(ErrorCode::kNotFound, HasSubstr("/no/such/file")));
}

TEST(Child, SaysThatAFileMayNotBeExecuted) {
  const TempDir dir;
  const std::filesystem::path file = dir.Write("plain", "text\n");
  EXPECT_THAT(Release({file.string()}),
              FailsWith(ErrorCode::kPermission, HasSubstr(file.string())));
}

TEST(Child, NeedsACommand) {
  EXPECT_THAT(Child::Start({}, SignalState::Now()), FailsWith(ErrorCode::kInvalidArgument));
}

TEST(Child, IsReleasedOnlyOnce) {
  Child child = StartShell("exit 0").value();
  ASSERT_TRUE(child.Release());
  EXPECT_THAT(child.Release(), FailsWith(ErrorCode::kInvalidArgument));
  ASSERT_TRUE(child.Wait());
}

TEST(Child, LeavesNothingBehindWhenNeverReleased) {
  const TempDir dir;
  pid_t pid = 0;
  {
    const Child child = StartShell("echo ran > " + (dir / "ran").string()).value();
    pid = child.pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
  EXPECT_FALSE(std::filesystem::exists(dir / "ran"));
}

TEST(Child, NeverRunsIfTheRecorderDies) {
  const TempDir dir;
  int alive[2];  // the waiting command holds the write end until it ends
  ASSERT_EQ(pipe2(alive, O_CLOEXEC), 0);
  const pid_t recorder = fork();
  ASSERT_GE(recorder, 0);
  if (recorder == 0) {
    const Result<Child> child = StartShell("echo ran > " + (dir / "ran").string());
    (void)raise(SIGKILL);
  }
  close(alive[1]);
  ASSERT_EQ(waitpid(recorder, nullptr, 0), recorder);
  char byte = 0;
  EXPECT_EQ(read(alive[0], &byte, 1), 0) << "the command has ended";
  close(alive[0]);
  EXPECT_FALSE(std::filesystem::exists(dir / "ran"));
}

TEST(Child, ThatWasKilledBeforeItRanTellsSo) {
  Child child = StartShell("exit 0").value();
  ASSERT_TRUE(child.Send(SIGKILL));
  pollfd end = {.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&end, 1, -1), 1);
  EXPECT_TRUE(child.Release()) << "and no SIGPIPE";
  EXPECT_EQ(child.Wait().value(), 128 + SIGKILL);
}

TEST(Child, MakesItsPidfdReadableAtItsEnd) {
  Child child = StartShell("exit 0").value();
  pollfd end = {.fd = child.pidfd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&end, 1, 0), 0);
  ASSERT_TRUE(child.Release());
  EXPECT_EQ(poll(&end, 1, -1), 1);
  EXPECT_EQ(child.TryWait().value(), 0);
}

TEST(Child, TakesASignal) {
  Child child = StartShell("while :; do :; done").value();
  ASSERT_TRUE(child.Release());
  ASSERT_TRUE(child.Send(SIGTERM));
  EXPECT_EQ(child.Wait().value(), 128 + SIGTERM);
  EXPECT_TRUE(child.Send(SIGTERM)) << "to one that has ended: nothing";
}

// Bit n-1 of a signal set in /proc/self/status, as the command `script` sees it.
bool CommandHas(const char* set, int signal, const SignalState& signals) {
  const TempDir dir;
  const std::filesystem::path file = dir / "set";
  const std::vector<std::string> command = {
      "sh", "-c", std::string("exec grep ") + set + ": /proc/self/status > " + file.string()};
  Child child = Child::Start(command, signals).value();
  EXPECT_TRUE(child.Release());
  EXPECT_EQ(child.Wait().value(), 0);
  std::string name;
  std::uint64_t bits = 0;
  std::ifstream(file) >> name >> std::hex >> bits;
  return ((bits >> (signal - 1)) & 1) != 0;
}

TEST(Child, DoesNotInheritWhatTheRecorderBlocksForItself) {
  const SignalState before = SignalState::Now();
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  EXPECT_FALSE(CommandHas("SigBlk", SIGTERM, before));
  pthread_sigmask(SIG_UNBLOCK, &term, nullptr);
}

TEST(Child, DoesNotInheritWhatTheRecorderIgnoresForItself) {
  const SignalState before = SignalState::Now();
  (void)signal(SIGPIPE, SIG_IGN);
  EXPECT_FALSE(CommandHas("SigIgn", SIGPIPE, before));
  (void)signal(SIGPIPE, SIG_DFL);
}

// nohup perftape-record -- command
TEST(Child, GoesOnIgnoringWhatTheUserLetItIgnore) {
  (void)signal(SIGHUP, SIG_IGN);
  const SignalState before = SignalState::Now();
  (void)signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(CommandHas("SigIgn", SIGHUP, before));
}

}  // namespace
}  // namespace perftape
