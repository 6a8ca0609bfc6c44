// SPDX-License-Identifier: Apache-2.0
#include "tools/common/sandbox/seccomp_filter.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/file.h"
#include "tools/common/sandbox/filter_program.h"

namespace perftape::sandbox {
namespace {

std::unexpected<Error> FailSeccomp(std::string_view call, int error_number) {
  return FailErrno("sandbox: " + std::string(call), error_number);
}

// The error of a kernel without filters, or of a container that hides them.
bool IsMissingInKernel(int error_number) {
  return error_number == EINVAL || error_number == ENOSYS || error_number == EOPNOTSUPP ||
         error_number == EPERM || error_number == EACCES;
}

}  // namespace

bool IsSanitized() {
#ifdef PERFTAPE_SANITIZED
  return true;
#else
  return false;
#endif
}

Result<Availability> InstallFilter(Caller caller) {
  std::vector<sock_filter> instructions = FilterProgram(caller, getpid());
  if (IsSanitized() || instructions.empty()) return Availability::kMissing;
  const sock_fprog program = {.len = static_cast<unsigned short>(instructions.size()),
                              .filter = instructions.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return FailSeccomp("prctl", errno);
  const long code =
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
  if (code == 0) return Availability::kOn;
  // A positive number is the id of a thread that has another filter.
  if (code > 0) return FailSeccomp("seccomp", EBUSY);
  if (IsMissingInKernel(errno)) return Availability::kMissing;
  return FailSeccomp("seccomp", errno);
}

}  // namespace perftape::sandbox
