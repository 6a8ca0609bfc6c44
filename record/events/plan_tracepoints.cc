// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_tracepoints.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "formats/base/text.h"
#include "formats/perfdata/tracepoints.h"
#include "record/events/value_names.h"
#include "record/machine/did_you_mean.h"

namespace perftape::record {
namespace {

using perfdata::TracepointField;
using perfdata::TracepointFormat;

bool IsSigned(const TracepointField& field) {
  return field.content == TracepointField::Content::kSigned;
}

// Returns the names that match the pattern, or the message that none does.
Result<std::vector<std::string>> Matching(const EventSpec& spec, const std::string& pattern,
                                          const std::vector<std::string>& names,
                                          const std::filesystem::path& directory) {
  std::vector<std::string> matching;
  for (const std::string& name : names) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) == 0) matching.push_back(name);
  }
  if (!matching.empty()) return matching;
  return FailEvent(
      spec, ErrorCode::kNotFound,
      fmt::format("no '{}' in {}{}", pattern, directory.string(), DidYouMean(pattern, names)));
}

// Whether a field of this size and sign can have the value.
bool Fits(const FieldCondition& condition, const TracepointField& field) {
  const unsigned bits = 8U * field.size;
  if (condition.is_negative) {
    if (!IsSigned(field)) return false;
    return static_cast<std::int64_t>(condition.value) >= -(std::int64_t{1} << (bits - 1)) ||
           bits == 64;
  }
  return bits == 64 || condition.value >> bits == 0;
}

// Returns the condition with the number that its name stands for.
Result<FieldCondition> ByNumber(const EventSpec& spec, std::string_view tracepoint,
                                FieldCondition condition, std::string_view format_file) {
  if (condition.value_name.empty()) return condition;
  std::vector<std::string> names;
  for (ValueName& known : ValueNamesOf(format_file, condition.field)) {
    if (known.name == condition.value_name) {
      condition.value = known.value;
      condition.is_negative = known.is_negative;
      return condition;
    }
    names.push_back(std::move(known.name));
  }
  const std::string nearest = names.empty() ? "; its values have no names: use a number"
                                            : DidYouMean(condition.value_name, names);
  return FailEvent(spec, ErrorCode::kNotFound,
                   fmt::format("the field '{}' of {} has no value '{}'{}", condition.field,
                               tracepoint, condition.value_name, nearest));
}

Result<wire_condition> PlanCondition(const EventSpec& spec, std::string_view tracepoint,
                                     const FieldCondition& condition,
                                     const TracepointFormat& format) {
  const TracepointField* field = format.Find(condition.field);
  if (field == nullptr) {
    std::vector<std::string> names;
    for (const TracepointField& each : format.fields) {
      if (each.is_integer()) names.push_back(each.name);
    }
    std::string nearest = DidYouMean(condition.field, names);
    if (nearest.empty()) nearest = fmt::format("; its integer fields are {}", Joined(names, ", "));
    return FailEvent(spec, ErrorCode::kNotFound,
                     fmt::format("{} has no field '{}'{}", tracepoint, condition.field, nearest));
  }
  // The kernel passes its registers where the common fields are.
  constexpr std::uint16_t kCommonFieldsEnd = 8;
  if (!field->is_integer() || field->offset < kCommonFieldsEnd) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("the field '{}' of {} cannot be compared: it is not an integer",
                                 condition.field, tracepoint));
  }
  if (!Fits(condition, *field)) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("the field '{}' of {} has {} bytes{} and cannot have this value",
                                 condition.field, tracepoint, field->size,
                                 IsSigned(*field) ? "" : ", is unsigned"));
  }
  return wire_condition{.value = condition.value,
                        .offset = static_cast<__u16>(field->offset),
                        .size = static_cast<__u8>(field->size),
                        .is_signed = IsSigned(*field),
                        .comparison = static_cast<__u8>(condition.comparison),
                        .pad = {}};
}

Status PlanConditions(const EventSpec& spec, PlannedEvent& event, const TracepointFormat& format) {
  wire_event& settings = event.settings;
  for (const FieldCondition& condition : spec.conditions) {
    const bool has_field = format.Find(condition.field) != nullptr;
    if (!has_field && condition.may_be_missing) continue;
    Result<FieldCondition> by_number =
        has_field ? ByNumber(spec, event.name, condition, event.format) : condition;
    if (!by_number && condition.may_be_missing) continue;
    if (!by_number) return Fail(std::move(by_number).error());
    TRY_ASSIGN(settings.conditions[settings.condition_count],
               PlanCondition(spec, event.name, *by_number, format));
    ++settings.condition_count;
  }
  return {};
}

