// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/latency_programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <utility>

#include "formats/base/file.h"
#include "latency_block.skel.h"
#include "latency_calls.skel.h"
#include "latency_dns.skel.h"
#include "latency_memory.skel.h"
#include "latency_sched.skel.h"
#include "latency_tcp.skel.h"
#include "record/bpf/hit_object.h"
#include "record/bpf/kernel_facts.h"
#include "record/bpf/off_cpu_programs.h"
#include "record/bpf/skeleton.h"

namespace perftape::record {
namespace {

struct LatencyObjectSettings {
  const wire_filter& filter;
  const wire_latency_settings& latency;
  std::uint32_t stacks;  // entries of stored_stacks
  const std::string& log;

  bool Has(std::uint32_t slot) const { return latency.probes[slot].event != WIRE_NO_EVENT; }
};

// Opens an object whose programs are those that `programs_of` returns for its skeleton.
template <class Generated, class ProgramsOf>
Result<HitObject> OpenLatency(const char* name, const LatencyObjectSettings& settings,
                              ProgramsOf programs_of) {
  return OpenHitObject<Generated>(name, settings.filter, settings.log,
                                  [&](const Generated& skeleton) {
                                    skeleton.rodata->latency = settings.latency;
                                    return programs_of(skeleton);
                                  });
}

Result<HitObject> OpenCalls(const LatencyObjectSettings& settings) {
  return OpenLatency<latency_calls_bpf>(
      "the BPF programs for system calls", settings, [](const latency_calls_bpf& opened) {
        return Programs{opened.progs.on_exit, opened.progs.on_enter, opened.progs.on_task_exit};
      });
}

// The same, of an object that stores stacks.
template <class Generated, class ProgramsOf>
Result<HitObject> OpenWithStacks(const char* name, const LatencyObjectSettings& settings,
                                 ProgramsOf programs_of) {
  return OpenLatency<Generated>(name, settings, [&](const Generated& skeleton) {
    skeleton.rodata->off_cpu.stacks = settings.stacks;
    SizeStoredStacks(skeleton.maps.stored_stacks, settings.stacks, settings.filter);
    return programs_of(skeleton);
  });
}

// Returns those of `programs` that are needed, and loads no others.
struct LatencyProgram {
  bpf_program* program;
  bool is_needed;
};
Programs Needed(std::initializer_list<LatencyProgram> programs) {
  Programs needed;
  for (const LatencyProgram& each : programs) {
    bpf_program__set_autoload(each.program, each.is_needed);
    if (each.is_needed) needed.push_back(each.program);
  }
  return needed;
}

Result<HitObject> OpenRunq(const LatencyObjectSettings& settings) {
  return OpenWithStacks<latency_sched_bpf>(
      "the BPF programs for run queues", settings, [&](const latency_sched_bpf& opened) {
        const bool has_switch_end = ArgumentsOfTracepoint("sched_exit_tp").has_value();
        opened.rodata->has_prev_state = ArgumentsOfTracepoint("sched_switch") >= 4U;
        opened.rodata->has_switch_end = has_switch_end;
        return Needed({{opened.progs.on_running, has_switch_end && settings.filter.callchain != 0},
                       {opened.progs.on_switch, true},
                       {opened.progs.on_wakeup, true},
                       {opened.progs.on_wakeup_new, true}});
      });
}

Result<HitObject> OpenMemory(const LatencyObjectSettings& settings) {
  return OpenLatency<latency_memory_bpf>(
      "the BPF programs for memory", settings, [&](const latency_memory_bpf& opened) {
        const bool has_reclaim = settings.Has(WIRE_LATENCY_RECLAIM);
        // CONFIG_MEMCG
        const bool has_cgroups = ArgumentsOfTracepoint("mm_vmscan_memcg_reclaim_begin").has_value();
        return Needed({{opened.progs.on_reclaim_end, has_reclaim},
                       {opened.progs.on_reclaim_begin, has_reclaim},
                       {opened.progs.on_cgroup_reclaim_end, has_reclaim && has_cgroups},
                       {opened.progs.on_cgroup_reclaim_begin, has_reclaim && has_cgroups},
                       {opened.progs.on_page_fault, settings.Has(WIRE_LATENCY_PAGE_FAULT)}});
      });
}

Result<HitObject> OpenBlock(const LatencyObjectSettings& settings) {
  return OpenWithStacks<latency_block_bpf>(
      "the BPF programs for block devices", settings, [](const latency_block_bpf& opened) {
        return Programs{opened.progs.on_complete, opened.progs.on_issue};
      });
}

Result<HitObject> OpenTcp(const LatencyObjectSettings& settings) {
  return OpenWithStacks<latency_tcp_bpf>(
      "the BPF programs for TCP", settings, [&](const latency_tcp_bpf& opened) {
        const bool has_rtt = settings.Has(WIRE_LATENCY_TCP_RTT);
        return Needed({{opened.progs.on_state, true},
                       {opened.progs.on_accepted, settings.Has(WIRE_LATENCY_TCP_ACCEPT) || has_rtt},
                       {opened.progs.on_segment, has_rtt}});
      });
}

Result<HitObject> OpenDns(const LatencyObjectSettings& settings) {
  return OpenWithStacks<latency_dns_bpf>(
      "the BPF programs for DNS", settings, [](const latency_dns_bpf& opened) {
        return Programs{opened.progs.on_dns_exit, opened.progs.on_dns_enter};
      });
}

constexpr std::uint32_t Bit(std::uint32_t slot) {
  return 1U << slot;
}
static_assert(WIRE_LATENCY_SLOTS <= 32);

// An object, and the slots of its probes, a bit each.
struct LatencyObject {
  std::uint32_t slots;
  Result<HitObject> (*open)(const LatencyObjectSettings& settings);
};
constexpr LatencyObject kLatencyObjects[] = {
    // The first one has the only programs at sys_enter and sys_exit.
    {(Bit(WIRE_SYSCALL_SLOTS) - 1) | Bit(WIRE_LATENCY_DNS) | Bit(WIRE_LATENCY_TCP_ACCEPT) |
         Bit(WIRE_LATENCY_TCP_RTT),
     OpenCalls},
    {Bit(WIRE_LATENCY_RUNQ), OpenRunq},
    {Bit(WIRE_LATENCY_RECLAIM) | Bit(WIRE_LATENCY_PAGE_FAULT), OpenMemory},
    {Bit(WIRE_LATENCY_BLOCK_IO), OpenBlock},
    {Bit(WIRE_LATENCY_TCP_CONNECT) | Bit(WIRE_LATENCY_TCP_ACCEPT) | Bit(WIRE_LATENCY_TCP_RTT),
     OpenTcp},
    {Bit(WIRE_LATENCY_DNS), OpenDns},
};

// The programs that are not attached: those of the first object go on to them. `map` is in that.
struct NextProgram {
  std::string_view program;
  const char* map;
  wire_next_program index;
};
constexpr NextProgram kNextPrograms[] = {
    {"on_dns_enter", "next_at_enter", WIRE_NEXT_DNS},
    {"on_dns_exit", "next_at_exit", WIRE_NEXT_DNS},
    {"on_accepted", "next_at_exit", WIRE_NEXT_ACCEPT},
};

const NextProgram* FindNextProgram(const bpf_program* program) {
  const std::string_view name = bpf_program__name(program);
  const auto* const found = std::ranges::find(kNextPrograms, name, &NextProgram::program);
  return found != std::end(kNextPrograms) ? found : nullptr;
}

// Lets the programs of `first` go on to those of `object`.
Status AddNextPrograms(bpf_object* first, const HitObject& object) {
  for (const bpf_program* program : object.programs) {
    const NextProgram* const next = FindNextProgram(program);
    if (next == nullptr || !bpf_program__autoload(program)) continue;
    const __u32 index = next->index;
    const int fd = bpf_program__fd(program);
    if (bpf_map_update_elem(bpf_object__find_map_fd_by_name(first, next->map), &index, &fd,
                            BPF_ANY) != 0) {
      return FailErrno("joining the latency probes of system calls", errno);
    }
  }
  return {};
}

// The events of the probes that are recorded, of those in these slots.
std::vector<std::uint32_t> EventsIn(std::uint32_t slots, const LatencyObjectSettings& settings) {
  std::vector<std::uint32_t> events;
  for (std::uint32_t slot = 0; slot < WIRE_LATENCY_SLOTS; ++slot) {
    const std::uint32_t event = settings.latency.probes[slot].event;
    if ((slots & Bit(slot)) != 0 && event != WIRE_NO_EVENT) events.push_back(event);
  }
  return events;
}

Result<UniqueFd> CreateHistograms(std::size_t entries) {
  bpf_map_create_opts options = {};
  options.sz = sizeof options;
  options.map_flags = BPF_F_NO_PREALLOC;
  UniqueFd map(bpf_map_create(BPF_MAP_TYPE_HASH, "latency", sizeof(wire_latency_key),
                              sizeof(wire_latency), static_cast<__u32>(entries), &options));
  if (!map) return FailErrno("the histograms of latency probes", errno);
  return map;
}

// The map that holds the current histograms.
Result<UniqueFd> CreateHolder(const UniqueFd& histograms) {
  bpf_map_create_opts options = {};
  options.sz = sizeof options;
  options.inner_map_fd = static_cast<__u32>(histograms.get());
  UniqueFd map(bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "latency_current", sizeof(__u32),
                              sizeof(__u32), 1, &options));
  if (!map) return FailErrno("the histograms of latency probes", errno);
  return map;
}

// Replaces the map of the object with this name, if it has one.
Status UseMap(bpf_object* object, const char* name, int fd) {
  bpf_map* const map = bpf_object__find_map_by_name(object, name);
  if (map == nullptr) return {};
  if (const int error = bpf_map__reuse_fd(map, fd); error != 0) {
    return FailErrno(fmt::format("sharing the map '{}'", name), -error);
  }
  return {};
}

// The maps of calls that end elsewhere. A connection that io_uring accepts is in `unaccepted` until
// it is closed, so that has more entries. They are small.
struct MapInProgress {
  const char* name;
  std::size_t entries_per_call;
};
constexpr MapInProgress kMapsInProgress[] = {
    {"connects", 1}, {"owners", 1},          {"unaccepted", 4},
    {"queries", 1},  {"asked_by_socket", 1}, {"requests", 1},
};

void SizeMapsInProgress(const bpf_object* object, std::size_t calls) {
  for (const MapInProgress& row : kMapsInProgress) {
    bpf_map* const map = bpf_object__find_map_by_name(object, row.name);
    if (map == nullptr) continue;
    bpf_map__set_max_entries(map, static_cast<__u32>(calls * row.entries_per_call));
  }
}

struct LoadedObject {
  HitObject object;
  std::vector<std::uint32_t> events;  // of its probes
};

}  // namespace

