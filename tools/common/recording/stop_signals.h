// SPDX-License-Identifier: Apache-2.0
// Converts SIGINT, SIGTERM, SIGHUP, and signals that would end the recorder by mistake (SIGUSR1,
// SIGUSR2, SIGXFSZ) into a request to stop. The first signal requests the stop, so that the
// recording is completed. Signals within a second of it are ignored: timeout(1) signals its child
// and then the whole process group. A later signal ends the process with its default action.
// SIGUSR2 may instead begin the next file of a rotating recording, as in perf record, or write one
// of a flight recording.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::recording {

// Blocks the signals in the thread that creates it and in threads that this thread starts later. A
// thread of its own waits for them as long as this object lives. The signals stay blocked
// afterwards, because a repeated signal must not end a program that has finished its work. SIGHUP
// is not caught if it is ignored (nohup).
class StopSignals {
 public:
  using Clock = std::chrono::steady_clock;

  // Calls `before_end` in the waiting thread, just before a second signal ends the process. It must
  // not block.
  // If `on_usr2` is given, SIGUSR2 calls it in that thread instead of requesting the stop.
  static Result<std::unique_ptr<StopSignals>> Catch(
      std::function<void(int signal)> before_end,
      std::function<Clock::time_point()> now = &Clock::now, std::function<void()> on_usr2 = {});

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  std::stop_token token() const { return stop_.get_token(); }

 private:
  StopSignals() = default;
  void Wait();
  void Arrived(int signal);

  std::function<void(int)> before_end_;
  std::function<Clock::time_point()> now_;
  std::function<void()> on_usr2_;           // may be empty
  std::optional<Clock::time_point> first_;  // time of the first signal
  UniqueFd signals_;                        // signalfd
  UniqueFd end_;                            // eventfd: a write ends the thread
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace perftape::recording
