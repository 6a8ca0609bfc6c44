// SPDX-License-Identifier: Apache-2.0
// An event as the user writes it. The syntax is perf's (man perf-record, -e):
//
//   cpu-clock   page-faults:upp   cpu-clock/freq=999/   sched:sched_switch   sched:sched_*
//   r1a8   mem:0x1000/8:w   cpu/event=0x3c,umask=1/u   {cycles,instructions}:D
//   syscalls:sys_enter_write/every=100,if=count>4096/   uprobe:libc:malloc/every=100/
//   latency:read/min=1ms,errors=off/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/events/breakpoint.h"
#include "record/events/event_attrs.h"
#include "record/probes/probe_spec.h"

namespace perftape::record {

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kGreater,
  kAnyBit,
  kAtMost,
  kAtLeast,
};

// "count>4096", "reason==NO_SOCKET": a condition on an integer field of a tracepoint.
struct FieldCondition {
  std::string field = {};
  Comparison comparison = Comparison::kEqual;
  std::uint64_t value = 0;  // a negative one in two's complement
  bool is_negative = false;
  std::string value_name = {};  // instead of a number: the name that the tracepoint prints
  bool may_be_missing = false;  // of a set: true of each hit on kernels without field or name

  bool operator==(const FieldCondition&) const = default;
};

// "umask=0x1" or "cpu-cycles": an option that only a PMU of the machine can have.
struct PmuTerm {
  std::string key;
  std::optional<std::uint64_t> value = {};

  bool operator==(const PmuTerm&) const = default;
};

enum class GroupRole : std::uint8_t { kNone, kFirst, kOther };

struct EventSpec {
  std::string text = {};                         // as written
  std::string name = {};                         // without modifiers and options
  std::string modifiers = {};                    // letters that AreValidModifiers; may be empty
  std::string group_modifiers = {};              // those of its group, which apply after its own
  std::optional<SamplingRate> rate = {};         // freq= or period=; nothing: that of -F or -c
  std::optional<std::string> name_in_file = {};  // name=
  std::vector<PmuTerm> pmu_terms = {};           // in their order
  std::optional<Breakpoint> breakpoint = {};     // of mem:ADDRESS
  GroupRole group = GroupRole::kNone;
  std::string group_name = {};                  // may be empty
  std::optional<std::uint64_t> every = {};      // every=
  std::vector<FieldCondition> conditions = {};  // if=; all must hold

  // For a latency probe; nothing: its default.
  std::optional<std::uint64_t> latency_min_ns = {};  // min=
  std::optional<bool> samples_errors = {};           // errors=

  // Whether the name is a latency probe, or a set of them.
  bool is_latency() const;
  // Whether the name is a probe of probe_spec.h.
  bool is_probe() const { return ProbeKindOf(name).has_value(); }
  // Whether the name is "subsystem:name" of tracefs.
  bool is_tracepoint() const {
    return name.contains(':') && !is_probe() && !is_latency() && !breakpoint;
  }
  bool has_modifiers() const { return !modifiers.empty() || !group_modifiers.empty(); }
  // Whether the modifiers leave only user code, or only code of the kernel.
  bool only_user_code() const;
  bool only_kernel_code() const;
};

// Applies the modifiers of the event and those of its group.
void ApplyModifiers(const EventSpec& spec, perfdata::EventAttr& attr);

// Returns an error whose message begins with the event as it was written: "event 'X': WHAT".
std::unexpected<Error> FailEvent(const EventSpec& spec, ErrorCode code, std::string_view what);
std::unexpected<Error> FailEvent(const EventSpec& spec, Error error);

// Returns the events of a list, separated by commas. A comma between slashes separates options.
// Braces make a group. Fails with kInvalidArgument for anything that is not in this syntax; the
// message quotes it. The names are not checked.
Result<std::vector<EventSpec>> ParseEvents(std::string_view list);

}  // namespace perftape::record
