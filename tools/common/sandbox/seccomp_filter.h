// SPDX-License-Identifier: Apache-2.0
// Filters made of the table of system calls (system_calls.h).
#pragma once

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

class SeccompFilter {
 public:
  // `caller` is kReader or kRecorder. The filter has the id of the calling process. Fails with kIo
  // if memory or libseccomp fails. Takes most of a millisecond.
  static Result<SeccompFilter> Build(Caller caller);

  // Installs the filter in all threads of the process, with no_new_privs, for ever. Returns
  // kMissing if the kernel has no filters.
  Result<Availability> Install() const;

 private:
  SeccompFilter() = default;
  std::vector<std::uint64_t> program_;  // struct sock_filter
};

}  // namespace perftape::sandbox
