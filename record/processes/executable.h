// SPDX-License-Identifier: Apache-2.0
// Looks a command up as execvp(3) does, so that one that cannot run is known before anything else
// is done for it.
#pragma once

#include <string>

#include "formats/base/result.h"

namespace perftape::record {

struct Executable {
  std::string path;
  // Its first line may be text: where the kernel does not know its format, /bin/sh runs it.
  bool may_be_script = false;
};

// `name` as a path where it has a slash; else the first executable file of that name in $PATH.
// kNotFound and kPermission name the command and the reason.
Result<Executable> FindExecutable(const std::string& name);

// What a shell returns for a command that could not be run: 127 for kNotFound, 126 for the rest.
int ExitStatusOfFailedExec(ErrorCode code);

}  // namespace perftape::record
