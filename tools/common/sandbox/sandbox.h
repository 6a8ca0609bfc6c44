// SPDX-License-Identifier: Apache-2.0
// The sandbox of the tools that read files of unknown origin. In it, a program can open only the
// files in its grants, cannot execute programs or create processes, and has no network. A seccomp
// filter and Landlock enforce this, each if the kernel has it (Linux 3.17 and 5.13).
//
//   FileGrants grants;
//   GrantInput(plan.input, grants);
//   GrantOutput(plan.output, grants);
//   TRY(Confine(grants));
//
// perftape-record gives up its privileges instead, once all events are attached.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "formats/base/result.h"
#include "tools/common/sandbox/landlock.h"

namespace perftape::sandbox {

// Confines the calling process until its end. Call it before the first thread starts. Also grants
// what every tool needs: $TMPDIR, where inputs are expanded, and facts about the machine that do
// not depend on a user. A part that the kernel does not have is left out without an error. Other
// errors are kIo.
//
// A program that was built with a sanitizer gets no seccomp filter, and may read /proc/self.
Status Confine(const FileGrants& grants);

// The same for a process that finds names for addresses of all processes: of the capabilities, it
// keeps those that this needs, if it had them.
//
//   CAP_DAC_READ_SEARCH       binaries that only their user may read
//   CAP_SYS_PTRACE            /proc/PID/root: binaries and maps of code in containers
//   CAP_SYSLOG                addresses in /proc/kallsyms
//
// Fails also as SetOwnCapabilities (capabilities.h) does.
Status ConfineToReading(const FileGrants& grants);

// The part of Confine that is no limit of files: for a tool that reads files of other processes in
// /proc, which Landlock refuses.
Status ConfineCalls();

// Returns the answer of `question`, which a child process calls. It can open only the files in
// `grants`. Use it to read an input before the grants of this process are known. False if the child
// fails or crashes. Call it before Confine.
bool AskConfined(const FileGrants& grants, const std::function<bool()>& question);

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

// Gives up everything but open files: capabilities, the user root (for nobody), and all files. Call
// it before the first thread starts. Then, when all threads run, ConfineServerCalls. Both fail with
// kIo or kPermission.
Status ConfineServer();
Status ConfineServerCalls();

// The same for a process that connects to other machines: of files, it can read those of the
// system, such as /etc/resolv.conf. Code of libraries that are loaded on demand, such as those of
// nsswitch.conf(5), must be there before ConfineClientCalls.
Status ConfineClient();
Status ConfineClientCalls();
// The same for a process that only connects to unix sockets. It stays the user that it is, who may
// be the only one that a socket lets connect, and can open no files.
Status ConfineLocalClient();

}  // namespace perftape::sandbox
