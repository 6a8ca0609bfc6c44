// SPDX-License-Identifier: Apache-2.0
// Selects the process events of a recording's targets. The kernel reports those of the whole
// system; samples are already filtered by the BPF program.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

// Follows forks: a child of a target is a target. Not thread-safe.
class TargetFilter {
 public:
  // `pids` are the processes (thread-group ids) of the targets at the start.
  TargetFilter(std::span<const std::uint32_t> pids, const perfdata::SampleFormat& format)
      : format_(format) {
    for (const std::uint32_t pid : pids) Add(pid);
  }

  void Add(std::uint32_t pid) { pids_[pid] = State::kRuns; }

  // Returns whether the record belongs into the file. Call it with every record, in time order.
  // Keeps samples, losses, damaged records and records of the kernel (its mappings, KSYMBOL,
  // BPF_EVENT, CGROUP, TEXT_POKE).
  bool Keeps(const perfdata::RecordView& record);

  bool Contains(std::uint32_t pid) const { return pids_.contains(pid); }

 private:
  enum class State : std::uint8_t { kRuns, kFirstThreadEnded };

  bool KeepsFork(const perfdata::Fork& fork);
  bool KeepsExit(const perfdata::Exit& exit);

  std::unordered_map<std::uint32_t, State> pids_;
  perfdata::SampleFormat format_;
};

}  // namespace perftape::record
