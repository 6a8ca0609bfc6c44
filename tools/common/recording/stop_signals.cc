// SPDX-License-Identifier: Apache-2.0
#include "tools/common/recording/stop_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

namespace perftape::recording {
namespace {

constexpr std::chrono::seconds kSameRequest(1);

sigset_t SignalsThatStop() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ}) sigaddset(&set, number);
  struct sigaction action = {};
  const bool is_ignored = sigaction(SIGHUP, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  if (!is_ignored) sigaddset(&set, SIGHUP);
  return set;
}

// Ends the process with the default action of signal `number`.
void DieOf(int number) {
  (void)std::signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  (void)std::raise(number);
}

}  // namespace

Result<std::unique_ptr<StopSignals>> StopSignals::Catch(std::function<void(int)> before_end,
                                                        std::function<Clock::time_point()> now,
                                                        std::function<void()> on_usr2) {
  std::unique_ptr<StopSignals> signals(new StopSignals);
  signals->before_end_ = std::move(before_end);
  signals->now_ = std::move(now);
  signals->on_usr2_ = std::move(on_usr2);
  const sigset_t set = SignalsThatStop();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals->signals_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC));
  if (!signals->signals_) return FailErrno("signalfd", errno);
  signals->end_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  if (!signals->end_) return FailErrno("eventfd", errno);
  signals->thread_ = std::thread(&StopSignals::Wait, signals.get());
  return signals;
}

StopSignals::~StopSignals() {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    (void)WriteAll(end_.get(), std::as_bytes(std::span(&one, 1)));
    thread_.join();
  }
}

void StopSignals::Wait() {
  while (true) {
    pollfd waits[] = {{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                      {.fd = end_.get(), .events = POLLIN, .revents = 0}};
    if (poll(waits, std::size(waits), -1) < 0) continue;
    if (waits[1].revents != 0) return;
    signalfd_siginfo arrived = {};
    if (read(signals_.get(), &arrived, sizeof arrived) != sizeof arrived) continue;
    Arrived(static_cast<int>(arrived.ssi_signo));
  }
}

void StopSignals::Arrived(int signal) {
  if (signal == SIGUSR2 && on_usr2_) return on_usr2_();
  const Clock::time_point now = now_();
  if (!first_) first_ = now;
  stop_.request_stop();
  if (now - *first_ < kSameRequest) return;
  before_end_(signal);
  DieOf(signal);
}

}  // namespace perftape::recording
