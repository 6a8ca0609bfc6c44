// SPDX-License-Identifier: Apache-2.0
// The tasks that are recorded, as the kernel is told.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "record/scope/scope.h"

namespace perftape::record {

// Which tasks the BPF programs sample. The default is every task of every user, idle included.
// `processes`, `threads` and `command` add tasks; `user` and `excluded_process` remove some of
// them. All ids are those of the caller's pid namespace.
struct SampleFilter {
  std::vector<pid_t> processes = {};           // with what they fork from now on
  std::vector<pid_t> threads = {};             // only these
  std::optional<pid_t> command = {};           // also a process, from its exec on
  std::optional<uid_t> user = {};              // the idle task never matches
  std::optional<pid_t> excluded_process = {};  // the recorder itself
  Scope scope = {};                            // all of it must hold, too

  bool by_process() const { return !processes.empty() || command.has_value(); }
};

}  // namespace perftape::record
