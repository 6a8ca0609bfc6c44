// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pending_requests.h"

#include <algorithm>
#include <utility>

#include "formats/base/duration.h"
#include "record/machine/clock.h"

namespace perftape::serve {
namespace {

constexpr std::size_t kWorkers = 2;
constexpr std::size_t kMostPending = 1000;
// Many readers at once share cuts: a window costs the recorder a file.
constexpr std::uint64_t kBetweenCutsNs = 100'000'000;
// A cut that brought no window is asked for again.
constexpr std::uint64_t kRepeatNs = 2 * kNsPerSecond;
// How long a window may take to come.
constexpr std::uint64_t kPatienceNs = 30 * kNsPerSecond;
// How often clients that went are looked for.
constexpr std::uint64_t kCheckNs = kNsPerSecond;

}  // namespace

PendingRequests::PendingRequests(std::function<void()> cut)
    : cut_(std::move(cut)), scheduler_([this] { Schedule(); }) {
  for (std::size_t i = 0; i < kWorkers; ++i) workers_.emplace_back([this] { DoWork(); });
}

PendingRequests::~PendingRequests() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  has_ready_.notify_all();
  scheduler_.join();
  for (std::thread& worker : workers_) worker.join();
}

bool PendingRequests::Add(std::uint64_t until_ns, std::shared_ptr<Exchange> exchange, Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_.size() + ready_.size() >= kMostPending) return false;
    pending_.push_back(
        {.until_ns = until_ns, .exchange = std::move(exchange), .work = std::move(work)});
  }
  changed_.notify_all();
  return true;
}

void PendingRequests::Cut() {
  {
    const std::lock_guard lock(mutex_);
    wants_cut_ = true;
  }
  changed_.notify_all();
}

void PendingRequests::WindowEnded(std::uint64_t end_ns) {
  {
    const std::lock_guard lock(mutex_);
    last_end_ns_ = std::max(last_end_ns_, end_ns);
    is_cut_asked_ = false;
  }
  changed_.notify_all();
}

void PendingRequests::EndOfWindows() {
  {
    const std::lock_guard lock(mutex_);
    has_no_windows_ = true;
  }
  changed_.notify_all();
}

// Returns the next time at which something is due.
std::uint64_t PendingRequests::MoveReady(std::uint64_t now_ns) {
  std::uint64_t next_ns = pending_.empty() ? UINT64_MAX : now_ns + kCheckNs;
  for (auto one = pending_.begin(); one != pending_.end();) {
    const bool is_ready = last_end_ns_ >= one->until_ns;
    const bool is_late = has_no_windows_ || now_ns >= one->until_ns + kPatienceNs;
    if (!one->exchange->IsOpen()) {
      one = pending_.erase(one);
    } else if (is_ready || is_late) {
      ready_.push_back({.exchange = std::move(one->exchange),
                        .work = std::move(one->work),
                        .outcome = is_ready ? Outcome::kReady : Outcome::kTooLate});
      one = pending_.erase(one);
      has_ready_.notify_one();
    } else {
      if (one->until_ns <= now_ns) wants_cut_ = true;
      if (one->until_ns > now_ns) next_ns = std::min(next_ns, one->until_ns);
      ++one;
    }
  }
  return next_ns;
}

std::uint64_t PendingRequests::CutIfWanted(std::uint64_t now_ns) {
  if (!wants_cut_) return UINT64_MAX;
  const std::uint64_t due_ns = cut_ns_ + (is_cut_asked_ ? kRepeatNs : kBetweenCutsNs);
  if (now_ns < due_ns) return due_ns;
  wants_cut_ = false;
  is_cut_asked_ = true;
  cut_ns_ = now_ns;
  cut_();
  return UINT64_MAX;
}

void PendingRequests::Schedule() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    const std::uint64_t now_ns = record::MonotonicNs();
    const std::uint64_t next_ns = std::min(MoveReady(now_ns), CutIfWanted(now_ns));
    if (next_ns == UINT64_MAX) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, std::chrono::nanoseconds(next_ns - std::min(now_ns, next_ns)));
    }
  }
}

void PendingRequests::DoWork() {
  std::unique_lock lock(mutex_);
  while (true) {
    has_ready_.wait(lock, [this] { return is_over_ || !ready_.empty(); });
    if (ready_.empty()) return;
    const Ready one = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    if (one.exchange->IsOpen()) one.work(one.outcome);
    lock.lock();
  }
}

}  // namespace perftape::serve
