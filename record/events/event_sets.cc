// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_sets.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace perftape::record {
namespace {

constexpr EventSet kSets[] = {
    // The reasons before NOT_SPECIFIED are no drop: SKB_NOT_DROPPED_YET and SKB_CONSUMED
    // (include/net/dropreason-core.h). Their number changed: there are none in Linux 5.17, where
    // the field is new, the first one since 5.18, both since 6.2.
    {"packetloss", "a packet that the kernel dropped", "skb:kfree_skb/if=reason>=NOT_SPECIFIED/"},
    {"tcpretrans", "a TCP segment that was sent again",
     "tcp:tcp_retransmit_skb,tcp:tcp_retransmit_synack"},
    {"tcpreset", "a TCP reset, sent or received", "tcp:tcp_send_reset,tcp:tcp_receive_reset"},
    {"oom", "a process that was killed for memory", "oom:mark_victim"},
    {"faults", "a page fault", "page-faults"},
};

std::vector<EventSet> MakeEventSets() {
  std::vector<EventSet> sets(std::begin(kSets), std::end(kSets));
  for (const ProgramEvent& event : ProgramEvents()) {
    sets.push_back({event.name, event.meaning, event.tracepoints, &event});
  }
  return sets;
}

}  // namespace

std::span<const EventSet> EventSets() {
  static const std::vector<EventSet> sets = MakeEventSets();
  return sets;
}

const EventSet* FindEventSet(std::string_view name) {
  const std::span<const EventSet> sets = EventSets();
  const auto found = std::ranges::find(sets, name, &EventSet::name);
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace perftape::record
