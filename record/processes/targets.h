// SPDX-License-Identifier: Apache-2.0
// The targets of a recording: as the user names them, as processes, as threads, and as the kernel's
// filter.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/scope/scope.h"

namespace perftape::record {

enum class SampledTasks : std::uint8_t {
  kSome,
  kEvery,  // but SampleFilter::excluded_process
};

// Which tasks the BPF programs sample. The default is every task of every user, idle included.
// `processes`, `threads` and `command` add tasks; `user` and `excluded_process` remove some of
// them. All ids are those of the caller's pid namespace.
struct SampleFilter {
  std::vector<pid_t> processes = {};           // with what they fork from now on
  std::vector<pid_t> threads = {};             // only these
  std::optional<pid_t> command = {};           // also a process, from its exec on
  std::optional<uid_t> user = {};              // the idle task never matches
  std::optional<pid_t> excluded_process = {};  // the recorder itself
  Scope scope = {};                            // must match, too

  bool by_process() const { return !processes.empty() || command.has_value(); }
  SampledTasks tasks() const {
    const bool all = !by_process() && threads.empty() && !user && scope.has_every_task();
    return all ? SampledTasks::kEvery : SampledTasks::kSome;
  }
};

// Whether events of a thread are also those of the threads and processes that it starts.
enum class Inherit : std::uint8_t { kNo, kYes };

// The threads of a recording without privileges, whose events are opened one by one.
struct RecordedThreads {
  std::vector<pid_t> sampled;
  Inherit inherit = Inherit::kYes;  // of the sampling events
  bool from_exec = false;           // sampling begins with the exec of the command
  // The threads whose process events are recorded, with those of the processes that they start.
  std::vector<pid_t> followed;
};

struct WholeSystem {};
// These processes with all their threads and descendants.
struct ProcessTrees {
  std::vector<pid_t> pids;
  Inherit inherit = Inherit::kYes;  // kNo: only the threads that run at the start
};
// Only these threads.
struct Threads {
  std::vector<pid_t> tids;
};
// The command of the recording, from its exec on, and its descendants.
struct Workload {
  Inherit inherit = Inherit::kYes;  // kNo: only its first thread, from the start of its process on
};
using Target = std::variant<WholeSystem, ProcessTrees, Threads, Workload>;

class Targets {
 public:
  // `command` is the waiting process of the command, if there is one. Fails with kNotFound if a
  // process or thread does not exist.
  static Result<Targets> Resolve(const Target& target, std::optional<pid_t> command);

  // The filter for samples in the kernel, without user and excluded process.
  const SampleFilter& filter() const { return filter_; }

  // The processes (thread-group ids) whose process events the file needs: the targets, their
  // descendants now, and the processes of target threads. Nothing for the whole system.
  const std::optional<std::vector<std::uint32_t>>& processes() const { return processes_; }

  // Returns the threads of the targets that run now. Fails with kInvalidArgument for the whole
  // system.
  Result<RecordedThreads> FindThreads() const;

  // Samples of other processes will be recorded, too: those of wakers.
  void NeedAllProcesses() { processes_.reset(); }

  // Returns whether every named process and thread has ended. Always false for the whole system and
  // for a command; Child::TryWait reports the end of a command.
  bool Gone() const;

 private:
  Status ResolveProcesses(const ProcessTrees& target);
  Status ResolveThreads(const Threads& target);
  Status ResolveCommand(pid_t command, Inherit inherit);
  void AddProcess(std::uint32_t pid);

  SampleFilter filter_;
  std::optional<std::vector<std::uint32_t>> processes_;
  std::vector<UniqueFd> pidfds_;
  std::vector<pid_t> threads_;
  bool is_command_ = false;  // of Workload
};

}  // namespace perftape::record
