// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/program_events.h"

#include "lock.skel.h"
#include "record/bpf/hit_object.h"

namespace perftape::record {
namespace {

constexpr RawField kLockFields[] = {{"lock_addr", 8, 8}, {"flags", 16, 4}};

// The end is attached first: a wait that begins then has one.
Result<HitObject> OpenLock(const wire_filter& filter, const std::string& log) {
  return OpenHitObject<lock_bpf>(
      "the BPF programs for locks", filter, log, [](const lock_bpf& opened) {
        return Programs{opened.progs.on_contention_end, opened.progs.on_contention_begin};
      });
}

constexpr ProgramEvent kProgramEvents[] = {
    {.name = "lock",
     .in_file = &perfdata::kLockTime,
     .meaning = "a wait for a lock of the kernel",
     .tracepoints = "lock:contention_begin,lock:contention_end",
     .raw_fields = kLockFields,
     .interrupts_sending = true,  // it may be a wait for the lock of the ring
     .open = OpenLock},
};

}  // namespace

std::span<const ProgramEvent> ProgramEvents() {
  return kProgramEvents;
}

}  // namespace perftape::record
