// SPDX-License-Identifier: Apache-2.0
// How an EventInput is opened: events and rings, with BPF programs or without.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "bpf/wire.h"
#include "formats/base/duration.h"
#include "record/bpf/kernel_facts.h"
#include "record/events/event_plan.h"
#include "record/events/kernel_samples.h"
#include "record/events/timer_limit.h"
#include "record/input/event_input.h"
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

}  // namespace perftape::record
