// SPDX-License-Identifier: Apache-2.0
// The requests that wait for a window: each is about counts up to a time. When that time has come,
// the recorder is asked to end its window. When a window has come that ends at the time or later, a
// thread does the work of the request.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/serve/http_server.h"

namespace perftape::serve {

class PendingRequests {
 public:
  // Whether the window came in time.
  enum class Outcome : std::uint8_t { kReady, kTooLate };
  using Work = std::function<void(Outcome)>;

  // `cut` asks the recorder to end its window now.
  explicit PendingRequests(std::function<void()> cut);
  PendingRequests(const PendingRequests&) = delete;
  PendingRequests& operator=(const PendingRequests&) = delete;
  // Does the work that is ready, and drops the other.
  ~PendingRequests();

  // Calls `work` in a thread, once, unless the client of `exchange` goes. `until_ns` is of
  // CLOCK_MONOTONIC. Returns false if there are too many.
  bool Add(std::uint64_t until_ns, std::shared_ptr<Exchange> exchange, Work work);
  // A window should end about now, because a request begins.
  void Cut();
  // A window has come.
  void WindowEnded(std::uint64_t end_ns);
  // No window will come any more: all that wait are too late.
  void EndOfWindows();

 private:
  struct Pending {
    std::uint64_t until_ns = 0;
    std::shared_ptr<Exchange> exchange;
    Work work;
  };
  struct Ready {
    std::shared_ptr<Exchange> exchange;
    Work work;
    Outcome outcome = Outcome::kReady;
  };

  void Schedule();
  void DoWork();
  std::uint64_t MoveReady(std::uint64_t now_ns);
  std::uint64_t CutIfWanted(std::uint64_t now_ns);

  std::function<void()> cut_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_, has_ready_;
  std::list<Pending> pending_;
  std::deque<Ready> ready_;
  std::uint64_t last_end_ns_ = 0;  // of the windows
  std::uint64_t cut_ns_ = 0;       // when the last cut was asked for
  bool wants_cut_ = false, is_cut_asked_ = false;
  bool has_no_windows_ = false, is_over_ = false;
  std::thread scheduler_;
  std::vector<std::thread> workers_;
};

}  // namespace perftape::serve
