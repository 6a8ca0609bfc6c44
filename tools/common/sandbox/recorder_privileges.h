// SPDX-License-Identifier: Apache-2.0
// The privileges that perftape-record gives up once all events are attached.
#pragma once

#include <filesystem>
#include <span>

#include "formats/base/result.h"

namespace perftape::sandbox {

// Reduces the capabilities of all threads to those that a running recording needs, and installs the
// seccomp filter of recorders in all threads, with no_new_privs. A part that the kernel does not
// have is left out. `outputs` are the files that are created later; "-" and empty paths are
// skipped. Fails as KeepInAllThreads (capabilities.h) and InstallFilter (seccomp_filter.h) do.
//
// These capabilities stay, if the recorder had them:
//
//   CAP_PERFMON, CAP_BPF      events on CPUs that come online, reading maps
//   CAP_IPC_LOCK              the rings of these events
//   CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE, CAP_DAC_READ_SEARCH
//                             binaries of all users, in /proc/PID/map_files and /proc/PID/root
//   CAP_SYSLOG                addresses in /proc/kallsyms
//   CAP_KILL                  ending the command, which may have changed its user; the filter
//                             allows signals only to the command
//   CAP_SYS_ADMIN             only if it replaces one of the above: before Linux 5.9, or if the
//                             recorder started without CAP_PERFMON, CAP_BPF
//   CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER
//                             only if an output cannot be created or replaced without them
Status DropRecorderPrivileges(std::span<const std::filesystem::path> outputs);

}  // namespace perftape::sandbox
