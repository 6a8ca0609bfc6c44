// SPDX-License-Identifier: Apache-2.0
#include "record/input/event_input.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <iterator>
#include <utility>

#include "bpf/wire.h"
#include "formats/base/duration.h"
#include "formats/perfdata/record_cursor.h"
#include "record/bpf/kernel_facts.h"
#include "record/events/event_plan.h"
#include "record/events/kernel_samples.h"
#include "record/events/timer_limit.h"
#include "record/input/initial_state.h"
#include "record/machine/clock.h"
#include "record/machine/cpu_list.h"
#include "record/machine/machine_features.h"
#include "record/machine/requirements.h"
#include "record/machine/system_facts.h"
#include "record/rings/ring_plan.h"
#include "record/scope/scope.h"

namespace perftape::record {
namespace {

// A sideband ring wakes its reader when it is a quarter full. This is for machines that start many
// programs at once, while the recorder writes or waits for the disk.
constexpr std::chrono::milliseconds kDrainInterval{100};

SampleFilter FilterOf(const InputOptions& options, const Targets& targets, const Scope& scope) {
  SampleFilter filter = targets.filter();
  filter.scope = scope;
  filter.user = options.user;
  if (options.include_self == IncludeSelf::kNo) filter.excluded_process = getpid();
  return filter;
}

// The command maps what the recorder maps until it calls exec.
UnwoundProcesses UnwoundProcessesOf(const Targets& targets, const InputOptions& options,
                                    const OthersFiles& files, std::uint32_t command) {
  UnwoundProcesses unwound = {.only = targets.processes(), .ignored = {command}};
  if (options.include_self == IncludeSelf::kNo) {
    for (const pid_t pid : {getpid(), files.service_pid()}) {
      unwound.ignored.push_back(static_cast<std::uint32_t>(pid));
    }
  }
  return unwound;
}

Result<Scope> ScopeOf(const InputOptions& options) {
  TRY_ASSIGN(Scope scope, ResolveScope(options.scope));
  if (scope.recorded && !scope.recorded->is_v2()) {
    TRY_ASSIGN(scope.v1_subsystem, CgroupSubsystem(scope.recorded->controllers));
  }
  return scope;
}

void AddCgroupToSamples(const Scope& scope, std::span<PlannedEvent> events) {
  if (!scope.recorded) return;
  for (PlannedEvent& event : events) event.attr.sample_type |= perfdata::kSampleCgroup;
}

// Or says that the samples have no user part of the call chain.
void AddUserStateToSamples(const InputOptions& options, std::span<PlannedEvent> events) {
  if (options.stack_bytes == 0) {
    if (options.callchains != Callchains::kOnlyKernel) return;
    for (PlannedEvent& event : events) event.attr.flags |= perfdata::kExcludeCallchainUser;
    return;
  }
  for (PlannedEvent& event : events) AddUserState(options.stack_bytes, event.attr);
}

// With copies of stacks, perf records data mappings as well.
bool HasDataMappings(const InputOptions& options) {
  return options.data_mappings || options.stack_bytes != 0;
}

SidebandContent SidebandContentOf(const Scope& scope, const InputOptions& options) {
  return {.samples_have_cgroups = scope.recorded.has_value(),
          .cgroups = scope.reports_new_cgroups(),
          .data_mappings = HasDataMappings(options),
          .namespaces = scope.namespaces,
          .bpf_events = options.bpf_events};
}

std::uint32_t MostUserFrames() {
  const std::optional<int> most = ReadKernelSetting("perf_event_max_stack");
  return static_cast<std::uint32_t>(
      std::clamp(most.value_or(WIRE_MAX_FRAMES), 1, WIRE_MAX_USER_FRAMES));
}

// Of one event on one CPU. Nobody knows how often events without a frequency
// happen.
std::uint64_t SamplesPerSecond(const PlannedEvent& event) {
  constexpr std::uint64_t kUnknown = 10'000;
  if (event.settings.period_ns != 0) return kNsPerSecond / event.settings.period_ns;
  if (event.attr.Has(perfdata::kFreq)) return event.attr.sample_period;
  return kUnknown;
}

RingPlan RingsOf(const InputOptions& options, std::span<const PlannedEvent> planned) {
  std::size_t cpus = options.cpus.size();
  if (const Result<std::vector<int>> online = OnlineCpus(); online && cpus == 0) {
    cpus = online->size();
  }
  std::uint64_t rate = 0;
  for (const PlannedEvent& event : planned) rate += SamplesPerSecond(event);
  const bool with_tables = options.callchains == Callchains::kUnwindTables;
  return PlanRings(cpus, rate, options.stack_bytes, with_tables ? kLeastUnwindRing : kLeastRing,
                   options.ring_bytes);
}

BpfOptions BpfOptionsOf(const InputOptions& options, const Targets& targets, const Scope& scope,
                        std::span<const PlannedEvent> planned) {
  const RingPlan rings = RingsOf(options, planned);
  if (options.libbpf_log) options.libbpf_log(RingPlanText(rings));
  return {.filter = FilterOf(options, targets, scope),
          .callchains = options.callchains,
          .stack_bytes = options.stack_bytes,
          .user_frames = MostUserFrames(),
          .unwind_bytes = options.unwind_bytes,
          .ring_bytes = rings.bytes,
          .rings = rings.rings,
          .events = BpfEventsOf(planned),
          .off_cpu_threshold = options.off_cpu_threshold,
          .latency_histograms = options.latency_histograms,
          .latency_in_progress = options.latency_in_progress,
          .log = options.libbpf_log};
}

// With an unwinder in the kernel, frame pointers are only for kernels without one.
void ChooseCallchains(InputOptions& options, std::vector<std::string>& warnings) {
  if (!options.prefers_unwind_tables || IsKernel(options.sampler)) return;
  if (HasTaskRegisters()) {
    options.callchains = Callchains::kUnwindTables;
    return;
  }
  warnings.push_back(
      "call chains of user code are found by frame pointers (--call-graph fp), because this kernel "
      "has no bpf_task_pt_regs: unwind tables (--call-graph eh) need Linux 5.15");
}

// Plans `specs` with the other options, at rates that this machine carries.
Result<EventPlan> PlanAll(const InputOptions& options, std::span<const EventSpec> specs,
                          const EventMachine& machine, std::vector<std::string>& warnings) {
  TRY_ASSIGN(EventPlan plan, PlanEvents(specs, options.rate, options.missing_events, machine));
  std::ranges::move(plan.warnings, std::back_inserter(warnings));
  if (auto warning = LimitTimers(plan.events, MeasureTimerInterrupt)) {
    warnings.push_back(*std::move(warning));
  }
  return plan;
}

// Plans what the kernel itself samples.
Result<EventPlan> PlanForSampler(const InputOptions& options, std::vector<std::string>& warnings) {
  const bool of_user = options.sampler == Sampler::kKernelForUser;
  return PlanAll(options, of_user ? InUserCode(options.events) : options.events,
                 MachineOf(options.sampler, ProgramsRemedy(ReadSystemFacts())), warnings);
}

Result<RecordedEvents> OpenForThreads(const InputOptions& options, const Targets& targets,
                                      const Scope& scope, std::vector<PlannedEvent> planned) {
  TRY_ASSIGN(const RecordedThreads threads, targets.FindThreads());
  PlanForThreads(threads, planned);
  if (options.first_state == FirstState::kOff) {
    for (PlannedEvent& event : planned) {
      event.attr.flags &= ~static_cast<std::uint64_t>(perfdata::kEnableOnExec);
    }
  }
  SidebandContent content = SidebandContentOf(scope, options);
  content.inherit = Inherit::kYes;
  content.only_user_code = options.sampler == Sampler::kKernelForUser;
  return RecordedEvents::OpenForThreads(std::move(planned), options.cpus, content, options.sampler,
                                        threads);
}

// Returns the process of a sample that the kernel wrote; 0 if it is damaged. IDENTIFIER and IP come
// before it (event_attrs).
std::uint32_t ProcessOf(const perfdata::RecordView& sample) {
  constexpr std::size_t kOffset = 2 * sizeof(std::uint64_t);
  if (sample.payload.size() < kOffset + sizeof(std::uint32_t)) return 0;
  return LoadFixed<std::uint32_t>(sample.payload.data() + kOffset, sample.order);
}

// The size of the ring of each CPU. Users may lock little memory.
std::size_t OwnRingBytes(const InputOptions& options, const RecordedEvents& events) {
  const std::size_t usual = SidebandOptions().ring_bytes;
  if (options.sampler == Sampler::kKernelForUser) return options.ring_bytes.value_or(usual);
  std::uint64_t rate = 0;
  for (const PlannedEvent& event : events.in_file().sampling()) rate += SamplesPerSecond(event);
  return PlanRings(1, rate, options.stack_bytes, usual, options.ring_bytes).bytes;
}

// Opens and maps the rings of `events`. The kernel limits their memory for each user
// (kernel.perf_event_mlock_kb), so that those of a second recording may have to be smaller.
Result<Sideband> MapOwnRings(std::size_t wanted, RecordedEvents& events,
                             std::vector<std::string>& warnings) {
  constexpr std::size_t kLeast = std::size_t{8} << 10;
  for (std::size_t bytes = wanted;; bytes /= 2) {
    TRY(events.OpenRings(bytes));
    Result<Sideband> rings = Sideband::Open(events.ring_owners(), {.ring_bytes = bytes});
    const bool is_refused = !rings && rings.error().code == ErrorCode::kPermission;
    if (is_refused && bytes / 2 >= kLeast) continue;
    if (rings && bytes < wanted) {
      warnings.push_back(fmt::format(
          "the ring buffer of each CPU has {} KiB instead of {}, so samples may be lost: {}",
          bytes >> 10, wanted >> 10, Missing(Requirement::kPerfMemory).text()));
    }
    return rings;
  }
}

}  // namespace

EventInput::EventInput(Opened opened, SnapshotContent content, std::uint64_t user_limit)
    : targets_(std::move(opened.targets)),
      scope_(std::move(opened.scope)),
      events_(std::move(opened.events)),
      content_(content),
      samples_(std::move(opened.samples)),
      tasks_(opened.tasks),
      sideband_(std::move(opened.sideband)),
      records_(events_.in_file().ids(), events_.in_file().format(),
               events_.in_file().FormatsByEvent(), user_limit),
      latency_(events_.in_file().sampling()) {}

Result<EventInput::Opened> EventInput::OpenWithPrograms(const InputOptions& options,
                                                        Targets targets,
                                                        std::vector<std::string>& warnings) {
  TRY_ASSIGN(Scope scope, ScopeOf(options));
  TRY_ASSIGN(EventPlan plan, PlanAll(options, options.events, EventMachine::This(), warnings));
  AddCgroupToSamples(scope, plan.events);
  AddUserStateToSamples(options, plan.events);
  if (std::ranges::find(plan.events, SampleCause::kWakeup, &PlannedEvent::cause) !=
      plan.events.end()) {
    targets.NeedAllProcesses();
  }
  // Before the events, so that the exec of the command makes it a target before
  // sched:sched_process_exec is recorded.
  const BpfOptions bpf_options = BpfOptionsOf(options, targets, scope, plan.events);
  TRY_ASSIGN(BpfSession bpf, BpfSession::Load(bpf_options));
  TRY_ASSIGN(RecordedEvents events,
             RecordedEvents::Open(std::move(plan.events), options.cpus,
                                  SidebandContentOf(scope, options), options.sampler));
  // From here on no fork, exec or mapping is missed. The initial state describes what happened
  // before.
  TRY_ASSIGN(Sideband sideband, Sideband::Open(events.ring_owners()));
  return Opened{std::move(targets),  std::move(scope),
                std::move(events),   std::make_unique<BpfSession>(std::move(bpf)),
                std::move(sideband), bpf_options.filter.tasks()};
}

// The kernel itself takes the samples.
Result<EventInput::Opened> EventInput::OpenWithoutPrograms(const InputOptions& options,
                                                           Targets targets,
                                                           std::vector<std::string>& warnings) {
  TRY_ASSIGN(Scope scope, ScopeOf(options));
  TRY_ASSIGN(EventPlan plan, PlanForSampler(options, warnings));
  AddCgroupToSamples(scope, plan.events);
  AddUserStateToSamples(options, plan.events);
  PlanForKernel(options.sampler, options.callchains, plan.events);
  const bool is_whole_system = !targets.processes();
  TRY_ASSIGN(RecordedEvents events,
             is_whole_system
                 ? RecordedEvents::Open(std::move(plan.events), options.cpus,
                                        SidebandContentOf(scope, options), options.sampler)
                 : OpenForThreads(options, targets, scope, std::move(plan.events)));
  TRY_ASSIGN(Sideband rings, MapOwnRings(OwnRingBytes(options, events), events, warnings));
  return Opened{std::move(targets), std::move(scope),
                std::move(events),  std::make_unique<KernelSamples>(),
                std::move(rings),   is_whole_system ? SampledTasks::kEvery : SampledTasks::kSome};
}

Result<std::unique_ptr<EventInput>> EventInput::Open(InputOptions options,
                                                     std::optional<pid_t> command,
                                                     OthersFiles& files,
                                                     std::vector<std::string>& warnings) {
  ChooseCallchains(options, warnings);
  TRY_ASSIGN(Targets targets, Targets::Resolve(options.target, command));
  const auto open = IsKernel(options.sampler) ? &OpenWithoutPrograms : &OpenWithPrograms;
  TRY_ASSIGN(Opened opened, open(options, std::move(targets), warnings));
  SnapshotContent content = {.data_mappings = HasDataMappings(options),
                             .namespaces = options.scope.namespaces};
  if (command) content.before_exec = static_cast<std::uint32_t>(*command);
  std::unique_ptr<EventInput> input(new EventInput(std::move(opened), content, UserAddressLimit()));
  TRY(input->events_.RedirectToRings());
  input->WatchCgroups();
  // A ring that overflows loses process events. To empty it is little work for each record.
  constexpr int kHighestPriority = -20;
  TRY_ASSIGN(BackgroundDrain drain,
             BackgroundDrain::Start({.readable_fd = input->sideband_poll_fd(),
                                     .interval = kDrainInterval,
                                     .nice = kHighestPriority},
                                    [input = input.get()] { return input->DrainSideband(); }));
  input->background_drain_.emplace(std::move(drain));
  if (options.include_self == IncludeSelf::kNo) input->excluded_process_ = getpid();
  input->AdaptToNamespaces(warnings);
  if (options.callchains == Callchains::kUnwindTables) {
    TRY(input->StartUnwinding(options, files));
  }
  input->NoteContainers(options.names);
  input->FindContexts(options, files);
  input->ExcludeCpus(options.cpus);
  if (options.first_state == FirstState::kOff) {
    for (std::uint32_t event = 0; event < input->events().sideband_event(); ++event) {
      TRY(input->SwitchOff(event));
    }
  }
  input->WatchCpus();
  return input;
}

// The sideband is open, so that no mapping is missed.
Status EventInput::StartUnwinding(const InputOptions& options, OthersFiles& files) {
  TRY_ASSIGN(
      unwind_loader_,
      UnwindLoader::Start(samples_->unwind_maps().maps(), binaries_, files, load_times_,
                          UnwoundProcessesOf(targets_, options, files, content_.before_exec)));
  late_unwinder_.emplace(binaries_, files, load_times_,
                         LateUnwinder::Settings{.format = events_.in_file().format(),
                                                .events = events_.sampling().size(),
                                                .keeps_user_state = options.stack_bytes != 0,
                                                .user_frames = MostUserFrames()});
  TRY(late_unwinder_->ApplyAll(unwind_loader_->initial_state()));
  records_.FinishWith(*late_unwinder_);
  return {};
}

std::vector<std::string> EventInput::CgroupGaps(std::uint64_t start_ns) const {
  const std::lock_guard lock(sideband_mutex_);
  return cgroup_watch_ ? cgroup_watch_->Gaps(start_ns) : std::vector<std::string>();
}

ChainCounts EventInput::ChainsOf(std::uint32_t event) const {
  ChainCounts chains = {.ends = samples_->unwind_maps().EndsOf(event),
                        .derived = samples_->unwind_maps().DerivedOf(event)};
  if (!late_unwinder_) return chains;
  for (std::size_t end = 0; end < chains.ends.size(); ++end) {
    chains.ends[end] += late_unwinder_->EndsOf(event)[end];
  }
  const LateUnwinder::Shortened& shortened = late_unwinder_->ShortenedOf(event);
  chains.ends[WIRE_END_OF_STACK] -= shortened.complete;
  chains.derived += late_unwinder_->DerivedOf(event) - shortened.derived;
  return chains;
}

void EventInput::AdaptToNamespaces(std::vector<std::string>& warnings) {
  if (scope_.reports_new_cgroups() && ChildNamespace(NamespaceType::kCgroup) != 0) {
    cgroup_paths_.emplace(*scope_.recorded);
  }
  const bool is_whole_system = !targets_.processes() && scope_.cgroups.empty();
  if (is_whole_system)
    std::ranges::move(UnseenFromNamespaces(scope_), std::back_inserter(warnings));
}

// The thread that drains the sideband follows them.
void EventInput::WatchCgroups() {
  if (scope_.cgroups.empty()) return;
  cgroup_watch_.emplace(scope_, [this](std::uint32_t index, const OpenCgroup& cgroup) {
    return samples_->FollowCgroup(index, cgroup);
  });
}

// Those of the initial state. The kernel reports new ones.
void EventInput::NoteContainers(NameSource* names) {
  if (!scope_.recorded) return;
  containers_.emplace(PodNames(NodeRoot(), names));
  for (const CgroupDirectory& cgroup : CgroupsOf(*scope_.recorded)) containers_->Add(cgroup.path);
}

// The samples that the kernel makes of named processes are not looked into.
void EventInput::FindContexts(const InputOptions& options, OthersFiles& files) {
  const bool sees_samples = !IsKernel(options.sampler) || !targets_.processes();
  contexts_.emplace([&files](std::uint32_t pid) { return files.ReadContextOf(pid); },
                    sees_samples ? ContextFinder::Of::kSampled : ContextFinder::Of::kStarted);
  if (sees_samples || !targets_.processes()) return;
  for (const std::uint32_t pid : *targets_.processes()) contexts_->AddSampled(pid);
}

// A tracepoint's program runs on all CPUs.
void EventInput::ExcludeCpus(std::span<const int> recorded) {
  if (recorded.empty()) return;
  for (std::uint32_t event = 0; event < events_.in_file().sideband_event(); ++event) {
    samples_->RecordOnly(event, recorded);
  }
}

void EventInput::WatchCpus() {
  if (events_.present_cpus().empty()) return;
  std::vector<int> recorded;
  for (const CpuEvent& event : events_.sideband()) recorded.push_back(event.cpu);
  hotplug_.emplace(
      CpuHotplug::Machine{.online = [] { return OnlineCpus(); },
                          .enabled_ns = [this](int cpu) { return events_.SamplingEnabledNs(cpu); },
                          .reopen = [this](int cpu) { return ReopenOn(cpu); }},
      events_.present_cpus(), recorded);
}

Status EventInput::ReopenOn(int cpu) {
  TRY_ASSIGN(CpuEvent sideband, events_.ReopenSideband(cpu));
  if (IsKernel(events_.sampler())) {
    TRY(RedirectOutput(std::span(&sideband, 1), events_.ring_owners()));
  } else {
    const std::lock_guard lock(sideband_mutex_);
    TRY(sideband_.Replace(sideband));
  }
  events_.KeepSideband(std::move(sideband));
  if (unwind_loader_) unwind_loader_->FollowAgain(cpu);
  if (!events_.IsSampled(cpu)) return {};

  for (std::uint32_t event = 0; event < events_.in_file().sideband_event(); ++event) {
    if (!events_.IsCountedOn(event, cpu)) continue;
    TRY_ASSIGN(CpuEvent sampling, events_.ReopenSampling(event, cpu));
    const std::span<const CpuEvent> only(&sampling, 1);
    TRY(RedirectOutput(only, events_.ring_owners()));
    samples_->RestartTimer(event, cpu);
    TRY(samples_->AttachTo(event, only));
    if (events_.IsOn(event)) TRY(EnableAll(only));
    events_.KeepSampling(event, std::move(sampling));
    if (const auto id = events_.in_file().ids().Find(event, static_cast<std::uint32_t>(cpu))) {
      records_.AbandonThrottled(*id);
    }
  }
  return {};
}

Result<std::vector<std::byte>> EventInput::InitialState(std::span<const BpfProgram> programs,
                                                        std::vector<std::string>& warnings) const {
  return EncodeInitialState(events_, targets_, scope_, content_, programs, warnings);
}

Status EventInput::Start() {
  for (std::uint32_t number = 0; const RecordedEvents::Sampling& event : events_.sampling()) {
    TRY(samples_->AttachTo(number++, event.on_cpus));
  }
  TRY(events_.EnableSampling());
  return samples_->StartMeasuring();
}

Status EventInput::Stop() {
  samples_->DetachTracepoints();
  events_.CloseTracepoints();
  TRY(events_.DisableSampling());
  TRY(samples_->StopMeasuring());
  TRY(background_drain_->Stop());
  TRY(DrainSideband());
  AddDrained();
  if (containers_) containers_->AddMissingNames();
  CountUnreportedLosses();
  return {};
}

// The events that have one switch with this one, and itself.
std::vector<std::uint32_t> EventInput::SwitchedWith(std::uint32_t event) const {
  const std::span<const PlannedEvent> planned = events_.in_file().sampling();
  if (!IsOffCpu(planned[event].cause)) return {event};
  std::vector<std::uint32_t> waits;
  for (std::uint32_t other = 0; other < planned.size(); ++other) {
    if (IsOffCpu(planned[other].cause)) waits.push_back(other);
  }
  return waits;
}

Status EventInput::SwitchOff(std::uint32_t event) {
  if (!events_.IsOn(event)) return {};
  for (const std::uint32_t one : SwitchedWith(event)) {
    TRY(events_.SwitchOff(one));
    TRY(samples_->SwitchOff(one));
    if (!events_.IsOnEachCpu(one) || events_.in_file().sampling()[one].settings.period_ns != 0) {
      continue;
    }
    TRY(Drain());
    EndThrottling(one);
  }
  return {};
}

Status EventInput::SwitchOn(std::uint32_t event) {
  if (events_.IsOn(event)) return {};
  for (const std::uint32_t one : SwitchedWith(event)) {
    TRY(samples_->SwitchOn(one));
    TRY(events_.SwitchOn(one));
  }
  return {};
}

// The kernel ends it when the event is enabled again.
void EventInput::EndThrottling(std::uint32_t event) {
  for (const auto& [cpu, id] : events_.in_file().ids().Of(event)) records_.AbandonThrottled(id);
}

// The kernel reports a loss when the next record fits into the ring.
void EventInput::CountUnreportedLosses() {
  const std::vector<wire_cpu> reported = samples_->Counters(kFirstEvent);
  for (const auto& [cpu, lost] : events_.LostRecords()) {
    const auto index = static_cast<std::size_t>(cpu);
    const std::uint64_t known = index < reported.size() ? reported[index].ring_full : 0;
    if (lost > known) samples_->CountLost(static_cast<std::uint32_t>(cpu), lost - known);
  }
}

Status EventInput::Drain() {
  TRY(samples_->Drain([&](Bytes message) {
    contexts_->AddSampled(TaskOf(message).pid);
    records_.AddMessage(message);
  }));
  Status drained = DrainSideband();
  AddDrained();
  if (containers_) containers_->AddAnswers();
  return drained;
}

Status EventInput::DrainLatency() {
  if (latency_.is_empty()) return {};
  TRY_ASSIGN(const std::vector<LatencyCounts> counted, samples_->DrainLatency());
  NameCgroups(counted);
  latency_.Add(counted);
  latency_.SetMissed([&](std::uint32_t event) { return samples_->MissedRuns(event); });
  return {};
}

// A cgroup that is gone before its first calls are read has no name.
void EventInput::NameCgroups(std::span<const LatencyCounts> counted) {
  if (!scope_.recorded) return;
  const auto is_named = [&](const LatencyCounts& of) {
    return cgroup_names_.contains(of.key.cgroup);
  };
  if (std::ranges::all_of(counted, is_named)) return;
  for (CgroupDirectory& cgroup : CgroupsOf(*scope_.recorded)) {
    cgroup_names_.emplace(cgroup.id, std::move(cgroup.path));
  }
  for (const LatencyCounts& of : counted) cgroup_names_.emplace(of.key.cgroup, "");
}

void EventInput::SumUpFastCalls(std::uint64_t time_ns) {
  latency_.SumUpFastCalls(time_ns, [&](Bytes message) { records_.AddMessage(message); });
}

LatencySummary EventInput::Latency() const {
  std::vector<UncountedCalls> uncounted;
  if (!latency_.is_empty()) {
    for (std::uint32_t event = 0; event < events_.in_file().sideband_event(); ++event) {
      UncountedCalls& calls = uncounted.emplace_back();
      for (const wire_cpu& counter : samples_->Counters(event)) {
        calls.no_histogram += counter.no_room;
        calls.no_begin += counter.no_begin;
      }
    }
  }
  const auto path_of = [&](std::uint64_t cgroup) {
    const auto found = cgroup_names_.find(cgroup);
    return found != cgroup_names_.end() ? found->second : "";
  };
  return latency_.Summarize(path_of, uncounted);
}

Status EventInput::DrainSideband() {
  const std::lock_guard lock(sideband_mutex_);
  if (cgroup_watch_) cgroup_watch_->Check(MonotonicNs());
  if (drained_.is_full()) return {};
  TRY(sideband_.Drain([&](Bytes record) { drained_.Add(record); }));
  return {};
}

void EventInput::AddDrained() {
  Bytes drained;
  {
    const std::lock_guard lock(sideband_mutex_);
    drained = drained_.Release();
  }
  perfdata::RecordCursor cursor(drained, 0, std::endian::native);
  while (cursor.Step()) AddFromKernel(cursor.record());
}

void EventInput::AddFromKernel(const perfdata::RecordView& view) {
  if (view.type == perfdata::RecordType::kLost) {
    const Result<perfdata::Lost> lost =
        perfdata::Decode<perfdata::Lost>(view, events_.in_file().format());
    const std::uint32_t cpu = perfdata::DecodeSampleId(view, events_.in_file().format()).cpu;
    if (lost && samples_->CountLost(cpu, lost->count)) return;
  }
  if (view.type == perfdata::RecordType::kSample && !targets_.processes()) {
    const std::uint32_t pid = ProcessOf(view);
    if (pid == excluded_process_) return;
    contexts_->AddSampled(pid);
  }
  const Bytes record(view.payload.data() - sizeof(perfdata::RecordHeader), view.stored_size());
  const bool is_rewritten =
      cgroup_paths_ && cgroup_paths_->Rewrite(record, events_.in_file().format(), rewritten_);
  const Bytes in_file = is_rewritten ? Bytes(rewritten_) : record;
  if (containers_ && view.type == perfdata::RecordType::kCgroup) NoteContainer(in_file);
  contexts_->AddRecord(view, events_.in_file().format());
  if (!latency_.is_empty()) NoteName(view);
  records_.AddKernelRecord(in_file);
}

void EventInput::NoteName(const perfdata::RecordView& view) {
  if (view.type == perfdata::RecordType::kComm) {
    const auto comm = perfdata::Decode<perfdata::Comm>(view, events_.in_file().format());
    if (comm && comm->pid == comm->tid) latency_.Rename(comm->pid, comm->comm);
  } else if (view.type == perfdata::RecordType::kFork) {
    const auto task = perfdata::Decode<perfdata::Fork>(view, events_.in_file().format());
    if (task && task->pid != task->ppid) latency_.Start(task->pid);
  }
}

void EventInput::NoteContainer(Bytes record) {
  perfdata::RecordCursor cursor(record, 0, std::endian::native);
  if (!cursor.Step()) return;
  const auto cgroup =
      perfdata::Decode<perfdata::Cgroup>(cursor.record(), events_.in_file().format());
  if (cgroup) containers_->Add(cgroup->path);
}

std::vector<bundle::NotedContainer> EventInput::Containers() const {
  return containers_ ? containers_->Noted() : std::vector<bundle::NotedContainer>();
}

Status EventInput::ReopenOnReturnedCpus(std::uint64_t now_ns) {
  if (!hotplug_) return {};
  return hotplug_->Check(now_ns, samples_->Counters(events_.first_per_cpu().value_or(kFirstEvent)));
}

void EventInput::SampleOneIn(std::uint64_t divisor) {
  for (std::uint32_t event = 0; event < events_.in_file().sideband_event(); ++event) {
    samples_->SampleOneIn(event, divisor);
  }
}

std::vector<std::uint32_t> EventInput::SampledCpus() const {
  std::vector<std::uint32_t> cpus;
  const std::optional<std::uint32_t> first = events_.first_per_cpu();
  if (!first) return cpus;
  for (const CpuEvent& event : events_.sampling()[*first].on_cpus) {
    if (hotplug_ && !hotplug_->is_recorded(event.cpu)) continue;
    cpus.push_back(static_cast<std::uint32_t>(event.cpu));
  }
  return cpus;
}

std::vector<AbsentCpu> EventInput::Absences() const {
  return hotplug_ ? hotplug_->absences() : std::vector<AbsentCpu>();
}

}  // namespace perftape::record
