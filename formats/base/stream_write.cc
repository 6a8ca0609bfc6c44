// SPDX-License-Identifier: Apache-2.0
#include "formats/base/stream_write.h"

#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <optional>

#include "formats/base/file.h"

namespace perftape {
inline namespace base {
namespace {

using Clock = std::chrono::steady_clock;

// How soon a stop is noticed.
constexpr int kPollMs = 100;

// Returns whether a write of PIPE_BUF bytes does not block, after at most kPollMs.
Result<bool> HasRoom(int fd) {
  pollfd wait_for = {.fd = fd, .events = POLLOUT, .revents = 0};
  const int ready = poll(&wait_for, 1, kPollMs);
  if (ready < 0 && errno != EINTR) return FailErrno("poll", errno);
  return ready > 0;  // after POLLERR write says what is wrong
}

}  // namespace

Status WriteToReader(int fd, Bytes bytes, const std::stop_token& stop,
                     std::chrono::nanoseconds grace) {
  if (!stop.stop_possible()) return WriteAll(fd, bytes);
  std::optional<Clock::time_point> stalled_since;  // while a stop is requested
  while (!bytes.empty()) {
    TRY_ASSIGN(const bool has_room, HasRoom(fd));
    if (!has_room) {
      if (!stop.stop_requested()) continue;
      if (!stalled_since) stalled_since = Clock::now();
      if (Clock::now() - *stalled_since < grace) continue;
      return Fail(ErrorCode::kIo,
                  fmt::format("the reader has stalled: {} bytes are not written", bytes.size()));
    }
    stalled_since.reset();
    const std::size_t size = std::min<std::size_t>(bytes.size(), PIPE_BUF);
    TRY(WriteAll(fd, bytes.first(size)));
    bytes = bytes.subspan(size);
  }
  return {};
}

}  // namespace base
}  // namespace perftape
