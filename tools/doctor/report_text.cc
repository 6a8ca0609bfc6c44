// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/report_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/common/cli/escape.h"

namespace perftape::doctor_tool {
namespace {

using cli::EscapeForTerminal;

// Returns ": " and the reasons, or nothing.
std::string Reasons(const std::vector<record::Finding>& findings, const std::string& other) {
  std::vector<std::string> reasons;
  for (const record::Finding& finding : findings) reasons.push_back(finding.problem);
  if (!other.empty()) reasons.push_back(other);
  if (reasons.empty()) return "";
  return ": " + EscapeForTerminal(fmt::format("{}", fmt::join(reasons, "; ")));
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
  return fmt::format("{}", fmt::join(names, ", "));
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
  return diagnosis.user_recording_works
             ? "does not work, but one of user code does: perftape-record COMMAND"
             : "does not work";
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

}  // namespace perftape::doctor_tool
