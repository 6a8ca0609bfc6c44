// SPDX-License-Identifier: Apache-2.0
// Runs a function in a child process, because a sandbox lasts until the end of its process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace perftape::sandbox {

// Returns what `run` returns, from 0 to 255. Returns -N if signal N ended the child.
inline int InChild(const std::function<int()>& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace perftape::sandbox