struct LatencyPrograms::Impl {
  std::size_t entries = 0;
  UniqueFd histograms, holder;
  std::vector<LoadedObject> objects;
  std::vector<Link> links;

  // The kernel returns when no program uses the former map any more (kernel/bpf/syscall.c,
  // maybe_wait_bpf_programs).
  Status Use(UniqueFd map) {
    const __u32 zero = 0;
    const int fd = map.get();
    if (bpf_map_update_elem(holder.get(), &zero, &fd, BPF_ANY) != 0) {
      return FailErrno("the histograms of latency probes", errno);
    }
    histograms = std::move(map);
    return {};
  }
};

LatencyPrograms::LatencyPrograms(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LatencyPrograms::LatencyPrograms(LatencyPrograms&&) noexcept = default;
LatencyPrograms& LatencyPrograms::operator=(LatencyPrograms&&) noexcept = default;
LatencyPrograms::~LatencyPrograms() = default;

Result<LatencyPrograms> LatencyPrograms::Load(const wire_filter& filter,
                                              const wire_latency_settings& settings,
                                              const LatencyLimits& limits,
                                              const std::function<Status(bpf_object*)>& share_maps,
                                              const std::string& log) {
  auto impl = std::make_unique<Impl>();
  impl->entries = limits.histograms;
  TRY_ASSIGN(UniqueFd first, CreateHistograms(limits.histograms));
  TRY_ASSIGN(impl->holder, CreateHolder(first));
  TRY(impl->Use(std::move(first)));
  const LatencyObjectSettings all{filter, settings, limits.stacks, log};
  for (const LatencyObject& row : kLatencyObjects) {
    std::vector<std::uint32_t> events = EventsIn(row.slots, all);
    if (events.empty()) continue;
    TRY_ASSIGN(HitObject object, row.open(all));
    TRY(share_maps(object.object));
    SizeMapsInProgress(object.object, limits.in_progress);
    TRY(UseMap(object.object, "latency_current", impl->holder.get()));
    if (!impl->objects.empty()) {
      bpf_object* const calls = impl->objects.front().object.object;
      TRY(UseMap(object.object, "last_query",
                 bpf_object__find_map_fd_by_name(calls, "last_query")));
    }
    TRY(object.Load(log));
    if (!impl->objects.empty()) {
      TRY(AddNextPrograms(impl->objects.front().object.object, object));
    }
    impl->objects.push_back({std::move(object), std::move(events)});
  }
  return LatencyPrograms(std::move(impl));
}

Status LatencyPrograms::Start(const std::string& log) {
  for (const LoadedObject& loaded : impl_->objects) {
    for (const bpf_program* program : loaded.object.programs) {
      if (!bpf_program__autoload(program) || FindNextProgram(program) != nullptr) continue;
      Link link(bpf_program__attach(program));
      if (!link) return ExplainFailure("cannot attach a latency probe", errno, log);
      impl_->links.push_back(std::move(link));
    }
  }
  return {};
}

// In reverse order: the end of a call is attached before its begin, and detached after it.
void LatencyPrograms::Stop() {
  while (!impl_->links.empty()) impl_->links.pop_back();
}

Result<std::vector<LatencyCounts>> LatencyPrograms::Drain() {
  TRY_ASSIGN(UniqueFd next, CreateHistograms(impl_->entries));
  const UniqueFd full = std::exchange(impl_->histograms, UniqueFd());
  if (Status used = impl_->Use(std::move(next)); !used) return Fail(std::move(used).error());
  std::vector<LatencyCounts> all;
  wire_latency_key key = {};
  const wire_latency_key* before = nullptr;
  LatencyCounts counts;
  while (bpf_map_get_next_key(full.get(), before, &counts.key) == 0) {
    if (bpf_map_lookup_elem(full.get(), &counts.key, &counts.histogram) != 0) {
      return FailErrno("reading the histograms of latency probes", errno);
    }
    all.push_back(counts);
    key = counts.key;
    before = &key;
  }
  return all;
}

// The programs of an object serve all of its probes.
std::uint64_t LatencyPrograms::MissedRuns(std::uint32_t event) const {
  std::uint64_t missed = 0;
  for (const LoadedObject& loaded : impl_->objects) {
    if (std::ranges::find(loaded.events, event) == loaded.events.end()) continue;
    for (const bpf_program* program : loaded.object.programs) {
      if (bpf_program__autoload(program)) missed += SkippedRuns(program);
    }
  }
  return missed;
}

}  // namespace perftape::record
