// SPDX-License-Identifier: Apache-2.0
#include "record/processes/child.h"

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

namespace perftape::record {
namespace {

using testing::HasSubstr;

Result<Child> StartShell(const std::string& script,
                         const SignalState& signals = SignalState::Now()) {
  const std::vector<std::string> command = {"sh", "-c", script};
  return Child::Start(command, signals);
}

// Returns the exit status of a shell script.
int StatusOf(const std::string& script) {
  Child child = StartShell(script).value();
  EXPECT_TRUE(child.Release());
  return child.Wait().value();
}

Result<Child> Start(const std::vector<std::string>& command) {
  return Child::Start(command, SignalState::Now());
}

// Writes an executable file and returns its command line.
std::vector<std::string> Program(const TempDir& dir, std::string_view content) {
  const std::filesystem::path file = dir.Write("program", content);
  EXPECT_EQ(::chmod(file.c_str(), 0755), 0);
  return {file};
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

TEST(Child, ReportsASignalAsAShellDoes) {
  EXPECT_EQ(StatusOf("kill -TERM $$"), 128 + SIGTERM);
}

TEST(Child, RemembersItsExitStatus) {
  Child child = StartShell("exit 3").value();
  ASSERT_TRUE(child.Release());
  EXPECT_EQ(child.Wait().value(), 3);
  EXPECT_EQ(child.Wait().value(), 3);
  EXPECT_EQ(child.TryWait().value(), 3);
}

TEST(Child, IsNotStartedWhereThereIsNoSuchCommand) {
  EXPECT_THAT(Start({"no-such-command"}),
              FailsWith(ErrorCode::kNotFound, "no-such-command: no such command in $PATH"));
}

TEST(Child, RunsAScriptWithoutAnInterpreterByTheShell) {
  const TempDir dir;
  Child child = Start(Program(dir, "exit 7\n")).value();
  ASSERT_TRUE(child.Release());
  EXPECT_EQ(child.Wait().value(), 7);
}

TEST(Child, ReportsAMissingInterpreter) {
  const TempDir dir;
  EXPECT_THAT(Start(Program(dir, "#!/no/such/shell\n"))->Release(),
              FailsWith(ErrorCode::kUnsupported, HasSubstr("interpreter")));
}

TEST(Child, DoesNotLetTheShellRunWhatIsNoText) {
  const TempDir dir;
  EXPECT_THAT(Start(Program(dir, std::string_view("MZ\0\1", 4)))->Release(),
              FailsWith(ErrorCode::kIo, HasSubstr("Exec format error")));
}

TEST(Child, WritesToStderrWhereStdoutIsTheRecordings) {
  const TempDir dir;
  const auto redirected = [&](int fd, const char* name) {
    const int before = dup(fd);
    const int file = open((dir / name).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    dup2(file, fd);
    close(file);
    return before;
  };
  const int out = redirected(STDOUT_FILENO, "out"), err = redirected(STDERR_FILENO, "err");
  const std::vector<std::string> command = {"sh", "-c", "echo hello"};
  Child child = Child::Start(command, SignalState::Now(), CommandOutput::kStderr).value();
  EXPECT_TRUE(child.Release());
  EXPECT_EQ(child.Wait().value(), 0);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(out);
  close(err);
  EXPECT_EQ(ReadWholeFile(dir / "out").value(), "");
  EXPECT_EQ(ReadWholeFile(dir / "err").value(), "hello\n");
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
  int alive[2];  // the waiting command keeps the write end open until it ends
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

TEST(Child, ReportsAKillBeforeItsExec) {
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

TEST(Child, ForwardsASignal) {
  Child child = StartShell("while :; do :; done").value();
  ASSERT_TRUE(child.Release());
  ASSERT_TRUE(child.Send(SIGTERM));
  EXPECT_EQ(child.Wait().value(), 128 + SIGTERM);
  EXPECT_TRUE(child.Send(SIGTERM)) << "to one that has ended: nothing";
}

// Returns bit n-1 of a signal set in /proc/self/status, in the command `script`.
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
TEST(Child, InheritsIgnoredSignals) {
  (void)signal(SIGHUP, SIG_IGN);
  const SignalState before = SignalState::Now();
  (void)signal(SIGHUP, SIG_DFL);
  EXPECT_TRUE(CommandHas("SigIgn", SIGHUP, before));
}

}  // namespace
}  // namespace perftape::record
