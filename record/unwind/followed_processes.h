// SPDX-License-Identifier: Apache-2.0
// The processes whose user stacks the BPF programs unwind. Follows their records, and writes their
// mappings and the unwind tables of their binaries into the maps of the programs (unwind_maps.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/record.h"
#include "record/bpf/unwind_maps.h"
#include "record/machine/growth_watch.h"
#include "record/unwind/mapped_binaries.h"
#include "record/unwind/process_entries.h"

namespace perftape::record {

// Times are CLOCK_MONOTONIC. Not thread-safe.
class FollowedProcesses {
 public:
  // `format` is the layout of the records. Adds what it reads to `known`, and opens binaries with
  // `files`. Both must outlive this object, like the memory of `maps`.
  FollowedProcesses(const perfdata::SampleFormat& format, const UnwindMaps& maps,
                    KnownBinaries& known, OthersFiles& files,
                    const UnmappedLimits& unmapped_limits = {});

  // Follows only these and their descendants. Call it before all records.
  void FollowOnly(std::span<const std::uint32_t> pids) {
    followed_.emplace(pids.begin(), pids.end());
  }

  // Follows these, and their children from now on, only once they call exec. Call it before all
  // records.
  void IgnoreUntilExec(std::span<const std::uint32_t> pids) {
    ignored_.insert(pids.begin(), pids.end());
  }

  // Applies a COMM, FORK, EXIT, MMAP2 or LOST; ignores others. ApplyAll applies whole records.
  void Apply(const perfdata::RecordView& record);
  void ApplyAll(Bytes records);
  // Returns whether a LOST was applied since the last call. If so, apply the records of all running
  // processes again, and forget those that have ended.
  bool HasLostRecords();
  void ForgetIf(const std::function<bool(std::uint32_t pid)>& has_ended);

  // Writes the mappings of the processes that changed. Those whose binary was not read yet have no
  // table.
  void WriteChanged(std::uint64_t now_ns);
  // Reads the binaries of the processes that changed, and then the small ones of those that will be
  // followed once they call exec: the new program needs most of these libraries, too. It uses
  // several threads, and ends early once `stop` is true.
  void ReadFirstBinaries(std::uint64_t now_ns, const std::atomic<bool>& stop);
  // Reads one more of the binaries that wait, if there is one. Ends early once `stop` is true.
  bool has_unread() const { return binaries_.has_unread(); }
  void ReadNextBinary(std::uint64_t now_ns, const std::atomic<bool>& stop);
  // Loads the tables that programs met and did not have.
  void LoadMissingTables(std::uint64_t now_ns) { binaries_.tables().LoadMissing(now_ns); }

  // Forgets the processes that had ended before the last call, and the binaries that no process
  // maps, as far as they exceed the limits. Returns false if nothing has changed since. It
  // visits all mappings of all processes.
  bool ForgetUnmapped(std::uint64_t now_ns);
  // The memory of all tables that were read until now, and of all that were forgotten.
  std::uint64_t changed_table_bytes() const { return binaries_.changed_table_bytes(); }

 private:
  bool IsOfInterest(const perfdata::RecordView& record);
  void ForgetProcess(std::uint32_t pid);
  std::vector<MappedBinaries::Mapping> MappingsOf(const std::unordered_set<std::uint32_t>& pids);

  perfdata::SampleFormat format_;
  perfdata::Processes processes_;
  std::optional<std::unordered_set<std::uint32_t>> followed_;  // nothing: all
  std::unordered_set<std::uint32_t> ignored_;                  // until they call exec
  std::unordered_set<std::uint32_t> changed_;
  bool has_lost_records_ = false;
  MappedBinaries binaries_;
  ProcessEntries entries_;
  std::vector<wire_unwind_mapping> mappings_;  // scratch
  bool may_have_unmapped_ = false;             // something changed since ForgetUnmapped
  std::uint64_t ends_ = 0;                     // processes_.ends() at the last ForgetUnmapped
  GrowthWatch growth_{1024};                   // of processes_
};

}  // namespace perftape::record
