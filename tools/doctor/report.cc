// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/report.h"

#include <fmt/core.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/base/text.h"
#include "formats/json/write.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"

namespace perftape::doctor_tool {
namespace {

using cli::EscapeForTerminal;
using Json = json::Value;

// Returns ": " and the reasons, or nothing.
std::string Reasons(const std::vector<record::Finding>& findings, const std::string& other) {
  std::vector<std::string> reasons;
  for (const record::Finding& finding : findings) reasons.push_back(finding.problem);
  if (!other.empty()) reasons.push_back(other);
  if (reasons.empty()) return "";
  return ": " + EscapeForTerminal(Joined(reasons, "; "));
}

std::string EventLine(const record::EventDiagnosis& event) {
  return fmt::format("  {:<16} {:<30} {}{}\n", event.kind, event.example,
                     event.works ? "works" : "does not work",
                     Reasons(event.findings, event.other_reason));
}

std::string AbilityLine(const record::Ability& ability) {
  return fmt::format("  {:<47} {}{}\n", ability.name, ability.works ? "yes" : "no",
                     Reasons(ability.findings, ability.reason));
}

// "CONFIG_KPROBE_EVENTS is not set in /proc/config.gz"; empty if that is unknown.
std::string ConfigText(const record::Finding& finding, const record::KernelConfig& config) {
  const std::string_view option = record::ConfigOptionOf(finding.requirement);
  const std::string_view value = option.empty() ? "" : config.ValueOf(option);
  if (value.empty()) return "";
  if (value == "n") return fmt::format("{} is not set in {}", option, config.path);
  return fmt::format("{}={} in {}", option, value, config.path);
}

// Lists a few of them, or says that nothing works without it.
std::string AffectedText(const record::Finding& finding, const record::Diagnosis& diagnosis) {
  const std::vector<std::string> names = diagnosis.AffectedBy(finding);
  if (names.size() >= diagnosis.events.size()) return "all events";
  return Joined(names, ", ");
}

std::string FindingText(const record::Finding& finding, const record::Diagnosis& diagnosis,
                        const record::KernelConfig& config) {
  std::string text = fmt::format("  {}\n    needed for: {}\n", EscapeForTerminal(finding.problem),
                                 AffectedText(finding, diagnosis));
  if (const std::string line = ConfigText(finding, config); !line.empty()) {
    text += fmt::format("    kernel: {}\n", line);
  }
  if (!finding.remedy.empty()) text += fmt::format("    remedy: {}\n", finding.remedy);
  if (!finding.command.empty()) {
    text += fmt::format("      {}\n", EscapeForTerminal(finding.command));
  }
  return text;
}

std::string_view WhatWorks(const record::Diagnosis& diagnosis) {
  if (diagnosis.default_recording_works()) return "works";
  if (diagnosis.kernel_sampler_works) return "works without BPF programs, as perf record does";
  return diagnosis.user_recording_works
             ? "does not work, but a recording of user code does: perftape-record COMMAND"
             : "does not work";
}

template <class Number>
Json NumberOrNull(const std::optional<Number>& number) {
  return number ? Json(*number) : Json();
}

Json MachineJson(const record::DoctorMachine& machine) {
  const record::SystemFacts& facts = machine.facts;
  Json object;
  object["release"] = facts.release;
  object["capabilities"] = fmt::format("0x{:x}", facts.capabilities);
  object["user_namespace"] = facts.in_user_namespace;
  object["btf"] = facts.has_btf;
  object["perf_event_paranoid"] = NumberOrNull(facts.perf_paranoid);
  object["kptr_restrict"] = NumberOrNull(facts.kptr_restrict);
  object["lockdown_confidentiality"] = facts.locked_down;
  object["locked_memory_kib"] = NumberOrNull(facts.locked_memory_kib);
  object["open_files"] = NumberOrNull(facts.open_files);
  object["seccomp_filter"] = facts.has_system_call_filter;
  object["config"] = machine.config.path.empty() ? Json() : Json(machine.config.path);
  return object;
}

Json NamesJson(const std::vector<record::Finding>& findings) {
  Json names = Json::EmptyList();
  for (const record::Finding& finding : findings) {
    names.push_back(record::NameOf(finding.requirement));
  }
  return names;
}

Json EventJson(const record::EventDiagnosis& event) {
  Json object = {{"kind", event.kind},
                 {"example", event.example},
                 {"works", event.works},
                 {"findings", NamesJson(event.findings)}};
  if (!event.other_reason.empty()) object["reason"] = event.other_reason;
  return object;
}

Json AbilityJson(const record::Ability& ability) {
  Json object = {
      {"name", ability.name}, {"works", ability.works}, {"findings", NamesJson(ability.findings)}};
  if (!ability.reason.empty()) object["reason"] = ability.reason;
  return object;
}

Json FindingJson(const record::Finding& finding, const record::Diagnosis& diagnosis,
                 const record::KernelConfig& config) {
  Json object = {{"name", record::NameOf(finding.requirement)},
                 {"problem", finding.problem},
                 {"remedy", finding.remedy},
                 {"command", finding.command},
                 {"message", finding.text()},
                 {"affects", diagnosis.AffectedBy(finding)}};
  const std::string_view option = record::ConfigOptionOf(finding.requirement);
  if (const std::string_view value = config.ValueOf(option); !option.empty() && !value.empty()) {
    object["config"] = {{"option", option}, {"value", value}};
  }
  return object;
}

}  // namespace

std::string ReportText(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine) {
  std::string text = fmt::format("Linux {}: a recording without options {}.\n\nevents\n",
                                 EscapeForTerminal(machine.facts.release), WhatWorks(diagnosis));
  for (const record::EventDiagnosis& event : diagnosis.events) text += EventLine(event);
  text += "\nused where the kernel has it\n";
  for (const record::Ability& ability : diagnosis.abilities) text += AbilityLine(ability);
  const std::vector<record::Finding> findings = diagnosis.AllFindings();
  if (!findings.empty()) text += "\nmissing\n";
  for (const record::Finding& finding : findings) {
    text += FindingText(finding, diagnosis, machine.config);
  }
  return text;
}

std::string ReportJson(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine) {
  Json object = {cli::SchemaMember(cli::kDoctorSchema)};
  object["default_recording_works"] = diagnosis.default_recording_works();
  object["kernel_sampler_works"] = diagnosis.kernel_sampler_works;
  object["user_recording_works"] = diagnosis.user_recording_works;
  object["machine"] = MachineJson(machine);
  object["events"] = Json::EmptyList();
  for (const record::EventDiagnosis& event : diagnosis.events) {
    object["events"].push_back(EventJson(event));
  }
  object["abilities"] = Json::EmptyList();
  for (const record::Ability& ability : diagnosis.abilities) {
    object["abilities"].push_back(AbilityJson(ability));
  }
  object["findings"] = Json::EmptyList();
  for (const record::Finding& finding : diagnosis.AllFindings()) {
    object["findings"].push_back(FindingJson(finding, diagnosis, machine.config));
  }
  return json::Text(object, json::Layout::kIndented);
}

Result<int> PrintDiagnosis(ReportAs report_as, cli::Verbosity verbosity) {
  const record::DoctorMachine machine = record::DoctorMachine::This();
  const record::Diagnosis diagnosis = record::Diagnose(machine);
  if (report_as == ReportAs::kJson) {
    TRY(cli::PrintToStdout(ReportJson(diagnosis, machine)));
  } else if (verbosity != cli::Verbosity::kQuiet) {
    TRY(cli::PrintToStdout(ReportText(diagnosis, machine)));
  }
  return diagnosis.default_recording_works() ? cli::kDone : cli::kFailed;
}

}  // namespace perftape::doctor_tool
