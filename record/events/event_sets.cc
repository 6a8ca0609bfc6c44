// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_sets.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/period_unit.h"

namespace perftape::record {
namespace {

using perfdata::kCount;
using perfdata::kNanoseconds;

constexpr EventSet kSets[] = {
    // The reasons before NOT_SPECIFIED are no drop: SKB_NOT_DROPPED_YET and SKB_CONSUMED
    // (include/net/dropreason-core.h). Their number changed: there are none in Linux 5.17, where
    // the field is new, the first one since 5.18, both since 6.2.
    {"packetloss", "skb:kfree_skb/if=reason>=NOT_SPECIFIED/", kCount,
     "a packet that the kernel dropped"},
    {"tcpretrans", "tcp:tcp_retransmit_skb,tcp:tcp_retransmit_synack", kCount,
     "a TCP segment that was sent again"},
    {"tcpreset", "tcp:tcp_send_reset,tcp:tcp_receive_reset", kCount,
     "a TCP reset, sent or received"},
    {"oom", "oom:mark_victim", kCount, "a process that was killed for memory"},
    {"faults", "page-faults", kCount, "a page fault"},
    {kLockSet, "lock:contention_begin,lock:contention_end", kNanoseconds,
     "a wait for a lock of the kernel"},
};

}  // namespace

std::span<const EventSet> EventSets() {
  return kSets;
}

const EventSet* FindEventSet(std::string_view name) {
  const auto* const found = std::ranges::find(kSets, name, &EventSet::name);
  return found == std::end(kSets) ? nullptr : found;
}

}  // namespace perftape::record
