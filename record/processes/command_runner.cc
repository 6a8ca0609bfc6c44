// SPDX-License-Identifier: Apache-2.0
#include "record/processes/command_runner.h"

#include <paths.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

namespace perftape::record {
namespace {

constexpr int kExecFailed = 127;
constexpr int kStatusOfFailedStart = kExecFailed << 8;  // as of waitpid(2)

// All that follows runs in the forked process. The recorder has threads, so only calls that are
// safe after a fork are made.
struct Service {
  int channel;
  const char* script;
  const SignalState& signals;
};

void SendStatus(const Service& service, int status) {
  (void)send(service.channel, &status, sizeof status, MSG_NOSIGNAL);
}

void Execute(const Service& service, const char* file) {
  const pid_t pid = fork();
  if (pid < 0) SendStatus(service, kStatusOfFailedStart);
  if (pid != 0) return;
  service.signals.Restore();
  execl(_PATH_BSHELL, "sh", "-c", service.script, "sh", file, nullptr);
  _exit(kExecFailed);
}

void ReportEnded(const Service& service, int child_signals) {
  signalfd_siginfo arrived = {};
  (void)!read(child_signals, &arrived, sizeof arrived);  // one for any number of children
  int status = 0;
  while (waitpid(-1, &status, WNOHANG) > 0) SendStatus(service, status);
}

// Reads a name and starts the command. Ends the process if there will be no more names.
void AcceptName(const Service& service) {
  char file[PATH_MAX + 1];
  const ssize_t size = recv(service.channel, file, sizeof file - 1, 0);
  if (size < 0 && errno == EINTR) return;
  if (size <= 0) _exit(0);
  file[size] = '\0';
  Execute(service, file);
}

// Signals of the terminal are for the recorder. They are blocked here.
[[noreturn]] void Serve(const Service& service) {
  (void)prctl(PR_SET_NAME, "perftape-exec");
  (void)std::signal(SIGCHLD, SIG_DFL);
  sigset_t set;
  sigfillset(&set);
  pthread_sigmask(SIG_SETMASK, &set, nullptr);
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  const int child_signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (child_signals < 0) _exit(kExecFailed);
  while (true) {
    pollfd waits[] = {{.fd = child_signals, .events = POLLIN, .revents = 0},
                      {.fd = service.channel, .events = POLLIN, .revents = 0}};
    if (poll(waits, std::size(waits), -1) < 0) continue;
    if (waits[0].revents != 0) ReportEnded(service, child_signals);
    if (waits[1].revents != 0) AcceptName(service);
  }
}

}  // namespace

Result<CommandRunner> CommandRunner::Start(const std::string& command, const SignalState& signals) {
  const std::string script = command + " \"$@\"";
  int ends[2] = {};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return FailErrno("a channel to the process for commands", errno);
  }
  CommandRunner runner;
  runner.channel_ = UniqueFd(ends[0]);
  const UniqueFd other_end(ends[1]);
  runner.pid_ = fork();
  if (runner.pid_ < 0) return FailErrno("starting the process for commands", errno);
  if (runner.pid_ == 0) {
    close(ends[0]);
    Serve({.channel = ends[1], .script = script.c_str(), .signals = signals});
  }
  return runner;
}

CommandRunner::CommandRunner(CommandRunner&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      channel_(std::move(other.channel_)),
      running_(std::exchange(other.running_, 0)) {}

CommandRunner::~CommandRunner() {
  channel_.Reset();
  while (pid_ > 0 && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Status CommandRunner::Run(const std::filesystem::path& file) {
  const std::string& name = file.native();
  if (send(channel_.get(), name.data(), name.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
    return FailErrno("the process for commands", errno);
  }
  ++running_;
  return {};
}

std::uint64_t CommandRunner::CountFailed() {
  return ReadStatuses(MSG_DONTWAIT);
}

std::uint64_t CommandRunner::WaitForAll() {
  return ReadStatuses(0);
}

// If the process was killed, all commands whose end is unknown have failed.
std::uint64_t CommandRunner::ReadStatuses(int flags) {
  std::uint64_t failed = 0;
  while (running_ > 0) {
    int status = 0;
    const ssize_t size = recv(channel_.get(), &status, sizeof status, flags);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size <= 0) return failed + std::exchange(running_, 0);
    --running_;
    if (status != 0) ++failed;
  }
  return failed;
}

}  // namespace perftape::record
