// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP as a request to stop. The first one asks, so that the recording ends
// well; a second one ends the process at once, as if nobody had caught it.
#pragma once

#include <csignal>
#include <memory>
#include <stop_token>
#include <thread>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::record_tool {

// As long as it lives the signals are blocked in the thread that made it and in those that this one
// starts, and a thread of its own waits for them. SIGHUP is left alone where it is ignored (nohup).
class StopSignals {
 public:
  static Result<std::unique_ptr<StopSignals>> Catch();

  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  ~StopSignals();

  std::stop_token token() const { return stop_.get_token(); }

 private:
  StopSignals() = default;
  void Wait();

  sigset_t before_ = {};
  UniqueFd signals_;  // signalfd
  UniqueFd end_;      // eventfd: written to, the thread ends
  std::stop_source stop_;
  std::thread thread_;
};

}  // namespace perftape::record_tool
