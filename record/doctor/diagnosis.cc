// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/diagnosis.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "record/events/event_attrs.h"
#include "record/events/event_spec.h"
#include "record/events/kernel_samples.h"
#include "record/events/known_events.h"
#include "record/kernel_sampler.h"

namespace perftape::record {
namespace {

EventKind Named(std::string kind, std::string event) {
  return {.kind = std::move(kind), .example = event, .event = event};
}

// "cycles" would become "cpu-clock" where there are no counters.
std::string HardwareExample(const EventMachine& machine) {
  for (const KnownEvent& event : KnownEvents()) {
    if (event.type == perfdata::kTypeSoftware) continue;
    if (machine.try_to_open(CounterAttr(event.type, event.config, Period{1'000'000}))) {
      return event.name;
    }
  }
  return "instructions";
}

// Programs rarely call it, so a probe of it disturbs nobody.
constexpr std::string_view kQuietKernelFunction = "vfs_fsync_range";

EventKind KindOfProbe(const ProbeUsage& probe) {
  EventKind kind{.kind = std::string(probe.word), .example = std::string(probe.usage)};
  if (IsInKernel(probe.kind)) {
    kind.event = fmt::format("{}:{}", probe.word, kQuietKernelFunction);
  } else {
    kind.probe_of_program = probe.kind;
  }
  return kind;
}

Ability KernelNames(const SystemFacts& facts) {
  Ability ability{.name = "names of kernel functions"};
  const std::optional<Finding> why = WhyAddressesAreHidden(facts);
  ability.works = !why;
  if (why) ability.findings.push_back(*why);
  return ability;
}

// Returns the error of the first event that is opened.
Status CheckKernelSampler(const DoctorMachine& machine) {
  if (SamplerFor(SamplerRequest::kKernel, machine.facts) != Sampler::kKernel) {
    if (!machine.facts.perf_paranoid) {
      return FailMissing(ErrorCode::kPermission, "", {Missing(Requirement::kPerfEvents)});
    }
    return FailMissing(
        ErrorCode::kPermission, "",
        {Missing(Requirement::kPerfParanoid, {std::to_string(*machine.facts.perf_paranoid)})});
  }
  return machine.events.try_to_open(
      CounterAttr(perfdata::kTypeSoftware, perfdata::kSoftwareCpuClock, Frequency{1}));
}

Ability KernelSampler(const DoctorMachine& machine) {
  const Status works = CheckKernelSampler(machine);
  Ability ability{.name = "recording without BPF programs (--sampler kernel)",
                  .works = works.has_value()};
  if (works) {
    ability.reason = "the whole system";
    return ability;
  }
  ability.findings = FindingsOf(works.error());
  if (ability.findings.empty()) ability.reason = works.error().message;
  return ability;
}

Ability UserRecording(const DoctorMachine& machine) {
  const Status works = CheckUserEvents(machine.events, machine.facts);
  Ability ability{.name = "recording without privileges: user code", .works = works.has_value()};
  if (works) {
    ability.reason = "of your own processes, with COMMAND, -p or -t";
    return ability;
  }
  ability.findings = FindingsOf(works.error());
  if (ability.findings.empty()) ability.reason = works.error().message;
  return ability;
}

Ability Cgroups(const DoctorMachine& machine) {
  Ability ability{.name = "cgroups (--cgroup, --container, --all-cgroups)"};
  const Result<std::vector<CgroupHierarchy>> hierarchies = machine.cgroups();
  if (!hierarchies) {
    ability.reason = hierarchies.error().message;
  } else if (hierarchies->empty()) {
    ability.findings.push_back(Missing(Requirement::kCgroups));
  } else {
    const CgroupHierarchy& first = hierarchies->front();
    ability.works = true;
    ability.reason = fmt::format("version {}, {}", first.is_v2() ? 2 : 1, first.mount.string());
  }
  return ability;
}

// A function that Linux has since 5.15. Without CAP_BPF the kernel does not answer, and its release
// decides.
Ability SinceLinux515(std::string name, bool (*answers)(const DoctorMachine&),
                      const DoctorMachine& machine) {
  const bool is_known = !MissingCapabilities(machine.facts) && !machine.facts.in_user_namespace;
  const bool works = is_known ? answers(machine) : !machine.facts.IsOlderThan(5, 15);
  return {.name = std::move(name),
          .works = works,
          .reason = works ? "" : "the kernel lacks it: use Linux 5.15 or later",
          .findings = {}};
}

Ability Sandbox(std::string name, bool works, std::string version, std::string_view option) {
  return {.name = std::move(name),
          .works = works,
          .reason = works ? std::move(version)
                          : fmt::format("the kernel lacks it, or it is switched off: use one with "
                                        "{}; without it the tools work unprotected",
                                        option),
          .findings = {}};
}

void AddOnce(const Finding& finding, std::vector<Finding>& findings) {
  if (std::ranges::find(findings, finding) == findings.end()) findings.push_back(finding);
}

// Plans a probe as PlanProbes does, for a program whose code is known.
Result<std::vector<PlannedEvent>> PlanOwnFunction(ProbeKind kind, const DoctorMachine& machine) {
  TRY(machine.events.check_probe_kind(kind));
  TRY_ASSIGN(ProbeLocation location, machine.own_function(kind));
  PlannedEvent event{.name = std::string(WordOf(kind)),
                     .attr = BpfOutputAttr(1),
                     .cause = SampleCause::kProbe,
                     .locations = {std::move(location)}};
  event.settings.every = 1;
  return std::vector<PlannedEvent>{std::move(event)};
}

Result<std::vector<PlannedEvent>> Plan(const EventKind& kind, const DoctorMachine& machine) {
  if (kind.probe_of_program) return PlanOwnFunction(*kind.probe_of_program, machine);
  TRY_ASSIGN(const std::vector<EventSpec> specs, ParseEvents(kind.event));
  TRY_ASSIGN(EventPlan plan,
             PlanEvents(specs, Frequency{99}, MissingEvents::kFail, machine.events));
  return std::move(plan.events);
}

// Adds the findings in an error of the recorder, or its message if there are none.
void AddError(const Error& error, EventDiagnosis& diagnosis) {
  const std::vector<Finding> findings = FindingsOf(error);
  for (const Finding& finding : findings) AddOnce(finding, diagnosis.findings);
  if (!findings.empty()) return;
  diagnosis.other_reason = error.message;
  if (error.error_number == EMFILE) {
    AddOnce(Missing(Requirement::kOpenFiles), diagnosis.findings);
  }
}

EventDiagnosis DiagnoseEvent(const EventKind& kind, const std::vector<Finding>& missing,
                             const DoctorMachine& machine) {
  EventDiagnosis diagnosis{.kind = kind.kind, .example = kind.example, .findings = missing};
  const Result<std::vector<PlannedEvent>> plan = Plan(kind, machine);
  if (!missing.empty()) {
    // A refusal without a finding is the consequence of what is missing.
    const bool is_refusal =
        !plan && plan.error().code == ErrorCode::kPermission && FindingsOf(plan.error()).empty();
    if (!plan && !is_refusal) AddError(plan.error(), diagnosis);
    return diagnosis;
  }
  const Status started = plan ? machine.rehearse(*plan) : Status(std::unexpected(plan.error()));
  diagnosis.works = started.has_value();
  if (!started) AddError(started.error(), diagnosis);
  return diagnosis;
}

}  // namespace

std::vector<EventKind> EventKinds(const EventMachine& machine) {
  std::vector<EventKind> kinds = {
      Named("clock", "cpu-clock"), Named("software event", "page-faults"),
      Named("hardware event", HardwareExample(machine)), Named("tracepoint", "sched:sched_switch")};
  for (const EventSet& set : EventSets()) {
    kinds.push_back(Named("event set", std::string(set.name)));
  }
  kinds.push_back(Named("off-CPU time", std::string(OffCpuNames().front().name)));
  kinds.push_back(
      {.kind = "critical path", .example = "--why", .event = std::string(kCriticalPathEvents)});
  for (const ProbeUsage& probe : ProbeUsages()) kinds.push_back(KindOfProbe(probe));
  return kinds;
}

std::vector<Ability> CheckAbilities(const DoctorMachine& machine) {
  return {KernelSampler(machine),
          UserRecording(machine),
          KernelNames(machine.facts),
          Cgroups(machine),
          SinceLinux515(
              "user registers of samples in the kernel",
              [](const DoctorMachine& asked) { return asked.has_task_registers(); }, machine),
          SinceLinux515(
              "one BPF program for several events",
              [](const DoctorMachine& asked) { return asked.has_attach_cookies(); }, machine),
          Sandbox("seccomp filters", machine.has_seccomp, "", "CONFIG_SECCOMP_FILTER"),
          Sandbox("Landlock", machine.landlock_version > 0,
                  fmt::format("version {}", machine.landlock_version),
                  "CONFIG_SECURITY_LANDLOCK (since Linux 5.13) and lsm=landlock,...")};
}

std::vector<Finding> Diagnosis::AllFindings() const {
  std::vector<Finding> all;
  for (const EventDiagnosis& event : events) {
    for (const Finding& finding : event.findings) AddOnce(finding, all);
  }
  for (const Ability& ability : abilities) {
    for (const Finding& finding : ability.findings) AddOnce(finding, all);
  }
  std::ranges::stable_sort(all, {}, &Finding::requirement);
  return all;
}

std::vector<std::string> Diagnosis::AffectedBy(const Finding& finding) const {
  std::vector<std::string> names;
  const auto has = [&](const std::vector<Finding>& findings) {
    return std::ranges::find(findings, finding) != findings.end();
  };
  for (const EventDiagnosis& event : events) {
    if (has(event.findings)) names.push_back(event.example);
  }
  for (const Ability& ability : abilities) {
    if (has(ability.findings)) names.push_back(ability.name);
  }
  return names;
}

Diagnosis Diagnose(const DoctorMachine& machine) {
  const std::vector<Finding> missing = CheckFacts(machine.facts).missing;
  Diagnosis diagnosis;
  for (const EventKind& kind : EventKinds(machine.events)) {
    diagnosis.events.push_back(DiagnoseEvent(kind, missing, machine));
  }
  diagnosis.kernel_sampler_works = CheckKernelSampler(machine).has_value();
  diagnosis.user_recording_works = CheckUserEvents(machine.events, machine.facts).has_value();
  diagnosis.abilities = CheckAbilities(machine);
  return diagnosis;
}

}  // namespace perftape::record
