// SPDX-License-Identifier: Apache-2.0
// Keeps the maps of the BPF programs (unwind_maps.h) up to date while they unwind user stacks: the
// mappings of all processes of interest, and the unwind tables of what they map. It reads /proc at
// the start, and then events of processes from rings of its own, which wake its thread at every
// record. So a new mapping has its table within milliseconds.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/bpf/unwind_maps.h"
#include "record/rings/background_drain.h"
#include "record/rings/cpu_events.h"
#include "record/rings/sideband.h"
#include "record/unwind/followed_processes.h"
#include "record/unwind/mapping_changes.h"

namespace perftape::record {

// Whose stacks are unwound.
struct UnwoundProcesses {
  std::optional<std::vector<std::uint32_t>> only;  // these and their descendants; nothing: all
  std::vector<std::uint32_t> ignored;              // these and their children, until they exec
};

class UnwindLoader {
 public:
  // Loads what `processes` map now, and starts the thread, which follows them. It adds the binaries
  // that it reads to `binaries`, opens them with `files`, and adds the times of loads to `loads`.
  // All but `processes` must outlive this object. Returns when the tables of all running processes
  // are loaded, or after a second; binaries that take longer are loaded later. Fails like
  // OpenOnCpus and Sideband::Open.
  static Result<std::unique_ptr<UnwindLoader>> Start(const UnwindMaps& maps,
                                                     KnownBinaries& binaries, OthersFiles& files,
                                                     LoadTimes& loads,
                                                     const UnwoundProcesses& processes);

  // Ends the thread.
  ~UnwindLoader();

  // What these processes mapped at the start: whole records without a trailer's ids. Valid until
  // the next call.
  Bytes initial_state() const { return initial_state_; }

  // The events of this CPU ended with it, and it is online again: follows it again, and reads what
  // was missed from /proc. Another thread may call it.
  void FollowAgain(int cpu);

 private:
  UnwindLoader(const UnwindMaps& maps, KnownBinaries& binaries, OthersFiles& files,
               LoadTimes& loads);
  Status OpenRings();
  Status LoadRunning(const UnwoundProcesses& processes);
  Status Update();
  Status ReopenReturned();
  Status DrainRings();
  void WriteChanged();
  void ReturnFreeMemory();
  void ForgetUnmapped();

  perfdata::SampleFormat format_;
  LoadTimes& loads_;
  std::uint64_t drained_ns_ = 0;  // when the rings were drained last
  std::vector<CpuEvent> events_;
  std::optional<Sideband> rings_;
  FollowedProcesses processes_;
  bool must_read_again_ = false;  // records were missed
  bool has_started_ = false;      // what runs has been loaded
  std::vector<std::byte> initial_state_;
  std::mutex returned_mutex_;
  std::vector<int> returned_cpus_;
  std::atomic<bool> is_late_ = false;    // the recording begins: no binary may delay it
  std::atomic<bool> is_ending_ = false;  // no binary is read any more
  std::uint64_t next_forget_ns_ = 0;     // ForgetUnmapped does nothing before this time
  std::uint64_t trimmed_at_ = 0;         // changed_table_bytes() of the last ReturnFreeMemory
  // Uses all of the above, so it is destroyed first.
  std::optional<BackgroundDrain> thread_;
};

}  // namespace perftape::record
