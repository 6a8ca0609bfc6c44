// SPDX-License-Identifier: Apache-2.0
// Finds the executable of a command as execvp(3) does, so that a wrong command is reported before
// anything else is done.
#pragma once

#include <string>

#include "formats/base/result.h"

namespace perftape::record {

struct Executable {
  std::string path;
  // It may be a script without "#!": if the kernel does not know its format, /bin/sh runs it.
  bool may_be_script = false;
};

// Returns `name` if it has a slash, otherwise the first executable file of that name in $PATH. The
// errors kNotFound and kPermission name the command and the reason.
Result<Executable> FindExecutable(const std::string& name);

// Returns the exit status of a shell for a command that it cannot run: 127 for kNotFound,
// otherwise 126.
int ExitStatusOfFailedExec(ErrorCode code);

}  // namespace perftape::record
