// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/process_lifecycle.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>

#include "record/machine/clock.h"
#include "tools/serve/channels/channel.h"
#include "tools/serve/service_manager.h"

namespace perftape::serve {
namespace {

std::string_view NameOf(Role role) {
  constexpr std::string_view kNames[] = {"recorder", "importer", "server", "pusher", "trial"};
  return kNames[static_cast<std::size_t>(role)];
}

bool IsSuccess(int status) {
  return WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS;
}

std::string CauseOf(int status) {
  return WIFSIGNALED(status) ? fmt::format(" by signal {}", WTERMSIG(status)) : std::string();
}

}  // namespace

Result<UniqueFd> CatchServiceSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&set, signal);
  if (sigprocmask(SIG_BLOCK, &set, nullptr) != 0) return FailErrno("signals", errno);
  UniqueFd fd(signalfd(-1, &set, SFD_CLOEXEC));
  if (!fd) return FailErrno("signals", errno);
  return fd;
}

Status ProcessLifecycle::Start(Role role) {
  Channel started;
  if (role == Role::kRecorder) {
    TRY_ASSIGN(started, MakeChannel(ChannelKind::kMessages));
  }
  TRY_ASSIGN(const pid_t pid, actions_.start(role, std::move(started.sender)));
  if (role == Role::kRecorder) started_ = std::move(started.receiver);
  running_[role] = {.pid = pid, .since_ns = record::MonotonicNs()};
  return {};
}

int ProcessLifecycle::Wait(int signals) {
  while (!running_.empty() || !due_ns_.empty() || !recordings_.empty()) {
    pollfd waits[] = {{.fd = signals, .events = POLLIN, .revents = 0},
                      {.fd = recordings_.poll_fd(), .events = POLLIN, .revents = 0},
                      {.fd = started_.get(), .events = POLLIN, .revents = 0}};
    const int ready = poll(&waits[0], std::size(waits), MillisecondsToWait());
    if (ready < 0) continue;
    if (waits[1].revents != 0) recordings_.AcceptCommand();
    if (waits[2].revents != 0) AcceptStart();
    if (waits[0].revents != 0) AcceptSignal(signals);
    StartDue();
  }
  return has_failed_ ? EXIT_FAILURE : EXIT_SUCCESS;
}

void ProcessLifecycle::AcceptSignal(int signals) {
  signalfd_siginfo signal = {};
  if (read(signals, &signal, sizeof signal) != sizeof signal) return;
  if (signal.ssi_signo == SIGCHLD) {
    Reap();
  } else if (signal.ssi_signo != SIGHUP) {
    EndAll();
  } else if (!is_ending_) {
    Reload();
  }
}

// All events are recorded now, or the recorder has ended before.
void ProcessLifecycle::AcceptStart() {
  char byte = 0;
  const bool has_begun = recv(started_.get(), &byte, 1, MSG_DONTWAIT) == 1;
  started_.Reset();
  if (!has_begun) return;
  if (!std::exchange(has_recorded_, true)) {
    if (const Status notified = NotifyServiceManager("READY=1"); !notified)
      console_.Warning(notified.error().message);
  }
  is_new_ = false;
  recorded_since_ns_ = record::MonotonicNs();
  TellServer();
}

void ProcessLifecycle::TellServer() {
  if (const Status notified = actions_.tell_server(recorded_since_ns_); !notified && !is_ending_)
    console_.Warning(notified.error().message);
}

void ProcessLifecycle::Reload() {
  if (running_.contains(Role::kTrial)) {
    is_reload_due_ = true;
  } else if (actions_.reload()) {
    if (const Status started = Start(Role::kTrial); !started)
      console_.Warning("SIGHUP: the old options stay: " + started.error().message);
  }
}

void ProcessLifecycle::EndTrial(LifecycleActions::Trial trial) {
  if (trial == LifecycleActions::Trial::kFailed)
    console_.Warning("SIGHUP: the old options stay, because the new ones cannot be recorded");
  if (is_ending_) return;
  if (actions_.end_trial(trial)) {
    is_new_ = is_restarting_ = true;
    Kill(Role::kRecorder, SIGTERM);
    if (!running_.contains(Role::kRecorder)) due_ns_[Role::kRecorder] = 0;
  }
  if (std::exchange(is_reload_due_, false)) Reload();
}

