// SPDX-License-Identifier: Apache-2.0
// The dummy event's own rings: what processes do, in the kernel's own records, whole and unchanged.
// Where a ring overflows, the kernel says so in a LOST record, which comes through like the others.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/events/cpu_events.h"
#include "record/rings/perf_ring.h"

namespace perftape::record {

struct SidebandOptions {
  // For each CPU, a power of two of pages. 300 forks and execs in 0.4 s lose records in 64 KiB and
  // none in this.
  std::size_t ring_bytes = std::size_t{512} << 10;
};

// `attr` as the kernel should have it so that Sideband::poll_fd works: a ring that is a quarter
// full wakes its reader.
perfdata::EventAttr AttrForPolling(perfdata::EventAttr attr, const SidebandOptions& options = {});

// Maps one ring for each event (SidebandAttr, opened by OpenOnCpus). Not thread-safe.
class Sideband {
 public:
  // The events must outlive it. kPermission names kernel.perf_event_mlock_kb.
  static Result<Sideband> Open(std::span<const CpuEvent> events,
                               const SidebandOptions& options = {});

  Sideband(Sideband&& other) noexcept = default;
  Sideband& operator=(Sideband&& other) = delete;
  ~Sideband();

  // Hands on every record that is there, CPU by CPU, in time order for each CPU. Each is valid
  // during the call only. Returns how many. kCorrupt after all other rings were drained too.
  Result<std::size_t> Drain(const std::function<void(Bytes record)>& on_record);

  // Maps the ring of an event that was opened for a CPU that came or came back, instead of that of
  // its former event, and gives up what was left in there.
  Status Replace(const CpuEvent& event);

  // Becomes readable when a ring is a quarter full, if the events were opened with AttrForPolling.
  // It belongs to this object.
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
