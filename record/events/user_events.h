// SPDX-License-Identifier: Apache-2.0
// The events of a recording without privileges: clocks and counters of user code, whose samples the
// kernel writes itself.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/machine/system_facts.h"
#include "record/processes/targets.h"

namespace perftape::record {

// Fails with kPermission for an event that needs a BPF program, or that only kernel code causes.
// The message names the event, the reason and `remedy`.
Status CheckUserEvent(const EventSpec& spec, std::string_view remedy);

// Fails with kPermission if the kernel refuses users all perf events. The kernels of some
// distributions do with kernel.perf_event_paranoid above 2, and so may a seccomp filter.
Status CheckUserEvents(const EventMachine& machine, const SystemFacts& facts);

// What a user without privileges may record on this machine.
EventMachine UserMachine();

// Returns the events with the modifier u, as `perf record` adds it; cpu-clock if there are none.
// Those with the modifier k keep it.
std::vector<EventSpec> InUserCode(std::span<const EventSpec> specs);

// Sets the attributes of events that OpenForThreads (recorded_events.h) opens. The kernel walks the
// stack by frame pointers with kFramePointers, and not at all otherwise.
void PlanForThreads(const RecordedThreads& threads, Callchains callchains,
                    std::span<PlannedEvent> events);

}  // namespace perftape::record
