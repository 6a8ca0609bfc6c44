// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/report_json.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"

namespace perftape::doctor_tool {
namespace {

using DoctorJson = nlohmann::ordered_json;

template <class Number>
DoctorJson NumberOrNull(const std::optional<Number>& number) {
  return number ? DoctorJson(*number) : DoctorJson();
}

DoctorJson MachineJson(const record::DoctorMachine& machine) {
  const record::SystemFacts& facts = machine.facts;
  DoctorJson object;
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
  object["config"] = machine.config.path.empty() ? DoctorJson() : DoctorJson(machine.config.path);
  return object;
}

DoctorJson NamesJson(const std::vector<record::Finding>& findings) {
  DoctorJson names = DoctorJson::array();
  for (const record::Finding& finding : findings) {
    names.push_back(record::NameOf(finding.requirement));
  }
  return names;
}

DoctorJson EventJson(const record::EventDiagnosis& event) {
  DoctorJson object = {{"kind", event.kind},
                       {"example", event.example},
                       {"works", event.works},
                       {"findings", NamesJson(event.findings)}};
  if (!event.other_reason.empty()) object["reason"] = event.other_reason;
  return object;
}

DoctorJson AbilityJson(const record::Ability& ability) {
  DoctorJson object = {
      {"name", ability.name}, {"works", ability.works}, {"findings", NamesJson(ability.findings)}};
  if (!ability.reason.empty()) object["reason"] = ability.reason;
  return object;
}

DoctorJson FindingJson(const record::Finding& finding, const record::Diagnosis& diagnosis,
                       const record::KernelConfig& config) {
  DoctorJson object = {{"name", record::NameOf(finding.requirement)},
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

std::string ReportJson(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine) {
  DoctorJson object;
  object["default_recording_works"] = diagnosis.default_recording_works();
  object["user_recording_works"] = diagnosis.user_recording_works;
  object["machine"] = MachineJson(machine);
  object["events"] = DoctorJson::array();
  for (const record::EventDiagnosis& event : diagnosis.events) {
    object["events"].push_back(EventJson(event));
  }
  object["abilities"] = DoctorJson::array();
  for (const record::Ability& ability : diagnosis.abilities) {
    object["abilities"].push_back(AbilityJson(ability));
  }
  object["findings"] = DoctorJson::array();
  for (const record::Finding& finding : diagnosis.AllFindings()) {
    object["findings"].push_back(FindingJson(finding, diagnosis, machine.config));
  }
  return cli::JsonText(object, cli::JsonLayout::kIndented);
}

}  // namespace perftape::doctor_tool
