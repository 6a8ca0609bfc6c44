// SPDX-License-Identifier: Apache-2.0
// A command that is started in two steps: its process exists before the recording starts, and calls
// exec after that. If the recorder dies in between, the command never runs.
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

// The blocked and ignored signals of the recorder when it started, for its command.
class SignalState {
 public:
  // Returns the state of the calling thread. Call it before the recorder changes it.
  static SignalState Now();

  // Async-signal-safe, for use between fork and exec.
  void Restore() const;

 private:
  sigset_t blocked_;
  sigset_t ignored_;
};

// The standard output of a command: that of the recorder, or its standard error if the recording is
// written to standard output.
enum class CommandOutput : std::uint8_t { kStdout, kStderr };

// A child process. It inherits standard input, output and error and the process group, so Ctrl-C on
// the terminal reaches both.
class Child {
 public:
  // Finds the executable and forks; the child waits. `command` is the name and its arguments. Fails
  // with kInvalidArgument if it is empty, and as FindExecutable does.
  static Result<Child> Start(std::span<const std::string> command, const SignalState& signals,
                             CommandOutput output = CommandOutput::kStdout);

  Child(Child&&) noexcept;
  Child& operator=(Child&&) = delete;
  // A command that was not released ends without running. A running one continues.
  ~Child();

  pid_t pid() const { return pid_; }

  // Becomes readable when the command has ended. It belongs to this object.
  int pidfd() const { return pidfd_.get(); }

  // Lets the child call exec and returns when the command runs. If exec fails, the error names the
  // command.
  Status Release();

  // Waits for the end. Returns the exit status, or 128 + n if signal n ended the command. May be
  // called again.
  Result<int> Wait();

  // The same without waiting. Returns nothing while the command runs.
  Result<std::optional<int>> TryWait();

  // Sends `signal` unless the command has ended.
  Status Send(int signal);

 private:
  Child() = default;
  Result<std::optional<int>> Reap(int options);

  pid_t pid_ = -1;
  std::string name_;
  UniqueFd pidfd_;
  // A socket to the child until it is released. The parent writes a byte to let it run, or closes
  // it to end it. The child writes the errno of a failed exec; a successful exec closes it.
  UniqueFd channel_;
  std::optional<int> exit_status_;
};

}  // namespace perftape::record
