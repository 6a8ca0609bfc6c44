// SPDX-License-Identifier: Apache-2.0
#include "record/input/event_input.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "bpf/wire.h"
#include "formats/perfdata/record_cursor.h"
#include "record/input/initial_state.h"
#include "record/machine/clock.h"
#include "record/machine/cpu_list.h"
#include "record/scope/scope.h"

namespace perftape::record {
namespace {

// Returns the process of a sample that the kernel wrote; 0 if it is damaged. IDENTIFIER and IP come
// before it (event_attrs).
std::uint32_t ProcessOf(const perfdata::RecordView& sample) {
  constexpr std::size_t kOffset = 2 * sizeof(std::uint64_t);
  if (sample.payload.size() < kOffset + sizeof(std::uint32_t)) return 0;
  return LoadFixed<std::uint32_t>(sample.payload.data() + kOffset, sample.order);
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
