// SPDX-License-Identifier: Apache-2.0
#include "record/events/bpf_events.h"

#include <utility>

namespace perftape::record {

std::vector<BpfEvent> BpfEventsOf(std::span<const PlannedEvent> planned) {
  std::vector<BpfEvent> events;
  for (const PlannedEvent& event : planned) {
    BpfEvent sampled{.cause = event.cause, .settings = event.settings, .program = event.program};
    if (event.cause == SampleCause::kFunction) {
      sampled.probe = event.locations.front().kind;
      sampled.function = event.locations.front().target;
    }
    events.push_back(std::move(sampled));
  }
  return events;
}

}  // namespace perftape::record
