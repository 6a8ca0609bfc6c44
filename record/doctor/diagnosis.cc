// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/diagnosis.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "record/doctor/event_kinds.h"
#include "record/events/event_attrs.h"
#include "record/events/event_spec.h"
#include "record/events/user_events.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

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
  diagnosis.user_recording_works = CheckUserEvents(machine.events, machine.facts).has_value();
  diagnosis.abilities = CheckAbilities(machine);
  return diagnosis;
}

}  // namespace perftape::record
