// SPDX-License-Identifier: Apache-2.0
// Runs a shell command for each of several files, in a process of its own. This process is forked
// before the recorder gives up its privileges. So the commands have all rights that the recorder
// was started with, and the recorder itself needs no right to execute programs.
//
// The process accepts nothing but names of files, and adds each as an argument to the command. It
// ends with the recorder.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/processes/child.h"

namespace perftape::record {

// Not thread-safe.
class CommandRunner {
 public:
  // Forks the process. `command` is run by the shell with `signals`, and gets standard input,
  // output and error of the recorder. Fails with kIo.
  static Result<CommandRunner> Start(const std::string& command, const SignalState& signals);

  CommandRunner(CommandRunner&&) noexcept;
  CommandRunner& operator=(CommandRunner&&) = delete;
  // Commands that run continue.
  ~CommandRunner();

  // Starts the command for `file` and does not wait for it. Fails with kIo if the process has ended
  // or is too busy.
  Status Run(const std::filesystem::path& file);

  // Return how many commands ended since the last call and failed: with a status other than 0, by a
  // signal, or because they could not be started. WaitForAll waits for those that run.
  std::uint64_t CountFailed();
  std::uint64_t WaitForAll();

 private:
  CommandRunner() = default;
  std::uint64_t ReadStatuses(int flags);

  pid_t pid_ = -1;
  UniqueFd channel_;  // sends names, receives an int for each, from waitpid(2)
  std::uint64_t running_ = 0;
};

}  // namespace perftape::record
