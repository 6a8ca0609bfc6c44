// SPDX-License-Identifier: Apache-2.0
// Makes the program of a seccomp filter from the table of system calls (seccomp(2), "Filters").
// libseccomp does the same, but takes a millisecond at each start. The tests compare the verdicts
// of both.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <vector>

#include "tools/common/sandbox/system_calls.h"

namespace perftape::sandbox {

// `caller` is kReader or kRecorder. Conditions on the own process compare with `own_pid`. Calls of
// other architectures, such as those of 32 bits, fail with ENOSYS. The program is empty if this
// architecture is not supported.
std::vector<sock_filter> FilterProgram(Caller caller, pid_t own_pid);

}  // namespace perftape::sandbox
