// SPDX-License-Identifier: Apache-2.0
// Who is recorded: what the user asked for, turned into processes and into the kernel's filter.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "record/events/bpf_session.h"

namespace perftape::record {

struct WholeSystem {};
// These processes with all that descends from them, threads included.
struct ProcessTrees {
  std::vector<pid_t> pids;
};
// These threads alone.
struct Threads {
  std::vector<pid_t> tids;
};
// The command of RecordOptions, from the moment it calls exec, and all that descends from it.
struct Workload {};
using Target = std::variant<WholeSystem, ProcessTrees, Threads, Workload>;

class Targets {
 public:
  // `command` is the process of the workload, waiting to be let go, where there is one. kNotFound
  // where a process or thread that was asked for does not exist.
  static Result<Targets> Resolve(const Target& target, std::optional<pid_t> command);

  // What the kernel filters samples by.
  const SampleFilter& filter() const { return filter_; }

  // The processes (thread-group ids) whose process events the file needs: those asked for, what
  // descends from them now, and those whose threads were asked for. Nothing for the whole system.
  const std::optional<std::vector<std::uint32_t>>& processes() const { return processes_; }

  // True once every process or thread that was named has ended. Never for the whole system, nor for
  // a workload, whose end its Child tells.
  bool Gone() const;

 private:
  Status ResolveProcesses(const ProcessTrees& target);
  Status ResolveThreads(const Threads& target);
  void AddProcess(std::uint32_t pid);

  SampleFilter filter_;
  std::optional<std::vector<std::uint32_t>> processes_;
  std::vector<UniqueFd> pidfds_;
  std::vector<pid_t> threads_;
};

}  // namespace perftape::record
