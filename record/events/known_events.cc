// SPDX-License-Identifier: Apache-2.0
#include "record/events/known_events.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/kernel_events.h"

namespace perftape::record {
namespace {

// The index is the number in perf_event.h: enum perf_hw_cache_id, _op_id and _op_result_id.
struct Cache {
  std::string_view name;
  std::string_view operations;  // that it has: load, store, prefetch
};
constexpr Cache kCaches[] = {{"L1-dcache", "lsp"}, {"L1-icache", "lp"}, {"LLC", "lsp"},
                             {"dTLB", "lsp"},      {"iTLB", "l"},       {"branch", "l"},
                             {"node", "lsp"}};
constexpr std::string_view kOperations[] = {"load", "store", "prefetch"};
constexpr std::uint32_t kTypeHardwareCache = 3;

void AddKernelEvents(std::vector<KnownEvent>& events) {
  for (const perfdata::KernelEvent& event : perfdata::KernelEvents()) {
    if (!IsCounted(event)) continue;
    const bool is_clock =
        perfdata::PeriodMeaningOf(event.name) == perfdata::PeriodMeaning::kCpuTime;
    events.push_back({.name = std::string(event.name),
                      .alias = std::string(event.alias),
                      .type = event.type,
                      .config = event.config,
                      .cause = is_clock ? SampleCause::kTimer : SampleCause::kCounter,
                      .only_in_kernel = event.only_in_kernel});
  }
}

void AddCaches(std::vector<KnownEvent>& events) {
  for (std::uint64_t id = 0; const Cache& cache : kCaches) {
    for (std::uint64_t operation = 0; operation < std::size(kOperations); ++operation) {
      const std::string_view verb = kOperations[operation];
      if (!cache.operations.contains(verb.front())) continue;
      const std::string start = std::string(cache.name).append("-").append(verb);
      const std::string plural = verb == "prefetch" ? "es" : "s";
      const std::uint64_t config = id | operation << 8;
      constexpr std::uint64_t kMiss = std::uint64_t{1} << 16;
      events.push_back(
          {.name = start + plural, .alias = "", .type = kTypeHardwareCache, .config = config});
      events.push_back({.name = start + "-misses",
                        .alias = "",
                        .type = kTypeHardwareCache,
                        .config = config | kMiss});
    }
    ++id;
  }
}

std::vector<KnownEvent> MakeKnownEvents() {
  std::vector<KnownEvent> events;
  AddKernelEvents(events);
  AddCaches(events);
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

const KnownEvent* FindKnownEvent(std::string_view name) {
  if (name.empty()) return nullptr;
  const auto found = std::ranges::find_if(KnownEvents(), [&](const KnownEvent& event) {
    return event.name == name || event.alias == name;
  });
  return found == KnownEvents().end() ? nullptr : &*found;
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
