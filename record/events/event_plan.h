// SPDX-License-Identifier: Apache-2.0
// From the events that the user names to those that this machine opens.
#pragma once

#include <linux/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/bpf/bpf_session.h"
#include "record/bpf/latency_settings.h"
#include "record/bpf/off_cpu_programs.h"
#include "record/bpf/program_events.h"
#include "record/events/event_attrs.h"
#include "record/events/event_spec.h"
#include "record/events/known_events.h"
#include "record/events/pmus.h"
#include "record/events/probe_events.h"
#include "record/events/tracefs.h"
#include "record/probes/function_names.h"

namespace perftape::record {

// A sampling event of the recording.
struct PlannedEvent {
  std::string name = {};          // in the file: "page-faults:u", "sched:sched_switch"
  perfdata::EventAttr attr = {};  // in the file
  SampleCause cause = SampleCause::kTimer;
  wire_event settings = {};                   // for the BPF program
  std::string subsystem = {};                 // of a tracepoint
  std::string format = {};                    // of a tracepoint: its format file; empty for others
  std::vector<ProbeLocation> locations = {};  // of a probe, at least one
  const ProgramEvent* program = nullptr;      // of kOwnProgram
  LatencyOptions latency = {};                // of kLatency
  std::vector<int> cpus = {};  // of a PMU that only these CPUs have; empty: of all CPUs
  std::optional<std::uint32_t> group = {};  // by number, as the user gave them
  std::string group_name = {};
  // The number of the event with which it is scheduled, itself or an earlier one.
  std::optional<std::size_t> leader = {};
};

struct EventPlan {
  std::vector<PlannedEvent> events;   // at least one
  std::vector<std::string> warnings;  // one sentence each
};

enum class MissingEvents : std::uint8_t { kFail, kSkip };

// What the plan needs to know about the machine. Tests replace it.
struct EventMachine {
  std::function<Result<Tracefs>()> tracefs = [] { return Tracefs::Find(); };
  // Whether the kernel opens an event with these attributes.
  std::function<Status(const perfdata::EventAttr& attr)> try_to_open;
  // Whether the kernel has probes of this kind, and whether it can place one at a location.
  std::function<Status(ProbeKind)> check_probe_kind = CheckProbeKind;
  std::function<Status(const ProbeLocation&)> try_to_probe = TryToProbe;
  // The PMUs of sysfs.
  Pmus pmus = Pmus();
  // The kernel's functions, sorted.
  std::function<Result<std::vector<std::string>>()> kernel_functions = ReadKernelFunctions;
  // Whether this user may record an event; empty: any.
  std::function<Status(const EventSpec& spec)> check_event = {};
  // Whether the kernel can measure waits.
  std::function<Status()> off_cpu = [] { return CheckOffCpuSupport(); };

  // Whether it can record this latency probe.
  std::function<Status(std::string_view probe)> latency = [](std::string_view probe) {
    return CheckLatencySupport(probe);
  };

  static EventMachine This();
};

// What is recorded if the user names no event: cpu-clock.
EventSpec DefaultEvent();

// Returns DefaultEvent at `rate` if `specs` is empty. `rate` is for events without one of their
// own. "cycles" becomes "cpu-clock", with a warning, where there are no hardware counters. A glob
// of tracepoints becomes all that match; a tracepoint that is named several times in the same way
// is recorded once. Events of a group that are counted on the same CPUs have a leader.
//
// Fails with kNotFound for an event or a field that does not exist; the message says where it was
// searched for, and suggests similar names. Fails with kUnsupported for an event that does not work
// here. With kSkip these events are left out with a warning, but the plan fails if none is left.
// Fails with kInvalidArgument for an option that the event does not have.
Result<EventPlan> PlanEvents(std::span<const EventSpec> specs, SamplingRate rate,
                             MissingEvents missing, const EventMachine& machine);

// The planned events as the programs need them.
std::vector<BpfEvent> BpfEventsOf(std::span<const PlannedEvent> planned);

// The name in the file: "page-faults:u", "cpu/event=0x3c/u".
std::string NameInFile(std::string_view name, std::string_view modifiers);

}  // namespace perftape::record
