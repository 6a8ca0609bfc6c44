// SPDX-License-Identifier: Apache-2.0
#include "record/bpf/bpf_objects.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "on_cpu.skel.h"
#include "record/bpf/kernel_facts.h"
#include "record/bpf/latency_settings.h"
#include "record/bpf/skeleton.h"
#include "record/bpf/wire_settings.h"

namespace perftape::record {
namespace {

// The default of pid_max. The map has two megabytes and exists only if processes are filtered.
constexpr std::uint32_t kMaxTargetProcesses = 32768;

// Fails if programs cannot read the registers of user code in every mode.
Status CheckUserRegisters() {
  if (HasTaskRegisters()) return {};
  return Fail(ErrorCode::kUnsupported,
              "the registers of user code (--call-graph eh or dwarf) need Linux 5.15 or later");
}

// Samples with a copy of the user stack are built in a map of their own, which is large.
Status SizeLongScratch(bpf_object* object, std::size_t cpus) {
  const bpf_map* const scratch = bpf_object__find_map_by_name(object, "scratch");
  bpf_map* const long_scratch = bpf_object__find_map_by_name(object, "long_scratch");
  const std::size_t entries = cpus * bpf_map__max_entries(scratch);
  if (const int error = bpf_map__set_max_entries(long_scratch, static_cast<__u32>(entries));
      error != 0) {
    return FailErrno("the memory for copies of user stacks", -error);
  }
  return {};
}

bpf_program* ClockProgram(const on_cpu_bpf& skeleton, ExpirySource source) {
  return source == ExpirySource::kKernelIfPossible ? skeleton.progs.on_cpu
                                                   : skeleton.progs.on_cpu_by_time;
}

void SetUnwindMapSizes(const on_cpu_bpf& skeleton, const BpfOptions& options, std::size_t cpus) {
  if (options.callchains != Callchains::kUnwindTables) return;
  constexpr std::size_t kBytesPerMapping = 8 * sizeof(wire_unwind_mapping);
  const auto set = [](bpf_map* map, std::size_t entries) {
    bpf_map__set_max_entries(map, static_cast<__u32>(entries));
  };
  set(skeleton.maps.unwind_cells, options.unwind_bytes / sizeof(wire_unwind_cell));
  set(skeleton.maps.unwind_rules, WIRE_UNWIND_RULES);
  set(skeleton.maps.unwind_tables, WIRE_UNWIND_TABLES);
  set(skeleton.maps.unwind_mappings,
      std::max(options.unwind_bytes, kUsualUnwindBytes) / kBytesPerMapping);
  set(skeleton.maps.unwind_processes, WIRE_UNWIND_PROCESSES);
  set(skeleton.maps.unwind_allowances, WIRE_UNWIND_PROCESSES);
  set(skeleton.maps.unwind_counts, options.events.size() * cpus);
  set(skeleton.maps.unwind_recent, WIRE_UNWIND_RECENT * cpus);
}

void SetMapSizes(const on_cpu_bpf& skeleton, const BpfOptions& options, std::size_t cpus) {
  const std::size_t events = options.events.size();
  const auto set = [](bpf_map* map, std::size_t entries) {
    bpf_map__set_max_entries(map, static_cast<__u32>(entries));
  };
  set(skeleton.maps.cpus, events * cpus);
  set(skeleton.maps.events, events);
  set(skeleton.maps.ring, options.ring_bytes);
  if (options.rings > 1) set(skeleton.maps.rings, options.rings);
  const SampleFilter& filter = options.filter;
  if (!filter.threads.empty()) set(skeleton.maps.target_threads, filter.threads.size());
  if (filter.by_process()) set(skeleton.maps.target_processes, kMaxTargetProcesses);
  if (!filter.scope.cgroups.empty()) {
    set(skeleton.maps.target_cgroups, filter.scope.cgroups.size());
  }
  SetUnwindMapSizes(skeleton, options, cpus);
}

}  // namespace

BpfObjects::BpfObjects(BpfObjects&&) noexcept = default;
BpfObjects& BpfObjects::operator=(BpfObjects&&) noexcept = default;
BpfObjects::~BpfObjects() = default;

Result<BpfObjects> BpfObjects::Load(const BpfOptions& options, const std::string& log) {
  const int possible = libbpf_num_possible_cpus();
  if (possible < 0) return FailErrno("counting the CPUs", -possible);
  if (options.stack_bytes != 0 || options.callchains == Callchains::kUnwindTables) {
    TRY(CheckUserRegisters());
  }
  BpfObjects objects;
  objects.cpus_ = static_cast<std::size_t>(possible);
  objects.has_stacks_ = options.stack_bytes != 0 || options.callchains == Callchains::kUnwindTables;
  objects.programs_.resize(options.events.size());
  objects.uses_cookies_ = options.events.size() > 1 &&
                          options.event_source == EventSource::kCookieIfPossible &&
                          HasAttachCookies();
  TRY(objects.LoadInstances(options, log));
  TRY(objects.LoadOffCpu(options, log));
  TRY(objects.LoadLatency(options, log));
  TRY(objects.WriteSettings(options));
  if (options.rings > 1) TRY(objects.GroupRings());
  return objects;
}

// The first instance owns the maps, so it is loaded even if there are only tracepoints.
Status BpfObjects::LoadInstances(const BpfOptions& options, const std::string& log) {
  TRY(LoadFirst(options, uses_cookies_ ? WIRE_EVENT_OF_COOKIE : 0, log));
  for (std::uint32_t event = 0; event < options.events.size(); ++event) {
    if (!programs_[event].empty()) continue;  // it shares an instance
    const SampleCause cause = options.events[event].cause;
    if (IsPerCpu(cause)) TRY(LoadOnCpu(options, event, options.expiry_source, log));
    if (const HitObjectKind* const kind = HitObjectKindOf(cause)) {
      TRY(LoadHits(options, *kind, event, log));
    }
  }
  return {};
}

// Before Linux 6.2, or without the JIT, a program can read only the registers, not its event.
Status BpfObjects::LoadFirst(const BpfOptions& options, std::uint32_t event,
                             const std::string& log) {
  Status loaded = LoadOnCpu(options, event, options.expiry_source, log);
  if (!loaded && options.expiry_source == ExpirySource::kKernelIfPossible) {
    loaded = LoadOnCpu(options, event, ExpirySource::kOwnClock, log);
  }
  return loaded;
}

Status BpfObjects::LoadOnCpu(const BpfOptions& options, std::uint32_t event, ExpirySource source,
                             const std::string& log) {
  TRY_ASSIGN(Skeleton<on_cpu_bpf> skeleton, OpenSkeleton<on_cpu_bpf>(log));
  const auto load_if = [](bpf_program* program, bool is_needed) {
    bpf_program__set_autoload(program, is_needed);
  };
  bpf_program* const clock = ClockProgram(*skeleton, source);
  skeleton->rodata->filter = WireFilter(options, event, cpus_);
  load_if(skeleton->progs.on_cpu, false);
  load_if(skeleton->progs.on_cpu_by_time, false);
  load_if(clock, Needs(options, SampleCause::kTimer));
  load_if(skeleton->progs.on_count, Needs(options, SampleCause::kCounter));
  const bool is_first = on_cpu_.empty();
  for (bpf_program* tracker :
       {skeleton->progs.follow_fork, skeleton->progs.follow_exec, skeleton->progs.follow_exit}) {
    load_if(tracker, is_first && options.filter.by_process());
  }
  if (is_first) {
    SetMapSizes(*skeleton, options, cpus_);
    if (has_stacks_) TRY(SizeLongScratch(skeleton->obj, cpus_));
    TRY(CreateMoreRings(options));
    // Before Linux 5.10 all rings must have the size of the declared one.
    if (options.rings > 1) {
      bpf_map__set_inner_map_fd(skeleton->maps.rings, more_rings_.front().get());
    }
  } else {
    TRY(ShareMaps(skeleton->obj));
  }
  if (const int error = on_cpu_bpf__load(skeleton.get()); error != 0) {
    return ExplainFailure("cannot load the BPF programs", -error, log);
  }
  SetPrograms(options, SampleCause::kTimer, event, {clock});
  SetPrograms(options, SampleCause::kCounter, event, {skeleton->progs.on_count});
  on_cpu_.push_back(std::move(skeleton));
  return {};
}

Status BpfObjects::LoadHits(const BpfOptions& options, const HitObjectKind& kind,
                            std::uint32_t event, const std::string& log) {
  const bool is_shared = uses_cookies_ && kind.object_of == ObjectOf::kAllEvents;
  const std::uint32_t number = is_shared ? WIRE_EVENT_OF_COOKIE : event;
  TRY_ASSIGN(HitObject object,
             kind.open(options.events[event], WireFilter(options, number, cpus_), log));
  TRY(ShareMaps(object.object));
  TRY(object.Load(log));
  SetPrograms(options, kind.cause, number, object.programs);
  hits_.push_back(std::move(object));
  return {};
}

void BpfObjects::SetPrograms(const BpfOptions& options, SampleCause cause, std::uint32_t event,
                             const std::vector<bpf_program*>& programs) {
  for (std::uint32_t number = 0; number < programs_.size(); ++number) {
    if (number != event && event != WIRE_EVENT_OF_COOKIE) continue;
    if (options.events[number].cause == cause) programs_[number] = programs;
  }
}

Status BpfObjects::LoadOffCpu(const BpfOptions& options, const std::string& log) {
  const std::optional<wire_off_cpu> settings = OffCpuSettings(options);
  if (!settings) return {};
  TRY_ASSIGN(OffCpuPrograms programs,
             OffCpuPrograms::Load(
                 WireFilter(options, WIRE_EVENT_OF_COOKIE, cpus_), *settings,
                 [this](bpf_object* object) { return ShareMaps(object); }, log));
  off_cpu_.emplace(std::move(programs));
  return {};
}

Status BpfObjects::LoadLatency(const BpfOptions& options, const std::string& log) {
  if (!Needs(options, SampleCause::kLatency)) return {};
  TRY_ASSIGN(const wire_latency_settings settings, LatencySettings(options.events));
  TRY_ASSIGN(LatencyPrograms programs,
             LatencyPrograms::Load(
                 WireFilter(options, WIRE_EVENT_OF_COOKIE, cpus_), settings,
                 {.histograms = options.latency_histograms,
                  .in_progress = options.latency_in_progress,
                  .stacks = StoredStacks(options)},
                 [this](bpf_object* object) { return ShareMaps(object); }, log));
  latency_.emplace(std::move(programs));
  return {};
}

// The other instances use the maps of the first. Only the scratch samples and the constants are
// their own.
Status BpfObjects::ShareMaps(bpf_object* object) const {
  if (has_stacks_) TRY(SizeLongScratch(object, cpus_));
  const auto& maps = on_cpu_.front()->maps;
  for (const bpf_map* map :
       {maps.ring, maps.rings, maps.cpus, maps.events, maps.target_processes, maps.target_threads,
        maps.target_cgroups, maps.target_cgroup_ids, maps.sending, maps.unwind_cells,
        maps.unwind_rules, maps.unwind_tables, maps.unwind_mappings, maps.unwind_processes,
        maps.unwind_counts, maps.unwind_allowances, maps.unwind_recent}) {
    bpf_map* const other = bpf_object__find_map_by_name(object, bpf_map__name(map));
    if (other == nullptr) continue;
    if (const int error = bpf_map__reuse_fd(other, bpf_map__fd(map)); error != 0) {
      return FailErrno(fmt::format("sharing the map '{}'", bpf_map__name(map)), -error);
    }
  }
  return {};
}

Status BpfObjects::WriteSettings(const BpfOptions& options) const {
  const int map = bpf_map__fd(on_cpu_.front()->maps.events);
  for (std::uint32_t event = 0; event < options.events.size(); ++event) {
    if (bpf_map_update_elem(map, &event, &options.events[event].settings, BPF_ANY) != 0) {
      return FailErrno("writing the settings of the events", errno);
    }
  }
  return {};
}

Status BpfObjects::CreateMoreRings(const BpfOptions& options) {
  while (more_rings_.size() + 1 < options.rings) {
    UniqueFd ring(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
                                 static_cast<__u32>(options.ring_bytes), nullptr));
    if (!ring) {
      return FailErrno(fmt::format("a ring buffer of {} bytes", options.ring_bytes), errno);
    }
    more_rings_.push_back(std::move(ring));
  }
  return {};
}

