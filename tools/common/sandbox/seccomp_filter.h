// SPDX-License-Identifier: Apache-2.0
// Filters of system calls (seccomp(2)), made of the table in system_calls.h.
#pragma once

#include <linux/filter.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "formats/base/result.h"
#include "tools/common/sandbox/system_calls.h"

namespace perftape::sandbox {

// Whether a part of the sandbox is on. A kernel, or a container around this process, may not have
// it.
enum class Availability : std::uint8_t { kOn, kMissing };

// Whether this program was built with a sanitizer. Its runtime makes further system calls, such as
// ptrace(2) to search for leaks at exit. Then no filter is installed.
bool IsSanitized();

// Returns the program of a filter. libseccomp makes the same, but takes a millisecond at each
// start. The tests compare the verdicts of both. `caller` is a single kind, such as kReader.
// Conditions on the own process compare with `own_pid`. Calls of other architectures, such as those
// of 32 bits, fail with ENOSYS. The program is empty if this architecture is not supported.
std::vector<sock_filter> FilterProgram(Caller caller, pid_t own_pid);

// Installs the filter of a single kind in all threads of the process, with no_new_privs, for ever.
// Returns kMissing if the kernel has no filters, or the program was built with a sanitizer. Other
// errors are kIo.
Result<Availability> InstallFilter(Caller caller);

}  // namespace perftape::sandbox
