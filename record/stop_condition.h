// SPDX-License-Identifier: Apache-2.0
// The end of a recording by an external cause: a request, or the end of its duration.
#pragma once

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "formats/base/file.h"
#include "record/machine/monotonic_clock.h"

namespace perftape::record {

class StopCondition {
 public:
  explicit StopCondition(std::stop_token stop)
      : stop_(stop),
        fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        callback_(std::move(stop), Wake{fd_.get()}) {}

  // Sets the deadline to now plus `duration`.
  void StartTimer(std::chrono::nanoseconds duration) {
    deadline_ns_ = MonotonicNs() + static_cast<std::uint64_t>(duration.count());
  }

  // Returns whether a stop was requested or the deadline has passed.
  bool IsMet() const {
    return stop_.stop_requested() || (deadline_ns_ && MonotonicNs() >= *deadline_ns_);
  }

  // Returns the time to the deadline, at most `longest`, rounded up to milliseconds: a timeout for
  // poll(2).
  int TimeoutMs(std::chrono::milliseconds longest) const {
    const auto longest_ms = static_cast<std::uint64_t>(longest.count());
    if (!deadline_ns_) return static_cast<int>(longest_ms);
    const std::uint64_t now = MonotonicNs();
    const std::uint64_t left_ns = *deadline_ns_ > now ? *deadline_ns_ - now : 0;
    return static_cast<int>(std::min(left_ns / 1'000'000 + 1, longest_ms));
  }

  const std::stop_token& token() const { return stop_; }
  // Becomes readable when a stop is requested. It belongs to this object.
  int poll_fd() const { return fd_.get(); }

 private:
  struct Wake {
    int fd;
    void operator()() const { (void)eventfd_write(fd, 1); }
  };

  std::stop_token stop_;
  UniqueFd fd_;
  std::stop_callback<Wake> callback_;
  std::optional<std::uint64_t> deadline_ns_;
};

}  // namespace perftape::record
