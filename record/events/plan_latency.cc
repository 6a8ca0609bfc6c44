// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_latency.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/system_call_names.h"
#include "record/events/event_attrs.h"
#include "record/machine/did_you_mean.h"

namespace perftape::record {
namespace {

using perfdata::LatencyProbe;

// The number of the event of a single system call, after those of all rows.
constexpr std::uint64_t kFirstOfCalls = perfdata::kFirstLatencyEvent + 0x100;

bool IsSingleCall(std::string_view name) {
  return name.starts_with(perfdata::kSyscallProbePrefix);
}

std::vector<std::string> NamesAndSets() {
  std::vector<std::string> names;
  for (const LatencyProbe& probe : perfdata::LatencyProbes()) {
    names.emplace_back(probe.name);
    if (!probe.set.empty() && std::ranges::find(names, probe.set) == names.end()) {
      names.emplace_back(probe.set);
    }
  }
  return names;
}

std::vector<std::string> DefaultProbes() {
  std::vector<std::string> probes;
  for (const LatencyProbe& probe : perfdata::LatencyProbes()) {
    if (probe.is_default) probes.emplace_back(probe.name);
  }
  return probes;
}

// The probes that `name` stands for.
Result<std::vector<std::string>> ProbesOf(const EventSpec& spec, std::string_view name) {
  if (name == perfdata::kLatencySystem) return DefaultProbes();
  name.remove_prefix(perfdata::kLatencyPrefix.size());
  if (IsSingleCall(name)) {
    const std::string_view call = name.substr(perfdata::kSyscallProbePrefix.size());
    if (perfdata::SystemCallNumber(call)) return std::vector<std::string>{std::string(name)};
    const std::vector<std::string_view> views = perfdata::SystemCallNames();
    const std::vector<std::string> names(views.begin(), views.end());
    return FailEvent(spec, ErrorCode::kNotFound,
                     fmt::format("no system call '{}'{}", call, DidYouMean(call, names)));
  }
  std::vector<std::string> probes;
  const std::string pattern(name);
  for (const LatencyProbe& probe : perfdata::LatencyProbes()) {
    const bool matches = fnmatch(pattern.c_str(), std::string(probe.name).c_str(), 0) == 0;
    if (matches || probe.set == name) probes.emplace_back(probe.name);
  }
  if (!probes.empty()) return probes;
  return FailEvent(
      spec, ErrorCode::kNotFound,
      fmt::format("no latency probe '{}' ('perftape-record list latency:' shows all){}", name,
                  DidYouMean(name, NamesAndSets())));
}

std::uint64_t NumberOf(std::string_view name, const LatencyProbe& row) {
  if (!IsSingleCall(name)) {
    return perfdata::kFirstLatencyEvent +
           static_cast<std::uint64_t>(&row - perfdata::LatencyProbes().data());
  }
  const std::string_view call = name.substr(perfdata::kSyscallProbePrefix.size());
  return kFirstOfCalls + perfdata::SystemCallNumber(call).value_or(0);
}

PlannedEvent PlanProbe(const EventSpec& spec, const std::string& name) {
  const LatencyProbe& row = *perfdata::FindLatencyProbe(name);
  const std::uint64_t number = NumberOf(name, row);
  PlannedEvent event{.name = perfdata::LatencyEventName(name),
                     .attr = TracepointAttr(number, 1),
                     .cause = SampleCause::kLatency,
                     .subsystem = std::string(perfdata::kLatencySystem)};
  event.format = perfdata::LatencyFormat(row, event.name, number);
  event.settings.every = 1;
  event.settings.id = static_cast<__u16>(number);
  event.latency = {.probe = name,
                   .min_ns = spec.latency_min_ns.value_or(row.min_ns),
                   .samples_errors = spec.samples_errors.value_or(true)};
  return event;
}

// Names the probe, too, if the event is a set.
Error MissingProbe(const EventSpec& spec, const std::string& probe, const Error& reason) {
  const std::string name = std::string(perfdata::kLatencyPrefix) + probe;
  return FailEvent(spec, name == spec.name ? reason : InContext(name, reason)).error();
}

}  // namespace

Result<LatencyPlan> PlanLatency(const EventSpec& spec, const EventMachine& machine) {
  if (spec.has_modifiers()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument, "a latency probe takes no modifiers");
  }
  TRY_ASSIGN(const std::vector<std::string> probes, ProbesOf(spec, spec.name));
  LatencyPlan plan;
  for (const std::string& probe : probes) {
    if (const Status works = machine.latency(probe); works) {
      plan.events.push_back(PlanProbe(spec, probe));
    } else {
      plan.missing.push_back(MissingProbe(spec, probe, works.error()));
    }
  }
  if (plan.events.empty()) return Fail(plan.missing.front());
  return plan;
}

}  // namespace perftape::record
