// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_input.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "record/events/cpu_list.h"
#include "record/machine/machine_features.h"

namespace perftape::record {
namespace {

SampleFilter FilterOf(const RecordOptions& options, const Targets& targets) {
  SampleFilter filter = targets.filter();
  filter.user = options.user;
  if (options.include_self == IncludeSelf::kNo) filter.excluded_process = getpid();
  return filter;
}

BpfOptions BpfOptionsOf(const RecordOptions& options, const Targets& targets,
                        std::span<const PlannedEvent> planned) {
  std::vector<BpfEvent> events;
  for (const PlannedEvent& event : planned) {
    BpfEvent sampled{.trigger = event.trigger, .settings = event.settings};
    if (event.trigger == Trigger::kFunction) {
      sampled.probe = event.locations.front().kind;
      sampled.function = event.locations.front().target;
    }
    events.push_back(std::move(sampled));
  }
  return {.filter = FilterOf(options, targets),
          .callchains = options.callchains,
          .ring_bytes = options.ring_bytes,
          .events = std::move(events),
          .log = options.libbpf_log};
}

}  // namespace

EventInput::EventInput(Targets targets, RecordedEvents events, BpfSession bpf, Sideband sideband,
                       std::uint64_t user_limit)
    : targets_(std::move(targets)),
      events_(std::move(events)),
      bpf_(std::move(bpf)),
      sideband_(std::move(sideband)),
      records_(events_.ids(), events_.format(), events_.SampleFormats(), user_limit) {}

Result<std::unique_ptr<EventInput>> EventInput::Open(const RecordOptions& options,
                                                     std::optional<pid_t> command,
                                                     std::vector<std::string>& warnings) {
  TRY_ASSIGN(Targets targets, Targets::Resolve(options.target, command));
  TRY_ASSIGN(EventPlan plan, PlanEvents(options.events, options.rate, options.missing_events,
                                        EventMachine::This()));
  std::ranges::move(plan.warnings, std::back_inserter(warnings));
  // Before the events, so that the exec of the command makes it a target before
  // sched:sched_process_exec is recorded.
  TRY_ASSIGN(BpfSession bpf, BpfSession::Load(BpfOptionsOf(options, targets, plan.events)));
  TRY_ASSIGN(RecordedEvents events, RecordedEvents::Open(std::move(plan.events), options.cpus));
  const std::uint64_t user_limit = UserAddressLimit();
  // From here on no fork, exec or mapping is missed. The initial state describes what happened
  // before.
  TRY_ASSIGN(Sideband sideband, Sideband::Open(events.sideband()));

  std::unique_ptr<EventInput> input(new EventInput(
      std::move(targets), std::move(events), std::move(bpf), std::move(sideband), user_limit));
  TRY(input->RedirectToSideband());
  input->ExcludeCpus(options.cpus);
  input->WatchCpus();
  TRY_ASSIGN(BackgroundDrain drain,
             BackgroundDrain::Start(input->sideband_poll_fd(),
                                    [input = input.get()] { return input->DrainSideband(); }));
  input->background_drain_.emplace(std::move(drain));
  return input;
}

// Their THROTTLE records. The kernel would also write samples of a tracepoint.
Status EventInput::RedirectToSideband() {
  for (const RecordedEvents::Sampling& event : events_.sampling()) {
    if (event.is_per_cpu()) TRY(RedirectOutput(event.on_cpus, events_.sideband()));
  }
  return {};
}

// A tracepoint's program runs on all CPUs.
void EventInput::ExcludeCpus(std::span<const int> recorded) {
  if (recorded.empty()) return;
  for (std::uint32_t event = 0; event < events_.sideband_event(); ++event) {
    bpf_.RecordOnly(event, recorded);
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
  TRY(sideband_.Replace(sideband));
  events_.KeepSideband(std::move(sideband));
  if (!events_.IsSampled(cpu)) return {};

  for (std::uint32_t event = 0; event < events_.sideband_event(); ++event) {
    if (!events_.sampling()[event].is_per_cpu()) continue;
    TRY_ASSIGN(CpuEvent sampling, events_.ReopenSampling(event, cpu));
    const std::span<const CpuEvent> only(&sampling, 1);
    TRY(RedirectOutput(only, events_.sideband()));
    bpf_.RestartTimer(event, cpu);
    TRY(bpf_.AttachTo(event, only));
    TRY(EnableAll(only));
    events_.KeepSampling(event, std::move(sampling));
  }
  return {};
}

Status EventInput::Start() {
  for (std::uint32_t number = 0; const RecordedEvents::Sampling& event : events_.sampling()) {
    TRY(bpf_.AttachTo(number++, event.on_cpus));
  }
  for (const RecordedEvents::Sampling& event : events_.sampling()) {
    if (event.is_per_cpu()) TRY(EnableAll(event.on_cpus));
  }
  return {};
}

Status EventInput::Stop() {
  bpf_.DetachTracepoints();
  events_.CloseTracepoints();
  for (const RecordedEvents::Sampling& event : events_.sampling()) TRY(DisableAll(event.on_cpus));
  return {};
}

Status EventInput::StopBackgroundDrain() {
  return background_drain_->Stop();
}

Status EventInput::Drain() {
  TRY(bpf_.Drain([&](Bytes message) { records_.AddMessage(message); }));
  return DrainSideband();
}

Status EventInput::DrainSideband() {
  TRY(sideband_.Drain([&](Bytes record) { records_.AddKernelRecord(record); }));
  return {};
}

Status EventInput::ReopenOnReturnedCpus(std::uint64_t now_ns) {
  if (!hotplug_) return {};
  return hotplug_->Check(now_ns, bpf_.Counters(events_.first_per_cpu().value_or(kFirstEvent)));
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

std::vector<AbsentCpu> EventInput::absences() const {
  return hotplug_ ? hotplug_->absences() : std::vector<AbsentCpu>();
}

}  // namespace perftape::record
