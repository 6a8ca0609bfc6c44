// SPDX-License-Identifier: Apache-2.0
// The files that a sandboxed program may open.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <vector>

namespace perftape::sandbox {

// Paths are resolved, with their symbolic links, when the sandbox begins. A path that does not
// exist then grants nothing. So a file that replaces a granted file later cannot be opened, but a
// file that is created in a granted directory can.
struct FileGrants {
  // Files, and directories with everything below them.
  std::vector<std::filesystem::path> readable;
  // Directories in which files may be created, replaced and removed, also in their subdirectories.
  // For any other file: it may be opened for writing.
  std::vector<std::filesystem::path> writable;
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

}  // namespace perftape::sandbox
