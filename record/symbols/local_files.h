// SPDX-License-Identifier: Apache-2.0
// Finds out which file systems answer without help from another user's process or another machine.
// FUSE, network file systems and autofs may never answer. Then neither stat(2) nor read(2) nor
// close(2) of their files returns.
#pragma once

#include <cstdint>
#include <string_view>

namespace perftape::record {

// Whether an open file is on a disk or in memory of this machine. `mounts` are the tables of the
// process that has the file and of this process (/proc/PID/mountinfo, proc(5)). False if its mount
// is in neither. An overlay counts only if it is also mounted where this process sees it, because
// users can mount one over a FUSE file system in their own namespaces. Asks the file system
// nothing.
bool IsLocalFile(int fd, std::string_view mounts_of_process, std::string_view own_mounts);

// The same for an open file that process `pid` has mapped. Also looks into the table of the first
// process, which has the mount of the root if this process is in a chroot.
bool IsLocalFileOf(std::uint32_t pid, int fd);

}  // namespace perftape::record
