// SPDX-License-Identifier: Apache-2.0
// Drains rings on a separate thread between the mapping of a ring and the first flush. Without it
// the kernel could fill a ring meanwhile and drop records.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::record {

class BackgroundDrain {
 public:
  struct Settings {
    int readable_fd = -1;
    std::chrono::milliseconds interval;
    std::chrono::milliseconds longest_first = std::chrono::hours(1);
    int nice = 0;  // of the thread; below 0 needs CAP_SYS_NICE, and is 0 without it
  };
  // Starts a thread that calls `drain` after each `interval`, and whenever `readable_fd` is
  // readable, until Stop or the first error. Until then only the thread may use what `drain` uses.
  // Returns after the first call, or after `longest_first`.
  static Result<BackgroundDrain> Start(const Settings& settings, std::function<Status()> drain);

  BackgroundDrain(BackgroundDrain&&) noexcept = default;
  BackgroundDrain& operator=(BackgroundDrain&&) = delete;
  ~BackgroundDrain();

  // Ends the thread. Returns the first error of `drain`.
  Status Stop();

 private:
  BackgroundDrain() = default;

  UniqueFd end_;                     // eventfd that ends the thread
  std::unique_ptr<Status> outcome_;  // written by the thread; read it after join
  std::thread thread_;
};

}  // namespace perftape::record
