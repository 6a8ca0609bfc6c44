// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_input.h"

#include <unistd.h>

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

}  // namespace

EventInput::EventInput(Targets targets, RecordedEvents events, BpfSession bpf, Sideband sideband,
                       std::uint64_t user_limit)
    : targets_(std::move(targets)),
      events_(std::move(events)),
      bpf_(std::move(bpf)),
      sideband_(std::move(sideband)),
      records_(events_.ids(), events_.format(), user_limit) {}

Result<std::unique_ptr<EventInput>> EventInput::Open(const RecordOptions& options,
                                                     std::optional<pid_t> command) {
  TRY_ASSIGN(Targets targets, Targets::Resolve(options.target, command));
  TRY_ASSIGN(RecordedEvents events, RecordedEvents::Open(options.rate, options.cpus));
  TRY_ASSIGN(BpfSession bpf, BpfSession::Load({.filter = FilterOf(options, targets),
                                               .callchains = options.callchains,
                                               .ring_bytes = options.ring_bytes,
                                               .period_ns = TimerPeriodNs(options.rate),
                                               .log = options.libbpf_log}));
  const std::uint64_t user_limit = UserAddressLimit();
  // From here on no fork, exec or mapping is missed. The initial state describes what happened
  // before.
  TRY_ASSIGN(Sideband sideband, Sideband::Open(events.sideband()));
  TRY(RedirectOutput(events.sampling(), events.sideband()));

  std::unique_ptr<EventInput> input(new EventInput(
      std::move(targets), std::move(events), std::move(bpf), std::move(sideband), user_limit));
  input->WatchCpus();
  TRY_ASSIGN(BackgroundDrain drain,
             BackgroundDrain::Start(input->sideband_poll_fd(),
                                    [input = input.get()] { return input->DrainSideband(); }));
  input->background_drain_.emplace(std::move(drain));
  return input;
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

  TRY_ASSIGN(CpuEvent sampling, events_.ReopenSampling(cpu));
  const std::span<const CpuEvent> only(&sampling, 1);
  TRY(RedirectOutput(only, events_.sideband()));
  bpf_.RestartTimer(cpu);
  TRY(bpf_.AttachTo(only));
  TRY(EnableAll(only));
  events_.KeepSampling(std::move(sampling));
  return {};
}

Status EventInput::Start() {
  TRY(bpf_.AttachTo(events_.sampling()));
  return EnableAll(events_.sampling());
}

Status EventInput::Stop() {
  return DisableAll(events_.sampling());
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
  return hotplug_->Check(now_ns, bpf_.Counters());
}

std::vector<std::uint32_t> EventInput::SampledCpus() const {
  std::vector<std::uint32_t> cpus;
  for (const CpuEvent& event : events_.sampling()) {
    if (hotplug_ && !hotplug_->is_recorded(event.cpu)) continue;
    cpus.push_back(static_cast<std::uint32_t>(event.cpu));
  }
  return cpus;
}

std::vector<AbsentCpu> EventInput::absences() const {
  return hotplug_ ? hotplug_->absences() : std::vector<AbsentCpu>();
}

}  // namespace perftape::record
