// SPDX-License-Identifier: Apache-2.0
#include "record/processes/child.h"

#include <fmt/core.h>
#include <paths.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "record/processes/executable.h"

namespace perftape::record {
namespace {

struct Channel {
  UniqueFd parent_end, child_end;
};

// Both ends close on exec. It is a socket because send() can suppress SIGPIPE if the reader was
// killed.
Result<Channel> MakeChannel() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return FailErrno("a channel to the command", errno);
  }
  return Channel{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Returns false also at the end of the stream.
bool ReadExactly(int fd, void* to, std::size_t size) {
  ssize_t got = 0;
  do {
    got = read(fd, to, size);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(size);
}

// The arguments of exec, made before the fork.
struct ExecPlan {
  const Executable& executable;
  const SignalState& signals;
  CommandOutput output;
  std::vector<char*> arguments, shell_arguments;  // each ends with a null
};

ExecPlan MakeExecPlan(const Executable& executable, std::span<const std::string> command,
                      const SignalState& signals, CommandOutput output) {
  ExecPlan plan{executable, signals, output, {}, {}};
  // execv does not change the strings.
  const auto word = [](const std::string& text) { return const_cast<char*>(text.c_str()); };
  static const std::string kShell = _PATH_BSHELL;
  plan.shell_arguments = {word(kShell), word(executable.path)};
  for (const std::string& argument : command) plan.arguments.push_back(word(argument));
  plan.arguments.push_back(nullptr);
  plan.shell_arguments.insert(plan.shell_arguments.end(), plan.arguments.begin() + 1,
                              plan.arguments.end());
  return plan;
}

// Runs in the child. Makes only calls that are safe after a fork in a threaded program.
[[noreturn]] void WaitAndExec(const ExecPlan& plan, int channel) {
  constexpr int kNotReleased = 125;
  constexpr int kExecFailed = 127;
  char released = 0;
  // End of file: the recorder failed or died.
  if (!ReadExactly(channel, &released, 1)) _exit(kNotReleased);
  if (plan.output == CommandOutput::kStderr) (void)dup2(STDERR_FILENO, STDOUT_FILENO);
  plan.signals.Restore();
  execv(plan.executable.path.c_str(), plan.arguments.data());
  // A script without "#!" is run as by execvp(3).
  if (errno == ENOEXEC && plan.executable.may_be_script) {
    execv(_PATH_BSHELL, plan.shell_arguments.data());
  }
  const int error_number = errno;
  [[maybe_unused]] const ssize_t written = write(channel, &error_number, sizeof error_number);
  _exit(kExecFailed);
}

// Explains a failed exec of a command that was found.
std::unexpected<Error> ExplainExec(const std::string& name, int error_number) {
  if (error_number == ENOENT) {
    return Fail(ErrorCode::kUnsupported, name + ": the interpreter that it names does not exist");
  }
  return FailErrno(name, error_number);
}

int ExitStatusOf(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace

SignalState SignalState::Now() {
  SignalState state;
  pthread_sigmask(SIG_BLOCK, nullptr, &state.blocked_);
  sigemptyset(&state.ignored_);
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      sigaddset(&state.ignored_, signal);
    }
  }
  return state;
}

void SignalState::Restore() const {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    action.sa_handler = sigismember(&ignored_, signal) == 1 ? SIG_IGN : SIG_DFL;
    sigaction(signal, &action, nullptr);  // fails for SIGKILL and SIGSTOP, as it should
  }
  pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
}

Result<Child> Child::Start(std::span<const std::string> command, const SignalState& signals,
                           CommandOutput output) {
  if (command.empty()) return Fail(ErrorCode::kInvalidArgument, "no command to run");
  TRY_ASSIGN(const Executable executable, FindExecutable(command.front()));
  const ExecPlan plan = MakeExecPlan(executable, command, signals, output);
  TRY_ASSIGN(Channel channel, MakeChannel());

  const pid_t pid = fork();
  if (pid < 0) return FailErrno("starting the command", errno);
  if (pid == 0) {
    close(channel.parent_end.get());
    WaitAndExec(plan, channel.child_end.get());
  }
  Child child;
  child.pid_ = pid;
  child.name_ = command.front();
  child.channel_ = std::move(channel.parent_end);
  child.pidfd_ = UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!child.pidfd_) return FailErrno("watching the command", errno);
  return child;
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      name_(std::move(other.name_)),
      pidfd_(std::move(other.pidfd_)),
      channel_(std::move(other.channel_)),
      exit_status_(other.exit_status_) {}

Child::~Child() {
  const bool waits_for_release = static_cast<bool>(channel_);
  channel_.Reset();
  if (waits_for_release) (void)Wait();
}

Status Child::Release() {
  if (!channel_) return Fail(ErrorCode::kInvalidArgument, name_ + ": released already");
  const UniqueFd channel = std::move(channel_);
  const char released = 1;
  // If a signal has ended the command meanwhile, this fails and Wait returns its status.
  if (send(channel.get(), &released, 1, MSG_NOSIGNAL) != 1) return {};
  int error_number = 0;
  const bool exec_failed = ReadExactly(channel.get(), &error_number, sizeof error_number);
  if (!exec_failed) return {};
  (void)Wait();
  return ExplainExec(name_, error_number);
}

Result<int> Child::Wait() {
  TRY_ASSIGN(const std::optional<int> status, Reap(0));
  return *status;
}

Result<std::optional<int>> Child::TryWait() {
  return Reap(WNOHANG);
}

// Without WNOHANG it always returns a status.
Result<std::optional<int>> Child::Reap(int options) {
  if (exit_status_) return exit_status_;
  int wait_status = 0;
  pid_t reaped = 0;
  do {
    reaped = waitpid(pid_, &wait_status, options);
  } while (reaped < 0 && errno == EINTR);
  if (reaped < 0) return FailErrno(fmt::format("waiting for {}", name_), errno);
  if (reaped > 0) exit_status_ = ExitStatusOf(wait_status);
  return exit_status_;
}

Status Child::Send(int signal) {
  if (exit_status_) return {};
  // Not kill(2), which the sandbox refuses: a pidfd names no other process.
  if (syscall(SYS_pidfd_send_signal, pidfd_.get(), signal, nullptr, 0) != 0 && errno != ESRCH) {
    return FailErrno(fmt::format("signal {} to {}", signal, name_), errno);
  }
  return {};
}

}  // namespace perftape::record
