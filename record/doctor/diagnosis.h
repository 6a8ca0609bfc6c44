// SPDX-License-Identifier: Apache-2.0
// What perftape-record can record here, what it cannot record, and why.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/doctor/doctor_machine.h"
#include "record/events/event_plan.h"
#include "record/machine/requirements.h"
#include "record/probes/probe_spec.h"

namespace perftape::record {

// A kind of events that is checked, with an event that stands for it.
struct EventKind {
  std::string kind = {};     // "tracepoint"
  std::string example = {};  // for people: "sched:sched_switch", "uprobe:PATH:FUNCTION", "--why"
  std::string event = {};    // for -e, or several; empty for a probe of a program
  std::optional<ProbeKind> probe_of_program = {};
};

// Returns all kinds, the default recording's first. The example of hardware events is one that
// `machine` opens, if there is one.
std::vector<EventKind> EventKinds(const EventMachine& machine);

// An optional feature of recordings or tools, which depends on the kernel.
struct Ability {
  std::string name = {};  // "names of kernel functions"
  bool works = false;
  std::string reason = {};             // why not, or a remark; may be empty
  std::vector<Finding> findings = {};  // why not
};

std::vector<Ability> CheckAbilities(const DoctorMachine& machine);

// Whether perftape-record can record a kind of event, for the whole system.
struct EventDiagnosis {
  std::string kind = {};     // "tracepoint"
  std::string example = {};  // "sched:sched_switch"
  bool works = false;
  std::vector<Finding> findings = {};  // why not
  // Why not, as the recorder words it, if no finding has the reason.
  std::string other_reason = {};
};

struct Diagnosis {
  std::vector<EventDiagnosis> events = {};
  // Whether this user can record the whole system without BPF programs (Sampler::kKernel).
  bool kernel_sampler_works = false;
  // Whether this user can record user code of their own processes without privileges
  // (Sampler::kKernelForUser).
  bool user_recording_works = false;
  std::vector<Ability> abilities = {};

  // Whether a recording without options works: cpu-clock, of the whole system.
  bool default_recording_works() const { return events.front().works; }
  // Returns each finding once, in the order of the table.
  std::vector<Finding> AllFindings() const;
  // Returns the examples of the events, and the names of the abilities, that lack this.
  std::vector<std::string> AffectedBy(const Finding& finding) const;
};

// Tries each kind of event as far as the requirements for all recordings are met.
Diagnosis Diagnose(const DoctorMachine& machine);

}  // namespace perftape::record
