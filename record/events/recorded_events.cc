// SPDX-License-Identifier: Apache-2.0
#include "record/events/recorded_events.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "formats/base/cpu_list.h"
#include "record/events/probe_events.h"
#include "record/machine/cpu_list.h"
#include "record/rings/cpu_events.h"
#include "record/rings/sideband.h"

namespace perftape::record {
namespace {

void AddIds(EventIds& ids, std::uint32_t event, std::span<const CpuEvent> opened) {
  for (const CpuEvent& on_cpu : opened) {
    ids.Add(event, static_cast<std::uint32_t>(on_cpu.cpu), on_cpu.id);
  }
}

void Replace(std::vector<CpuEvent>& events, CpuEvent event) {
  std::erase_if(events, [&](const CpuEvent& former) { return former.cpu == event.cpu; });
  events.push_back(std::move(event));
}

// The CPUs of this machine, online or not.
Result<std::vector<int>> AllCpus() {
  Result<std::vector<int>> present = PresentCpus();
  return present && !present->empty() ? std::move(present) : OnlineCpus();
}

// Returns those of `requested` that exist; `all` if none are requested.
Result<std::vector<int>> ExistingCpus(std::span<const int> requested, const std::vector<int>& all) {
  if (requested.empty()) return all;
  std::vector<int> existing;
  std::ranges::copy_if(requested, std::back_inserter(existing),
                       [&](int cpu) { return std::ranges::binary_search(all, cpu); });
  if (!existing.empty()) return existing;
  return Fail(ErrorCode::kInvalidArgument, "none of the requested CPUs exists");
}

// An event that makes no records. All events that write into a ring have its clock.
perfdata::EventAttr RingOwnerAttr(std::size_t ring_bytes) {
  perfdata::EventAttr attr = SidebandAttr();
  attr.flags = perfdata::kUseClockid;
  return AttrForPolling(AttrOfUserCode(attr), {.ring_bytes = ring_bytes});
}

// Opens `attr` on one CPU.
Result<CpuEvent> OpenOnCpu(const perfdata::EventAttr& attr, int cpu) {
  const int only[] = {cpu};
  TRY_ASSIGN(std::vector<CpuEvent> events, OpenOnCpus(attr, only));
  return std::move(events.front());
}

// Whether the event is opened on this CPU, if the CPU is recorded.
bool IsOpenedOn(const PlannedEvent& event, int cpu) {
  return event.cpus.empty() || std::ranges::find(event.cpus, cpu) != event.cpus.end();
}

}  // namespace

RecordedEvents::RecordedEvents(std::vector<PlannedEvent> plan, const SidebandContent& content,
                               Sampler sampler)
    : in_file_(std::move(plan), content), sampling_(in_file_.sampling().size()), sampler_(sampler) {
  if (!IsKernel(sampler_)) return;
  perfdata::EventAttr with_lost = in_file_.sideband_attr();
  with_lost.read_format |= perfdata::kReadLost;
  counts_lost_ = TryToOpen(with_lost).has_value();
}

perfdata::EventAttr RecordedEvents::Opened(const perfdata::EventAttr& attr) const {
  if (!IsKernel(sampler_)) return AttrForBpf(attr);
  perfdata::EventAttr opened = attr;
  opened.read_format |= perfdata::kReadTotalTimeEnabled;
  if (counts_lost_) opened.read_format |= perfdata::kReadLost;
  return opened;
}

// The dummy event has no samples. A kernel without CONFIG_CGROUP_PERF refuses their cgroup.
perfdata::EventAttr RecordedEvents::OpenedSideband() const {
  perfdata::EventAttr attr = in_file_.sideband_attr();
  attr.sample_type &= ~static_cast<std::uint64_t>(perfdata::kSampleCgroup);
  return IsKernel(sampler_) ? Opened(attr) : AttrForPolling(attr);
}

Result<std::vector<CpuEvent>> RecordedEvents::OpenEvent(std::uint32_t number,
                                                        std::span<const int> cpus) const {
  const PlannedEvent& event = in_file_.sampling()[number];
  if (!HasPerfEvent(event.cause)) return std::vector<CpuEvent>();
  if (event.cause == SampleCause::kProbe) return OpenProbes(event.locations, cpus.front());
  const perfdata::EventAttr attr = Opened(event.attr);
  if (!IsOnEachCpu(number)) return OpenOnCpus(attr, cpus.first(1));
  std::vector<int> counted;
  std::ranges::copy_if(cpus, std::back_inserter(counted),
                       [&](int cpu) { return IsOpenedOn(event, cpu); });
  if (counted.empty()) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "is counted only on CPUs " + FormatCpuList(event.cpus) + ", which are not recorded");
  }
  const bool has_leader = event.leader.value_or(number) != number;
  return OpenOnCpus(attr, counted,
                    has_leader ? std::span<const CpuEvent>(sampling_[*event.leader].on_cpus)
                               : std::span<const CpuEvent>());
}

