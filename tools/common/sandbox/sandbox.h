// SPDX-License-Identifier: Apache-2.0
// The sandbox of the tools that read files of unknown origin. In it, a program can open only the
// files in its grants, cannot execute programs or create processes, and has no network. A seccomp
// filter and Landlock enforce this, each if the kernel has it (Linux 3.17 and 5.13).
//
//   FileGrants grants;
//   GrantInput(plan.input, grants);
//   GrantOutput(plan.output, grants);
//   TRY(Confine(grants));
#pragma once

#include <functional>

#include "formats/base/result.h"
#include "tools/common/sandbox/file_grants.h"

namespace perftape::sandbox {

// Confines the calling process until its end. Call it before the first thread starts. Also grants
// what every tool needs: $TMPDIR, where inputs are expanded, and facts about the machine that do
// not depend on a user. A part that the kernel does not have is left out without an error. Other
// errors are kIo.
//
// A program that was built with a sanitizer gets no seccomp filter, and may read /proc/self.
Status Confine(const FileGrants& grants);

// The part of Confine that is no limit of files: for a tool that reads files of other processes in
// /proc, which Landlock refuses.
Status ConfineCalls();

// Returns the answer of `question`, which a child process calls. It can open only the files in
// `grants`. Use it to read an input before the grants of this process are known. False if the child
// fails or crashes. Call it before Confine.
bool AskConfined(const FileGrants& grants, const std::function<bool()>& question);

}  // namespace perftape::sandbox
