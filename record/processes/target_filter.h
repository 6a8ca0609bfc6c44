// SPDX-License-Identifier: Apache-2.0
// Which process events belong to a recording of some processes: the kernel reports those of the
// whole system, samples come from the targets alone (the kernel side filters them).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

// Follows forks: a child of a member is a member. Not thread-safe.
class TargetFilter {
 public:
  // The processes (thread-group ids) to start with.
  TargetFilter(std::span<const std::uint32_t> pids, const perfdata::SampleFormat& format)
      : format_(format) {
    for (const std::uint32_t pid : pids) Add(pid);
  }

  void Add(std::uint32_t pid) { pids_[pid] = State::kRuns; }

  // Whether the file should have this record. Call it with every record, in time order. Samples,
  // what concerns the kernel (its mappings, KSYMBOL, BPF_EVENT, CGROUP, TEXT_POKE), losses, and
  // damaged records are kept.
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
