// SPDX-License-Identifier: Apache-2.0
// Landlock: a process gives up its access to files (Linux 5.13, Documentation/userspace-api/
// landlock.rst), except those that it was granted.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

#include "formats/base/result.h"
#include "tools/common/sandbox/seccomp_filter.h"

namespace perftape::sandbox {

// The files that a sandboxed program may open.
//
// Paths are resolved, with their symbolic links, when the sandbox begins. A path that does not
// exist then grants nothing. So a file that replaces a granted file later cannot be opened, but a
// file that is created in a granted directory can.
struct FileGrants {
  // Files, and directories with everything below them.
  std::vector<std::filesystem::path> readable = {};
  // Directories in which files may be created, replaced and removed, also in their subdirectories.
  // For any other file: it may be opened for writing.
  std::vector<std::filesystem::path> writable = {};
  bool may_connect = false;  // by TCP
};

// Grants what writing the output of a tool takes: of a regular file, the directory, because the
// file is written under a temporary name; of a device or a named pipe, the file. "-" and names of
// open descriptors take nothing. An output that cannot be resolved takes nothing: opening it fails
// with a better message.
void GrantOutput(const std::filesystem::path& output, FileGrants& grants);

// Grants an input of a tool, a file or a directory. "-" takes nothing.
void GrantInput(const std::filesystem::path& input, FileGrants& grants);

// Grants reading and writing below a directory. Creates the directory with this mode if it does not
// exist, because only an existing directory can be granted. An empty path takes nothing.
void GrantDirectory(const std::filesystem::path& directory, mode_t mode, FileGrants& grants);

// Grants $TMPDIR, where compressed inputs are expanded.
void GrantTemporaryDirectory(FileGrants& grants);

// Limits the calling thread, and the threads and processes that it creates later, to `grants` for
// ever. Call it before the first thread starts. Sets no_new_privs. Besides files, it refuses TCP
// (Linux 6.7) as far as it is not granted, and signals and abstract sockets out of the sandbox
// (6.12). Like the kernel, it also refuses access to the memory and /proc/PID/{root,map_files} of
// other processes. Status calls such as stat are not limited.
//
// Returns kMissing if the kernel has no Landlock, or a container hides it. An older version of
// Landlock refuses less: before 5.19 a rename or link to another directory always fails, before 6.2
// truncate(2) of a file by its path succeeds. Fails with kIo for other errors.
Result<Availability> RestrictFiles(const FileGrants& grants);

}  // namespace perftape::sandbox
