// SPDX-License-Identifier: Apache-2.0
// Landlock: a process gives up its access to files (Linux 5.13, Documentation/userspace-api/
// landlock.rst).
#pragma once

#include "formats/base/result.h"
#include "tools/common/sandbox/file_grants.h"
#include "tools/common/sandbox/seccomp_filter.h"

namespace perftape::sandbox {

// Limits the calling thread, and the threads and processes that it creates later, to `grants` for
// ever. Call it before the first thread starts. Sets no_new_privs. Besides files, it refuses TCP
// (Linux 6.7), and signals and abstract sockets out of the sandbox (6.12). Like the kernel, it also
// refuses access to the memory and /proc/PID/{root,map_files} of other processes. Status calls such
// as stat are not limited.
//
// Returns kMissing if the kernel has no Landlock, or a container hides it. An older version of
// Landlock refuses less: before 5.19 a rename or link to another directory always fails, before 6.2
// truncate(2) of a file by its path succeeds. Fails with kIo for other errors.
Result<Availability> RestrictFiles(const FileGrants& grants);

}  // namespace perftape::sandbox
