// SPDX-License-Identifier: Apache-2.0
#include "record/events/known_events.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/kernel_events.h"
#include "record/events/cache_events.h"

namespace perftape::record {
namespace {

// It counts nothing, and is not in the list. perf records it for its process events.
constexpr std::string_view kDummy = "dummy";

KnownEvent ToKnownEvent(const perfdata::KernelEvent& event) {
  const bool is_clock = perfdata::PeriodMeaningOf(event.name) == perfdata::PeriodMeaning::kCpuTime;
  return {.name = std::string(event.name),
          .alias = std::string(event.alias),
          .type = event.type,
          .config = event.config,
          .cause = is_clock ? SampleCause::kTimer : SampleCause::kCounter,
          .only_in_kernel = event.only_in_kernel};
}

KnownEvent ToKnownEvent(const CacheEvent& event) {
  return {.name = event.name, .type = perfdata::kTypeHardwareCache, .config = event.config};
}

std::vector<KnownEvent> MakeKnownEvents() {
  std::vector<KnownEvent> events;
  for (const perfdata::KernelEvent& event : perfdata::KernelEvents()) {
    if (IsCounted(event)) events.push_back(ToKnownEvent(event));
  }
  for (const CacheEvent& event : CacheEvents()) events.push_back(ToKnownEvent(event));
  return events;
}

constexpr EventSet kSets[] = {
    // The reasons before NOT_SPECIFIED are no drop: SKB_NOT_DROPPED_YET and SKB_CONSUMED
    // (include/net/dropreason-core.h). Their number changed: there are none in Linux 5.17, where
    // the field is new, the first one since 5.18, both since 6.2.
    {"packetloss", "a packet that the kernel dropped", "skb:kfree_skb/if=reason>=NOT_SPECIFIED/"},
    {"tcpretrans", "a TCP segment that was sent again",
     "tcp:tcp_retransmit_skb,tcp:tcp_retransmit_synack"},
    {"tcpreset", "a TCP reset, sent or received", "tcp:tcp_send_reset,tcp:tcp_receive_reset"},
    {"oom", "a process that was killed for lack of memory", "oom:mark_victim"},
    {"faults", "a page fault", "page-faults"},
};

std::vector<EventSet> MakeEventSets() {
  std::vector<EventSet> sets(std::begin(kSets), std::end(kSets));
  for (const ProgramEvent& event : ProgramEvents()) {
    sets.push_back({event.name, event.meaning, event.tracepoints, &event});
  }
  return sets;
}

constexpr OffCpuName kOffCpuNames[] = {
    {kOffCpu, "waits of threads for locks, input, disks or a CPU, in nanoseconds"},
    {kWakers, "the wakeups that end these waits, in nanoseconds that the woken thread slept"},
};

}  // namespace

const std::vector<KnownEvent>& KnownEvents() {
  static const std::vector<KnownEvent> events = MakeKnownEvents();
  return events;
}

std::optional<KnownEvent> FindKnownEvent(std::string_view name) {
  if (name == kDummy) return ToKnownEvent(*perfdata::FindKernelEvent(kDummy));
  if (name.empty()) return {};
  const auto found = std::ranges::find_if(KnownEvents(), [&](const KnownEvent& event) {
    return event.name == name || event.alias == name;
  });
  if (found != KnownEvents().end()) return *found;
  const std::optional<std::uint64_t> cache = CacheConfigOf(name);
  if (!cache) return {};
  return ToKnownEvent(CacheEvent{.name = std::string(name), .config = *cache});
}

std::span<const EventSet> EventSets() {
  static const std::vector<EventSet> sets = MakeEventSets();
  return sets;
}

const EventSet* FindEventSet(std::string_view name) {
  const std::span<const EventSet> sets = EventSets();
  const auto found = std::ranges::find(sets, name, &EventSet::name);
  return found == sets.end() ? nullptr : &*found;
}

std::span<const OffCpuName> OffCpuNames() {
  return kOffCpuNames;
}

bool IsOffCpuName(std::string_view name) {
  return std::ranges::find(kOffCpuNames, name, &OffCpuName::name) != std::end(kOffCpuNames);
}

}  // namespace perftape::record
