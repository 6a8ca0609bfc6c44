// SPDX-License-Identifier: Apache-2.0
#include "record/events/known_events.h"

#include <algorithm>
#include <iterator>

#include "formats/perfdata/abi.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::record {
namespace {

struct Row {
  std::string_view name, alias;
  std::uint64_t config;  // include/uapi/linux/perf_event.h, enum perf_sw_ids and perf_hw_id
  bool only_in_kernel = false;
};

// PERF_COUNT_SW_DUMMY and _BPF_OUTPUT count nothing, and _CGROUP_SWITCHES is per CPU like
// context-switches.
constexpr Row kClocks[] = {{perfdata::kCpuClock.name, "", perfdata::kSoftwareCpuClock},
                           {perfdata::kTaskClock.name, "", perfdata::kSoftwareTaskClock}};
constexpr Row kSoftware[] = {{"page-faults", "", 2},
                             {"context-switches", "cs", 3, true},
                             {"cpu-migrations", "migrations", 4, true},
                             {"minor-faults", "", 5},
                             {"major-faults", "", 6},
                             {"alignment-faults", "", 7},
                             {"emulation-faults", "", 8},
                             {"cgroup-switches", "", 11, true}};
constexpr Row kHardware[] = {{"cycles", "cpu-cycles", 0},
                             {"instructions", "", 1},
                             {"cache-references", "", 2},
                             {"cache-misses", "", 3},
                             {"branches", "branch-instructions", 4},
                             {"branch-misses", "", 5},
                             {"bus-cycles", "", 6},
                             {"stalled-cycles-frontend", "idle-cycles-frontend", 7},
                             {"stalled-cycles-backend", "idle-cycles-backend", 8},
                             {"ref-cycles", "", 9}};

// The index is the number in perf_event.h: enum perf_hw_cache_id, _op_id and _op_result_id.
struct Cache {
  std::string_view name;
  std::string_view operations;  // that it has: load, store, prefetch
};
constexpr Cache kCaches[] = {{"L1-dcache", "lsp"}, {"L1-icache", "lp"}, {"LLC", "lsp"},
                             {"dTLB", "lsp"},      {"iTLB", "l"},       {"branch", "l"},
                             {"node", "lsp"}};
constexpr Row kOperations[] = {{"load", "", 0}, {"store", "", 1}, {"prefetch", "", 2}};
constexpr std::uint32_t kTypeHardwareCache = 3;

template <class Rows>
void Add(const Rows& rows, std::uint32_t type, SampleCause cause, std::vector<KnownEvent>& events) {
  for (const Row& row : rows) {
    events.push_back({.name = std::string(row.name),
                      .alias = std::string(row.alias),
                      .type = type,
                      .config = row.config,
                      .cause = cause,
                      .only_in_kernel = row.only_in_kernel});
  }
}

void AddCaches(std::vector<KnownEvent>& events) {
  for (std::uint64_t id = 0; const Cache& cache : kCaches) {
    for (const Row& operation : kOperations) {
      if (!cache.operations.contains(operation.name.front())) continue;
      const std::string start = std::string(cache.name).append("-").append(operation.name);
      const std::string plural = operation.name == "prefetch" ? "es" : "s";
      const std::uint64_t config = id | operation.config << 8;
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
  Add(kClocks, perfdata::kTypeSoftware, SampleCause::kTimer, events);
  Add(kSoftware, perfdata::kTypeSoftware, SampleCause::kCounter, events);
  Add(kHardware, perfdata::kTypeHardware, SampleCause::kCounter, events);
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

constexpr OffCpuName kOffCpuNames[] = {
    {kOffCpu, "waits of threads for locks, input, disks or a CPU, in nanoseconds"},
    {kWakers, "what ends these waits, in nanoseconds that the woken thread slept"},
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
