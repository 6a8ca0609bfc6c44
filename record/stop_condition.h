// SPDX-License-Identifier: Apache-2.0
// Ends a recording for an external reason: a request, or the end of its duration.
#pragma once

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "formats/base/file.h"
#include "record/machine/clock.h"

namespace perftape::record {

class StopCondition {
 public:
  // `clock` must outlive this object.
  StopCondition(std::stop_token stop, Clock& clock)
      : clock_(clock),
        stop_(stop),
        fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        callback_(std::move(stop), Wake{fd_.get()}) {}

  // Sets the deadline to now plus `duration`.
  void StartTimer(std::chrono::nanoseconds duration) {
    deadline_ns_ = clock_.MonotonicNs() + static_cast<std::uint64_t>(duration.count());
  }

  // Returns whether a stop was requested or the deadline has passed.
  bool IsMet() const {
    return stop_.stop_requested() || (deadline_ns_ && clock_.MonotonicNs() >= *deadline_ns_);
  }

  // Returns the time to the deadline, at most `longest`, rounded up: a timeout for poll(2).
  std::chrono::milliseconds Timeout(std::chrono::milliseconds longest) const {
    if (!deadline_ns_) return longest;
    const std::uint64_t now_ns = clock_.MonotonicNs();
    const std::chrono::nanoseconds left(*deadline_ns_ - std::min(now_ns, *deadline_ns_));
    return std::min(
        std::chrono::floor<std::chrono::milliseconds>(left) + std::chrono::milliseconds(1),
        longest);
  }

  const std::stop_token& token() const { return stop_; }
  // Becomes readable when a stop is requested. It belongs to this object.
  int poll_fd() const { return fd_.get(); }

 private:
  struct Wake {
    int fd;
    void operator()() const { (void)eventfd_write(fd, 1); }
  };

  Clock& clock_;
  std::stop_token stop_;
  UniqueFd fd_;
  std::stop_callback<Wake> callback_;
  std::optional<std::uint64_t> deadline_ns_;
};

}  // namespace perftape::record
