// SPDX-License-Identifier: Apache-2.0
#include "record/processes/target_filter.h"

namespace perftape::record {

using perfdata::RecordType;

bool TargetFilter::Keeps(const perfdata::RecordView& record) {
  switch (record.type) {
    case RecordType::kFork: {
      const Result<perfdata::Fork> fork = perfdata::Decode<perfdata::Fork>(record, format_);
      return !fork || KeepsFork(*fork);
    }
    case RecordType::kExit: {
      const Result<perfdata::Exit> exit = perfdata::Decode<perfdata::Exit>(record, format_);
      return !exit || KeepsExit(*exit);
    }
    case RecordType::kMmap:
    case RecordType::kMmap2:
      if (record.cpumode() == perfdata::CpuMode::kKernel) return true;
      break;
    case RecordType::kComm:
    case RecordType::kRead:
    case RecordType::kItraceStart:
    case RecordType::kNamespaces:
      break;
    case RecordType::kSwitch:
    case RecordType::kSwitchCpuWide:
      return Contains(DecodeSampleId(record, format_).pid);
    default:
      return true;
  }
  // All of these begin with { u32 pid, tid; }.
  if (record.payload.size() < sizeof(std::uint32_t)) return true;
  return Contains(LoadFixed<std::uint32_t>(record.payload.data(), record.order));
}

bool TargetFilter::KeepsFork(const perfdata::Fork& fork) {
  if (Contains(fork.ppid)) {
    pids_[fork.pid] = State::kRuns;
    return true;
  }
  const auto own = pids_.find(fork.pid);
  if (own == pids_.end()) return false;
  // The parent is no target, but the child is. Either it is an initial target whose FORK arrives
  // late, or another process got the pid of a target that has ended.
  if (own->second == State::kRuns) return true;
  pids_.erase(own);
  return false;
}

bool TargetFilter::KeepsExit(const perfdata::Exit& exit) {
  const auto found = pids_.find(exit.pid);
  if (found == pids_.end()) return false;
  // Other threads may outlive the first one. So the process stays a target until its pid is reused.
  if (exit.tid == exit.pid) found->second = State::kFirstThreadEnded;
  return true;
}

}  // namespace perftape::record
