// SPDX-License-Identifier: Apache-2.0
#include "record/rings/background_drain.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <cerrno>
#include <future>
#include <iterator>
#include <utility>

namespace perftape::record {
namespace {

Status DrainUntil(int end_fd, int readable_fd, std::chrono::milliseconds interval,
                  const std::function<Status()>& drain) {
  while (true) {
    pollfd waits[] = {{.fd = end_fd, .events = POLLIN, .revents = 0},
                      {.fd = readable_fd, .events = POLLIN, .revents = 0}};
    if (poll(waits, std::size(waits), static_cast<int>(interval.count())) < 0 && errno != EINTR) {
      return FailErrno("poll", errno);
    }
    if (waits[0].revents != 0) return {};
    TRY(drain());
  }
}

// Larger buffers, of a burst, go back to the system.
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;

}  // namespace

Result<BackgroundDrain> BackgroundDrain::Start(const Settings& settings,
                                               std::function<Status()> drain) {
  BackgroundDrain background;
  background.end_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  if (!background.end_) return FailErrno("eventfd", errno);
  background.outcome_ = std::make_unique<Status>();
  std::promise<void> first_call;
  const std::future<void> has_drained = first_call.get_future();
  background.thread_ =
      std::thread([end_fd = background.end_.get(), settings, drain = std::move(drain),
                   outcome = background.outcome_.get(), done = std::move(first_call)]() mutable {
        if (settings.nice != 0) (void)setpriority(PRIO_PROCESS, 0, settings.nice);  // the thread's
        *outcome = drain();
        done.set_value();
        if (*outcome) {
          *outcome = DrainUntil(end_fd, settings.readable_fd, settings.interval, drain);
        }
      });
  (void)has_drained.wait_for(settings.longest_first);
  return background;
}

BackgroundDrain::~BackgroundDrain() {
  (void)Stop();
}

Status BackgroundDrain::Stop() {
  if (!thread_.joinable()) return {};
  (void)eventfd_write(end_.get(), 1);
  thread_.join();
  return *outcome_;
}

void DrainedRecords::Add(Bytes record) {
  copied_.insert(copied_.end(), record.begin(), record.end());
}

Bytes DrainedRecords::Release() {
  released_.clear();
  if (released_.capacity() > kKeptBytes) released_ = {};
  released_.swap(copied_);
  return released_;
}

}  // namespace perftape::record