Status BpfObjects::GroupRings() const {
  const int groups = bpf_map__fd(on_cpu_.front()->maps.rings);
  const std::vector<int> all = rings();
  for (std::uint32_t group = 0; const int ring : all) {
    if (bpf_map_update_elem(groups, &group, &ring, BPF_ANY) != 0) {
      return FailErrno("the ring buffers of groups of CPUs", errno);
    }
    ++group;
  }
  return {};
}

std::array<bpf_program*, 2> BpfObjects::process_adders() const {
  const auto& programs = on_cpu_.front()->progs;
  return {programs.follow_fork, programs.follow_exec};
}

bpf_program* BpfObjects::process_remover() const {
  return on_cpu_.front()->progs.follow_exit;
}

std::vector<int> BpfObjects::rings() const {
  std::vector<int> rings = {bpf_map__fd(on_cpu_.front()->maps.ring)};
  for (const UniqueFd& ring : more_rings_) rings.push_back(ring.get());
  return rings;
}

int BpfObjects::counters() const {
  return bpf_map__fd(on_cpu_.front()->maps.cpus);
}

UnwindMapFiles BpfObjects::unwind_maps() const {
  const auto& maps = on_cpu_.front()->maps;
  const auto file = [](const bpf_map* map) {
    return UnwindMapFile{.fd = bpf_map__fd(map), .elements = bpf_map__max_entries(map)};
  };
  return {.cells = file(maps.unwind_cells),
          .rules = file(maps.unwind_rules),
          .tables = file(maps.unwind_tables),
          .mappings = file(maps.unwind_mappings),
          .processes = file(maps.unwind_processes),
          .counts = file(maps.unwind_counts)};
}

int BpfObjects::target_processes() const {
  return bpf_map__fd(on_cpu_.front()->maps.target_processes);
}

int BpfObjects::target_cgroups() const {
  return bpf_map__fd(on_cpu_.front()->maps.target_cgroups);
}

int BpfObjects::target_cgroup_ids() const {
  return bpf_map__fd(on_cpu_.front()->maps.target_cgroup_ids);
}

int BpfObjects::target_threads() const {
  return bpf_map__fd(on_cpu_.front()->maps.target_threads);
}

}  // namespace perftape::record
