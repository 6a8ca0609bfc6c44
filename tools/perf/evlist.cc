// SPDX-License-Identifier: Apache-2.0
// perf evlist (tools/perf/builtin-evlist.c, util/evsel_fprintf.c of Linux 6.1).
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "formats/base/text.h"
#include "formats/perfdata/reader.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/perf/attr_text.h"
#include "tools/perf/input.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

struct EvlistPlan : cli::BaseOptions {
  std::string input;
  bool freq = false, group = false, trace_fields = false, force = false;
};

constexpr cli::Option kEvlistInputRows[] = {
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "read FILE (default perf.data)",
     .completion = cli::Completion::kFile,
     .into = cli::Store<&EvlistPlan::input>},
    {.name = "force",
     .letter = 'f',
     .help = "accepted without effect: the owner of a file is never checked",
     .is_rare = true,
     .into = cli::Set<&EvlistPlan::force>},
};

constexpr cli::Option kEvlistOutputRows[] = {
    {.name = "verbose",
     .letter = 'v',
     .help = "print all fields of each event's perf_event_attr",
     .conflicts = {"group"},
     .into = cli::Set<&EvlistPlan::verbose>},
    {.name = "freq",
     .letter = 'F',
     .help = "print the sampling frequency or period of each event",
     .conflicts = {"group"},
     .into = cli::Set<&EvlistPlan::freq>},
    {.name = "group",
     .letter = 'g',
     .help = "print the events of a group on one line: {cycles,instructions}",
     .into = cli::Set<&EvlistPlan::group>},
    {.name = "trace-fields",
     .help = "print the fields of each tracepoint",
     .into = cli::Set<&EvlistPlan::trace_fields>},
};

constexpr cli::Option kEvlistOtherRows[] = {cli::NoSandboxRow()};
constexpr auto kEvlistOptions = cli::Table(cli::InGroup(cli::Group::kInput, kEvlistInputRows),
                                           cli::InGroup(cli::Group::kOutput, kEvlistOutputRows),
                                           cli::InGroup(cli::Group::kOther, kEvlistOtherRows));

constexpr cli::Example kEvlistExamples[] = {
    {"perftape-perf evlist -i perf.data", "the names of the events"},
    {"perftape-perf evlist -v -i perf.data", "how they were recorded"},
};

constexpr cli::Command kEvlistCommand = {
    .name = "perftape-perf evlist",
    .purpose = "Print the events of a perf.data, as perf evlist does.",
    .operands = "",
    .options = kEvlistOptions,
    .operand_completion = cli::Completion::kNothing,
    .examples = kEvlistExamples,
};

using perfdata::Event;
using perfdata::GroupDesc;

bool IsTracepoint(const Event& event) {
  return event.attr.type == perfdata::kTypeTracepoint;
}

std::string TraceFieldsText(const Event& event) {
  if (!IsTracepoint(event)) return "(not a tracepoint)";
  std::vector<std::string> names;
  if (event.tracepoint) {
    for (const perfdata::TracepointField& field : event.tracepoint->fields) {
      if (!field.is_common()) names.push_back(cli::EscapeForTerminal(field.name));
    }
  }
  return names.empty() ? "(no trace field)" : "trace_fields: " + Joined(names, ",");
}

std::string EventText(const Event& event, const EvlistPlan& plan) {
  std::string text = cli::EscapeForTerminal(event.name);
  std::string_view separator = ": ";
  const auto add = [&](std::string_view part) {
    text.append(separator).append(part);
    separator = ", ";
  };
  if (plan.verbose) {
    add(PerfAttrText(event.attr));
  } else if (plan.freq) {
    const bool is_frequency = event.attr.Has(perfdata::kFreq);
    add(fmt::format("{}={}", is_frequency ? "sample_freq" : "sample_period",
                    event.attr.sample_period));
  }
  if (plan.trace_fields) add(TraceFieldsText(event));
  return text + "\n";
}

// Returns a line for each group, and for each event that is in no group.
std::string GroupsText(const perfdata::Reader& reader, const EvlistPlan& plan) {
  std::vector<GroupDesc::Group> groups;
  const auto feature = reader.DecodedFeature(perfdata::FeatureBit::kGroupDesc);
  if (feature) {
    if (const auto* desc = std::get_if<GroupDesc>(&*feature)) groups = desc->groups;
  }
  const std::span<const Event> events = reader.events().all();
  std::string text;
  for (std::size_t i = 0; i < events.size();) {
    const auto group = std::ranges::find(groups, i, &GroupDesc::Group::leader);
    const std::size_t size = group == groups.end() ? 1 : std::max(group->members, 1U);
    const std::size_t end = size > events.size() - i ? events.size() : i + size;
    std::vector<std::string> names;
    for (; i < end; ++i) names.push_back(cli::EscapeForTerminal(events[i].name));
    std::string line = Joined(names, ",");
    if (names.size() > 1) {
      // The name that perf writes for a group without one (tools/perf/util/header.c).
      const std::string_view name = group->name == "{anon_group}" ? "" : group->name;
      line = cli::EscapeForTerminal(name) + "{" + line + "}";
    }
    text += line;
    if (plan.trace_fields) text += ": " + TraceFieldsText(events[end - names.size()]);
    text += "\n";
  }
  return text;
}

Result<EvlistPlan> EvlistPlanOf(EvlistPlan plan) {
  TRY(RefuseOperands(plan));
  plan.input = InputOrDefault(plan.input);
  return plan;
}

Status Confine(const EvlistPlan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.input, grants);
  return sandbox::Confine(grants);
}

Result<int> Run(const EvlistPlan& plan, cli::Console& console) {
  TRY_ASSIGN(const Recording recording, Recording::Open(plan.input));
  const perfdata::Reader& reader = recording.reader();
  std::string text;
  if (plan.group) {
    text = GroupsText(reader, plan);
  } else {
    for (const Event& event : reader.events().all()) text += EventText(event, plan);
  }
  if (!plan.trace_fields && std::ranges::any_of(reader.events().all(), &IsTracepoint)) {
    text += "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n";
  }
  TRY(cli::PrintToStdout(text));
  for (const std::string& problem : reader.problems()) console.Warning(problem);
  return reader.problems().empty() ? cli::kDone : cli::kDegraded;
}

}  // namespace

const cli::Command& EvlistCommand() {
  return kEvlistCommand;
}

int EvlistMain(int argc, char** argv) {
  return cli::Main<EvlistPlan>({kEvlistCommand, &EvlistPlanOf, &Run, &Confine}, argc, argv);
}

}  // namespace perftape::perf_tool
