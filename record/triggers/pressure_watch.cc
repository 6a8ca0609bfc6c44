// SPDX-License-Identifier: Apache-2.0
#include "record/triggers/pressure_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace perftape::record {
namespace {

std::unexpected<Error> FailOpen(const std::string& path, int number) {
  if (number == ENOENT || number == EOPNOTSUPP) {
    return Fail(ErrorCode::kNotFound,
                path +
                    ": the kernel has no pressure stall information: build it with "
                    "CONFIG_PSI=y, or boot with psi=1");
  }
  return FailErrno(path, number);
}

std::unexpected<Error> FailWrite(const std::string& path, const std::string& threshold,
                                 int number) {
  if (number == EINVAL) {
    return Fail(ErrorCode::kInvalidArgument,
                path + ": the kernel refuses '" + threshold +
                    "': without CAP_SYS_RESOURCE the window must be a multiple of 2s");
  }
  return FailErrno(path, number);
}

}  // namespace

Result<PressureWatch> PressureWatch::Open(const PressureCondition& condition,
                                          const std::filesystem::path& directory) {
  const std::string path = directory / condition.resource;
  UniqueFd file(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!file) return FailOpen(path, errno);
  const std::string threshold = fmt::format("{} {} {}", condition.is_full ? "full" : "some",
                                            condition.stalled.count(), condition.window.count());
  // The kernel wants the 0 at the end, too (kernel/sched/psi.c, psi_write).
  if (::write(file.get(), threshold.c_str(), threshold.size() + 1) < 0) {
    return FailWrite(path, threshold, errno);
  }
  return PressureWatch(std::move(file));
}

bool PressureWatch::WasExceeded() const {
  pollfd wait = {.fd = file_.get(), .events = POLLPRI, .revents = 0};
  return ::poll(&wait, 1, 0) > 0 && (wait.revents & POLLPRI) != 0;
}

}  // namespace perftape::record
