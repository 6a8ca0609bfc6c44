// SPDX-License-Identifier: Apache-2.0
// The rings of the sideband event: process events as records of the kernel, unchanged, and in a
// recording without BPF programs also samples. When a ring overflows, the kernel adds a LOST
// record.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/rings/cpu_events.h"
#include "record/rings/perf_ring.h"

namespace perftape::record {

struct SidebandOptions {
  // For each CPU; a power of two of pages. 300 forks and execs in 0.4 s lose records with 64 KiB,
  // and none with this size.
  std::size_t ring_bytes = std::size_t{512} << 10;
};

// Returns `attr` with the watermark that Sideband::poll_fd needs: a ring wakes its reader when it
// is a quarter full.
perfdata::EventAttr AttrForPolling(perfdata::EventAttr attr, const SidebandOptions& options = {});

// Owns one mapped ring for each CPU. Not thread-safe.
class Sideband {
 public:
  // Maps a ring for each event (SidebandAttr, opened by OpenOnCpus). The descriptors of the events
  // must stay open. kPermission names kernel.perf_event_mlock_kb.
  static Result<Sideband> Open(std::span<const CpuEvent> events,
                               const SidebandOptions& options = {});

  Sideband(Sideband&& other) noexcept = default;
  Sideband& operator=(Sideband&& other) = delete;
  ~Sideband();

  // Calls `on_record` for every record in the rings, CPU by CPU, in time order for each CPU. The
  // record is valid during the call only. Returns the number of records. kCorrupt if a ring is
  // damaged, after all other rings were drained.
  Result<std::size_t> Drain(const std::function<void(Bytes record)>& on_record);

  // Maps the ring of an event of a CPU that came online. Drops the ring of the former event of this
  // CPU, with the records in it.
  Status Replace(const CpuEvent& event);

  // Becomes readable when a ring is a quarter full, if the events have AttrForPolling. It belongs
  // to this object.
  int poll_fd() const { return poll_fd_.get(); }

 private:
  struct Mapping {
    int cpu;
    void* address;
    std::size_t size;
  };
  Sideband() = default;
  Result<Mapping> Map(const CpuEvent& event) const;
  Ring RingOf(const Mapping& mapping) const;

  std::size_t ring_bytes_ = 0;
  UniqueFd poll_fd_;  // epoll
  std::vector<Mapping> mappings_;
  std::vector<Ring> rings_;
};

}  // namespace perftape::record
