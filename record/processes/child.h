// SPDX-License-Identifier: Apache-2.0
// A command started stopped, then let go: its process exists, so that the recording can be aimed at
// it, but it waits before exec. If the recorder dies meanwhile, it never runs.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::record {

// Which signals are blocked and ignored, to be handed on to a command as the user set them.
class SignalState {
 public:
  // Of the calling thread, now: ask before the recorder changes its own.
  static SignalState Now();

  // Async-signal-safe, for use between fork and exec.
  void Restore() const;

 private:
  sigset_t blocked_;
  sigset_t ignored_;
};

// Where a command's standard output goes: to the recorder's own, or to its standard error where a
// recording has the other.
enum class CommandOutput : std::uint8_t { kStdout, kStderr };

// A child process. Standard input, output and error are the recorder's own, and so is the process
// group: Ctrl-C on the terminal reaches both.
class Child {
 public:
  // Looks the command up and forks; the command waits. `command` is the name and its arguments;
  // kInvalidArgument where it is empty, else the errors of FindExecutable.
  static Result<Child> Start(std::span<const std::string> command, const SignalState& signals,
                             CommandOutput output = CommandOutput::kStdout);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) = delete;
  // One that was never released ends without having run; one that runs goes on running.
  ~Child();

  pid_t pid() const { return pid_; }

  // Readable when the command has ended. It belongs to the child.
  int pidfd() const { return pidfd_.get(); }

  // Lets it go, and returns when it runs. Where exec failed, the error names the command.
  Status Release();

  // Waits for the end. The exit status, 128 + n where signal n ended it. May be asked again.
  Result<int> Wait();

  // The same without waiting: nothing as long as it runs.
  Result<std::optional<int>> TryWait();

  // Sends `signal`, unless it has ended.
  Status Send(int signal);

 private:
  Child() = default;
  Result<std::optional<int>> Reap(int options);

  pid_t pid_ = -1;
  std::string name_;
  UniqueFd pidfd_;
  // Until released. A byte down: run; closed: do not. A number up: the errno of a failed exec;
  // closed, by exec itself: it runs.
  UniqueFd channel_;
  std::optional<int> exit_status_;
};

}  // namespace perftape::record
