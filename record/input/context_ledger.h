// SPDX-License-Identifier: Apache-2.0
// Which processes have which context (formats/otlp/process_context.h), from when until when, and
// when to read each process. A program publishes its context some time after its start, so a
// process is read several times. All times are of CLOCK_MONOTONIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/bundle/noted_processes.h"

namespace perftape::record {

// The context that was found in a process.
struct FoundContext {
  std::uint64_t published_ns = 0;
  std::vector<bundle::NotedAttribute> attributes = {};
};

// Records of starts and ends may come after the look that they concern. Not thread-safe.
class ContextLedger {
 public:
  // Further processes are not read. If there are more contexts, those that ended first are
  // forgotten.
  static constexpr std::size_t kMostProcesses = 64 * 1024, kMostContexts = 16 * 1024;

  // The process has a sample.
  void AddSampled(std::uint32_t pid, std::uint64_t now_ns);
  // A new process, or an existing one that executes another program.
  void Start(std::uint32_t pid, std::uint64_t time_ns);
  void Exit(std::uint32_t pid, std::uint64_t time_ns);

  // NextLook returns a process that should be read now; nothing if there is none. NextLookNs
  // returns when there will be one; UINT64_MAX for never. AddLook adds what was found in a process
  // that was read between these times.
  std::optional<std::uint32_t> NextLook(std::uint64_t now_ns);
  std::uint64_t NextLookNs() const;
  void AddLook(std::uint32_t pid, std::uint64_t begin_ns, std::uint64_t end_ns,
               std::optional<FoundContext> found);

  // Returns all contexts that were found and not forgotten: those that ended, then the others by
  // process.
  std::vector<bundle::NotedProcess> Noted() const;

 private:
  struct Process {
    std::uint64_t start_ns = 0;  // of its program; 0: before the recording
    bool has_sample = false;
    std::size_t looks = 0;           // of its program
    std::uint64_t next_look_ns = 0;  // 0: none is planned
    // What the last look found, and when.
    std::optional<FoundContext> context = {};
    std::uint64_t from_ns = 0, begin_ns = 0, end_ns = 0;
  };
  void PlanLook(std::uint32_t pid, Process& process, std::uint64_t time_ns);
  void EndContext(std::uint32_t pid, Process& process, std::uint64_t until_ns);

  std::unordered_map<std::uint32_t, Process> processes_;
  std::set<std::pair<std::uint64_t, std::uint32_t>> planned_;  // times and processes
  std::deque<bundle::NotedProcess> ended_;
  std::size_t contexts_ = 0;  // of processes_
};

}  // namespace perftape::record
