// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM, SIGHUP, and those that would end the recorder by mistake (SIGUSR1, SIGUSR2,
// SIGXFSZ), as a request to stop. The first one asks, so that the recording ends well. What comes
// within a second of it is the same request: timeout(1) signals its child and then the whole
// process group. A later one ends the process, as if nobody had caught it.
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

namespace perftape::record_tool {

// From then on the signals are blocked in the thread that made it and in those that this one
// starts, and a thread of its own waits for them, as long as this lives. They stay blocked behind
// it: a repeated signal must not end a program whose work is done. SIGHUP is left alone where it is
// ignored (nohup).
class StopSignals {
 public:
  using Clock = std::chrono::steady_clock;

  // `before_end` is called, in the thread that waits, when a second signal is about to end the
  // process. It must not block.
  static Result<std::unique_ptr<StopSignals>> Catch(
      std::function<void(int signal)> before_end,
      std::function<Clock::time_point()> now = &Clock::now);

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
  std::optional<Clock::time_point> first_;  // of the signals that arrived
  UniqueFd signals_;                        // signalfd
  UniqueFd end_;                            // eventfd: written to, the thread ends
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace perftape::record_tool
