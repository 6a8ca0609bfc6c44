// SPDX-License-Identifier: Apache-2.0
// Installs filters made of the table of system calls (system_calls.h).
#pragma once

#include <cstdint>

#include "formats/base/result.h"
#include "tools/common/sandbox/system_calls.h"

namespace perftape::sandbox {

// Whether a part of the sandbox is on. A kernel, or a container around this process, may not have
// it.
enum class Availability : std::uint8_t { kOn, kMissing };

// Whether this program was built with a sanitizer. Its runtime makes further system calls, such as
// ptrace(2) to search for leaks at exit. Then no filter is installed.
bool IsSanitized();

// Installs the filter of kReader or kRecorder in all threads of the process, with no_new_privs, for
// ever. Returns kMissing if the kernel has no filters, or the program was built with a sanitizer.
// Other errors are kIo.
Result<Availability> InstallFilter(Caller caller);

}  // namespace perftape::sandbox