void ProcessLifecycle::Kill(Role role, int signal) const {
  const auto found = running_.find(role);
  if (found != running_.end()) (void)kill(found->second.pid, signal);
}

void ProcessLifecycle::EndAll() {
  is_ending_ = true;
  due_ns_.clear();
  recordings_.EndAll();
  actions_.end_channels();
  Kill(Role::kTrial, SIGKILL);
  Kill(Role::kRecorder, SIGTERM);
}

void ProcessLifecycle::Reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
    const bool is_good = IsSuccess(status);
    if (recordings_.HasEnded(pid, is_good)) continue;
    const auto found =
        std::ranges::find(running_, pid, [](const auto& entry) { return entry.second.pid; });
    if (found == running_.end()) continue;
    const auto [role, process] = *found;
    running_.erase(found);
    if (role == Role::kTrial) {
      EndTrial(is_good ? LifecycleActions::Trial::kGood : LifecycleActions::Trial::kFailed);
    } else {
      HasEnded(role, process, status);
    }
  }
}

void ProcessLifecycle::HasEnded(Role role, const Process& process, int status) {
  const bool is_good = IsSuccess(status);
  if (role == Role::kRecorder) {
    AcceptStart();
    recorded_since_ns_.reset();
    TellServer();
  }
  if (is_ending_) {
    if (!is_good) ReportEnd(role, status);
    return;
  }
  const bool is_wanted = role == Role::kRecorder && std::exchange(is_restarting_, false);
  if (is_wanted && is_good) {
    due_ns_[role] = 0;
    return;
  }
  if (role == Role::kRecorder && std::exchange(is_new_, false)) {
    actions_.restore();
    console_.Warning("SIGHUP: the old options are back, because recording the new ones failed");
  } else if (!has_recorded_) {
    ReportEnd(role, status);
    return EndAll();
  }
  StartAgain(role, process, status);
}

void ProcessLifecycle::StartAgain(Role role, const Process& process, int status) {
  const bool is_good = IsSuccess(status);
  const std::uint64_t now_ns = record::MonotonicNs();
  const auto delay = delays_[role].After(std::chrono::nanoseconds(now_ns - process.since_ns));
  const bool is_planned = role == Role::kPusher && is_good;  // after a new importer
  if (!is_planned) {
    console_.Warning(
        fmt::format("the {} has ended{}: starting it again", NameOf(role), CauseOf(status)));
  }
  due_ns_[role] = now_ns + static_cast<std::uint64_t>(delay.count());
}

void ProcessLifecycle::StartDue() {
  const std::uint64_t now_ns = record::MonotonicNs();
  for (const Role role : {Role::kServer, Role::kImporter, Role::kPusher, Role::kRecorder}) {
    const auto found = due_ns_.find(role);
    if (found == due_ns_.end() || found->second > now_ns) continue;
    due_ns_.erase(found);
    const Status started = Start(role);
    if (started) {
      if (role == Role::kServer && recorded_since_ns_) TellServer();
      continue;
    }
    console_.Error(started.error().message);
    due_ns_[role] = now_ns + static_cast<std::uint64_t>(
                                 std::chrono::nanoseconds(RestartDelay::kLongest).count());
  }
}

int ProcessLifecycle::MillisecondsToWait() const {
  constexpr std::uint64_t kNsOfAMillisecond = 1'000'000;
  if (due_ns_.empty()) return -1;
  const std::uint64_t now_ns = record::MonotonicNs();
  const std::uint64_t due_ns =
      std::ranges::min_element(due_ns_, {}, [](const auto& entry) { return entry.second; })->second;
  return static_cast<int>((due_ns - std::min(due_ns, now_ns)) / kNsOfAMillisecond) + 1;
}

void ProcessLifecycle::ReportEnd(Role role, int status) {
  has_failed_ = true;
  console_.Error(fmt::format("the {} has ended{}", NameOf(role), CauseOf(status)));
}

}  // namespace perftape::serve