Result<PlannedEvent> PlanTracepoint(const EventSpec& spec, const std::string& name,
                                    std::string format_file) {
  const std::optional<TracepointFormat> parsed = perfdata::ParseTracepointFormat(format_file);
  if (!parsed || parsed->fields.empty()) {
    return FailEvent(spec, ErrorCode::kUnsupported,
                     name + ": tracefs does not describe its fields");
  }
  const TracepointFormat& format = *parsed;
  if (format.fixed_size() > WIRE_MAX_RAW) {
    return FailEvent(spec, ErrorCode::kUnsupported,
                     fmt::format("{}: its records are larger than {} bytes", name, WIRE_MAX_RAW));
  }
  std::uint64_t every = spec.every.value_or(1);
  if (spec.rate) {
    const Period* period = std::get_if<Period>(&*spec.rate);
    if (period == nullptr || spec.every) {
      return FailEvent(spec, ErrorCode::kInvalidArgument,
                       "a tracepoint has no frequency: use every=N to record one hit in N");
    }
    every = period->count;
  }
  if (spec.conditions.size() > WIRE_MAX_CONDITIONS) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("more than {} conditions", WIRE_MAX_CONDITIONS));
  }
  PlannedEvent event{.name = name,
                     .attr = TracepointAttr(format.id, every),
                     .cause = SampleCause::kTracepoint,
                     .subsystem = name.substr(0, name.find(':')),
                     .format = std::move(format_file)};
  wire_event& settings = event.settings;
  settings.every = every;
  settings.id = static_cast<__u16>(format.id);
  settings.raw_size = static_cast<__u16>(format.fixed_size());
  if (const TracepointField* last = format.last_location()) {
    settings.last_location = static_cast<__u16>(last->offset);
    if (last->storage == TracepointField::Storage::kRelativeLocation) {
      settings.flags |= WIRE_RELATIVE;
    }
  }
  // perf attributes a system call to the code that makes it. For a BPF program, the kernel replaces
  // the registers by its own (kernel/trace/trace_syscalls.c, perf_call_bpf_enter).
  if (name.starts_with("syscalls:")) settings.flags |= WIRE_FROM_USER;
  event.attr.flags |= perfdata::kExcludeGuest;
  ApplyModifiers(spec, event.attr);
  TRY(PlanConditions(spec, event, format));
  return event;
}

}  // namespace

static_assert(static_cast<int>(Comparison::kEqual) == WIRE_EQUAL);
static_assert(static_cast<int>(Comparison::kNotEqual) == WIRE_NOT_EQUAL);
static_assert(static_cast<int>(Comparison::kLess) == WIRE_LESS);
static_assert(static_cast<int>(Comparison::kGreater) == WIRE_GREATER);
static_assert(static_cast<int>(Comparison::kAnyBit) == WIRE_ANY_BIT);
static_assert(static_cast<int>(Comparison::kAtMost) == WIRE_AT_MOST);
static_assert(static_cast<int>(Comparison::kAtLeast) == WIRE_AT_LEAST);

Result<std::vector<PlannedEvent>> PlanTracepoints(const EventSpec& spec, const Tracefs& tracefs) {
  // The kernel makes no sample of a tracepoint if its event excludes the kernel
  // (perf_tp_event_match of kernel/events/core.c).
  if (spec.only_user_code()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     "a tracepoint is hit in the kernel, so it has no hits without kernel code");
  }
  const std::size_t colon = spec.name.find(':');
  const std::string subsystem_pattern = spec.name.substr(0, colon);
  const std::string name_pattern = spec.name.substr(colon + 1);
  const std::filesystem::path events = tracefs.root() / "events";
  TRY_ASSIGN(const std::vector<std::string> subsystems,
             Matching(spec, subsystem_pattern, tracefs.Subsystems(), events));

  std::vector<PlannedEvent> planned;
  for (const std::string& subsystem : subsystems) {
    // Those of ftrace itself are no tracepoints.
    if (subsystem == "ftrace" && IsGlob(subsystem_pattern)) continue;
    Result<std::vector<std::string>> names =
        Matching(spec, name_pattern, tracefs.TracepointsOf(subsystem), events / subsystem);
    if (!names && IsGlob(subsystem_pattern)) continue;
    if (!names) return Fail(std::move(names).error());
    for (const std::string& name : *names) {
      TRY_ASSIGN(std::string format, tracefs.ReadFormat(subsystem, name));
      TRY_ASSIGN(PlannedEvent event,
                 PlanTracepoint(spec, subsystem + ":" + name, std::move(format)));
      planned.push_back(std::move(event));
    }
  }
  if (planned.empty()) {
    return FailEvent(spec, ErrorCode::kNotFound,
                     fmt::format("no tracepoint in {} matches", events.string()));
  }
  return planned;
}

}  // namespace perftape::record