Result<RecordedEvents> RecordedEvents::Open(std::vector<PlannedEvent> plan,
                                            std::span<const int> cpus,
                                            const SidebandContent& content, Sampler sampler) {
  RecordedEvents events(std::move(plan), content, sampler);
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  TRY(events.OpenSampling(cpus.empty() ? online : cpus));
  const std::uint32_t sideband_event = events.in_file_.sideband_event();
  TRY_ASSIGN(events.sideband_, OpenOnCpus(events.OpenedSideband(), online));
  AddIds(events.in_file_.ids(), sideband_event, events.sideband_);
  // CPUs that are offline now may be recorded before the end. A tracepoint has no events on other
  // CPUs, but samples.
  if (Result<std::vector<int>> present = PresentCpus()) events.present_cpus_ = *std::move(present);
  const std::span<const int> all = events.present_cpus_.empty() ? online : events.present_cpus();
  for (std::uint32_t event = 0; event < sideband_event; ++event) {
    events.in_file_.ids().Reserve(event, cpus.empty() ? all : cpus);
  }
  events.in_file_.ids().Reserve(sideband_event, all);
  return events;
}

Result<RecordedEvents> RecordedEvents::OpenForThreads(std::vector<PlannedEvent> plan,
                                                      std::span<const int> cpus,
                                                      const SidebandContent& content,
                                                      Sampler sampler,
                                                      const RecordedThreads& threads) {
  RecordedEvents events(std::move(plan), content, sampler);
  TRY_ASSIGN(const std::vector<int> all, AllCpus());
  TRY_ASSIGN(const std::vector<int> sampled, ExistingCpus(cpus, all));
  for (std::uint32_t number = 0; const PlannedEvent& event : events.in_file_.sampling()) {
    Result<OfThreads> opened =
        events.OpenAttr(number, events.Opened(event.attr), threads.sampled, sampled);
    if (!opened) return Fail(InContext(event.name, std::move(opened).error()));
    events.sampling_[number++] = {.on_cpus = std::move(opened->first),
                                  .of_other_threads = std::move(opened->others)};
  }
  TRY_ASSIGN(OfThreads sideband, events.OpenAttr(events.in_file_.sideband_event(),
                                                 events.OpenedSideband(), threads.followed, all));
  events.sideband_ = std::move(sideband.first);
  events.sideband_of_other_threads_ = std::move(sideband.others);
  return events;
}

Result<RecordedEvents::OfThreads> RecordedEvents::OpenAttr(std::uint32_t event,
                                                           const perfdata::EventAttr& attr,
                                                           std::span<const pid_t> tids,
                                                           std::span<const int> cpus) {
  OfThreads events;
  for (const pid_t tid : tids) {
    Result<std::vector<CpuEvent>> opened = OpenForThread(attr, tid, cpus);
    if (!opened && opened.error().code == ErrorCode::kNotFound) continue;
    if (!opened) return Fail(std::move(opened).error());
    if (events.first.empty()) {
      events.first = *std::move(opened);
      AddIds(in_file_.ids(), event, events.first);
      continue;
    }
    for (CpuEvent& other : *opened) {
      in_file_.ids().AddAlias(other.id, event, static_cast<std::uint32_t>(other.cpu));
      events.others.push_back(std::move(other));
    }
  }
  if (!events.first.empty()) return events;
  return Fail(ErrorCode::kNotFound, "the threads to be recorded have ended");
}

Status RecordedEvents::OpenRings(std::size_t ring_bytes) {
  TRY_ASSIGN(const std::vector<int> cpus, AllCpus());
  ring_owners_.clear();
  TRY_ASSIGN(ring_owners_, OpenForThread(RingOwnerAttr(ring_bytes), gettid(), cpus));
  return {};
}

// Of events with BPF programs, these are THROTTLE records. The kernel would also write samples of a
// tracepoint.
Status RecordedEvents::RedirectToRings() const {
  for (std::uint32_t number = 0; const Sampling& event : sampling_) {
    if (!IsOnEachCpu(number++)) continue;
    TRY(RedirectOutput(event.on_cpus, ring_owners()));
    TRY(RedirectOutput(event.of_other_threads, ring_owners()));
  }
  if (!IsKernel(sampler_)) return {};
  TRY(RedirectOutput(sideband_, ring_owners()));
  return RedirectOutput(sideband_of_other_threads_, ring_owners());
}

