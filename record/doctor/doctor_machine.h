// SPDX-License-Identifier: Apache-2.0
// What a diagnosis asks the machine. Tests replace it.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "formats/base/result.h"
#include "record/doctor/kernel_config.h"
#include "record/events/event_plan.h"
#include "record/machine/system_facts.h"
#include "record/scope/cgroup_hierarchies.h"

namespace perftape::record {

struct DoctorMachine {
  SystemFacts facts = {};
  KernelConfig config = {};
  EventMachine events = {};
  // RehearseRecording
  std::function<Status(std::span<const PlannedEvent> events)> rehearse;
  // OwnFunction
  std::function<Result<ProbeLocation>(ProbeKind kind)> own_function;
  std::function<Result<std::vector<CgroupHierarchy>>()> cgroups;
  // kernel_facts.h
  std::function<bool()> has_attach_cookies;
  std::function<bool()> has_task_registers;
  bool has_seccomp = false;  // whether a process can install a filter
  int landlock_version = 0;  // of the kernel's Landlock; 0: there is none, or it is off

  static DoctorMachine This();
};

}  // namespace perftape::record
