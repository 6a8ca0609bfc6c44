// SPDX-License-Identifier: Apache-2.0
// What a diagnosis asks the machine.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/machine/requirements.h"
#include "record/machine/system_facts.h"
#include "record/scope/cgroups.h"

namespace perftape::record {

// The configuration that the running kernel was built with.
struct KernelConfig {
  std::string path = {};  // "/proc/config.gz", or /boot/config-RELEASE; empty: none was readable
  std::string text = {};  // lines "CONFIG_KPROBES=y"

  // Returns "y", "m", a number or a text; "n" for an option that is not set. Empty without a text.
  std::string_view ValueOf(std::string_view option) const;
};

// `release` is that of the running kernel.
KernelConfig ReadKernelConfig(std::string_view release);

// Returns the option that the kernel needs for this requirement, "CONFIG_KPROBE_EVENTS"; empty if
// no option decides it.
std::string_view ConfigOptionOf(Requirement requirement);

// Tests replace it.
struct DoctorMachine {
  SystemFacts facts = {};
  KernelConfig config = {};
  EventMachine events = {};
  // Does what the recorder does with these events before the first sample, for the whole system:
  // loads and attaches the BPF programs, opens the perf events, maps the rings; then closes all.
  // Only samples of the calling thread can arrive meanwhile, and they are dropped. Fails with the
  // error that the recorder would print.
  std::function<Status(std::span<const PlannedEvent> events)> rehearse;
  // Returns the location of a function of this process for a probe of this kind, which must be a
  // probe of programs. No other process executes the function. Fails if /proc/self/maps cannot be
  // read.
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