Status RecordedEvents::EnableSampling() const {
  for (std::uint32_t event = 0; event < sampling_.size(); ++event) {
    const bool starts_with_exec = in_file_.sampling()[event].attr.Has(perfdata::kEnableOnExec);
    if (!IsOnEachCpu(event) || starts_with_exec || !sampling_[event].is_on) continue;
    TRY(EnableAll(sampling_[event].on_cpus));
    TRY(EnableAll(sampling_[event].of_other_threads));
  }
  return {};
}

Status RecordedEvents::DisableSampling() const {
  for (const Sampling& event : sampling_) {
    TRY(DisableAll(event.on_cpus));
    TRY(DisableAll(event.of_other_threads));
  }
  return {};
}

Status RecordedEvents::SwitchOff(std::uint32_t event) {
  Sampling& sampling = sampling_[event];
  sampling.is_on = false;
  if (!IsOnEachCpu(event)) return {};
  TRY(DisableAll(sampling.on_cpus));
  return DisableAll(sampling.of_other_threads);
}

Status RecordedEvents::SwitchOn(std::uint32_t event) {
  Sampling& sampling = sampling_[event];
  sampling.is_on = true;
  if (!IsOnEachCpu(event)) return {};
  TRY(EnableAll(sampling.on_cpus));
  return EnableAll(sampling.of_other_threads);
}

std::map<int, std::uint64_t> RecordedEvents::LostRecords() const {
  std::map<int, std::uint64_t> lost;
  if (!counts_lost_) return lost;
  const auto add = [&](std::span<const CpuEvent> events) {
    for (const CpuEvent& event : events) lost[event.cpu] += LostRecordsOf(event).value_or(0);
  };
  for (const Sampling& event : sampling_) {
    add(event.on_cpus);
    add(event.of_other_threads);
  }
  add(sideband_);
  add(sideband_of_other_threads_);
  return lost;
}

Status RecordedEvents::OpenSampling(std::span<const int> cpus) {
  for (std::uint32_t number = 0; const PlannedEvent& event : in_file_.sampling()) {
    Result<std::vector<CpuEvent>> opened = OpenEvent(number, cpus);
    if (!opened) return Fail(InContext(event.name, std::move(opened).error()));
    sampling_[number].on_cpus = *std::move(opened);
    AddIds(in_file_.ids(), number, sampling_[number].on_cpus);
    ++number;
  }
  return {};
}

Result<CpuEvent> RecordedEvents::ReopenSideband(int cpu) {
  TRY_ASSIGN(CpuEvent event, OpenOnCpu(OpenedSideband(), cpu));
  in_file_.ids().AddAlias(event.id, in_file_.sideband_event(), static_cast<std::uint32_t>(cpu));
  return event;
}

Result<CpuEvent> RecordedEvents::ReopenSampling(std::uint32_t event, int cpu) {
  TRY_ASSIGN(CpuEvent opened, OpenOnCpu(Opened(in_file_.sampling()[event].attr), cpu));
  in_file_.ids().AddAlias(opened.id, event, static_cast<std::uint32_t>(cpu));
  return opened;
}

void RecordedEvents::KeepSideband(CpuEvent opened) {
  Replace(sideband_, std::move(opened));
}

void RecordedEvents::KeepSampling(std::uint32_t event, CpuEvent opened) {
  Replace(sampling_[event].on_cpus, std::move(opened));
}

void RecordedEvents::CloseTracepoints() {
  std::vector<UniqueFd> closed;
  for (std::uint32_t number = 0; Sampling & sampling : sampling_) {
    if (IsOnEachCpu(number++)) continue;
    for (CpuEvent& event : sampling.on_cpus) closed.push_back(std::move(event.fd));
    sampling.on_cpus.clear();
  }
  CloseAll(std::move(closed));
}

bool RecordedEvents::IsCountedOn(std::uint32_t event, int cpu) const {
  return IsOnEachCpu(event) && IsOpenedOn(in_file_.sampling()[event], cpu);
}

bool RecordedEvents::IsSampled(int cpu) const {
  return in_file_.ids().Find(kFirstEvent, static_cast<std::uint32_t>(cpu)).has_value();
}

std::optional<std::uint32_t> RecordedEvents::first_per_cpu() const {
  for (std::uint32_t event = 0; event < sampling_.size(); ++event) {
    if (IsOnEachCpu(event)) return event;
  }
  return std::nullopt;
}

Result<std::uint64_t> RecordedEvents::SamplingEnabledNs(int cpu) const {
  const std::optional<std::uint32_t> first = first_per_cpu();
  if (!first || !IsOn(*first)) return Fail(ErrorCode::kNotFound, "");
  const std::vector<CpuEvent>& opened = sampling_[*first].on_cpus;
  const auto event = std::ranges::find(opened, cpu, &CpuEvent::cpu);
  if (event == opened.end()) return Fail(ErrorCode::kNotFound, "");
  return EnabledNs(*event);
}

}  // namespace perftape::record
