// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/command_line.h"

#include <string>
#include <utility>

#include "formats/base/library_version.h"
#include "formats/bundle/library_versions.h"
#include "formats/elf/library_versions.h"
#include "record/bpf/kernel_facts.h"
#include "record/doctor/diagnosis.h"
#include "tools/common/cli/rows.h"

namespace perftape::doctor_tool {
namespace {

constexpr cli::Option kOutputRows[] = {
    cli::JsonRow("print the report as one JSON object",
                 cli::SetTo<ReportAs::kJson, &Plan::report_as>),
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow("print nothing, only set the exit status"),
};
constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kOutputRows),
                                     cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-doctor", "for the current user"},
    {"sudo perftape-doctor", "for root"},
    {"perftape-doctor --json | jq -r '.findings[].command'", "the commands for what is missing"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-doctor",
    .purpose =
        "Check which kinds of events perftape-record can record here, say why it cannot record the "
        "others, and print the commands that enable them. Records and changes nothing, and needs "
        "no privileges.",
    .operands = "",
    .options = kOptions,
    .operand_completion = cli::Completion::kNothing,
    .examples = kExamples,
    .epilogue =
        "Exit status: 0 a recording without options works (cpu-clock of the whole\n"
        "system), 1 it does not, 2 wrong usage.\n",
    .libraries = &RecorderLibraries,
    .kernel_features = &KernelFeatures,
};

constexpr auto kVerbOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kOutputRows));

constexpr cli::Command kVerbCommand = {
    .name = "perftape-record doctor",
    .purpose = "Run the checks of perftape-doctor.",
    .operands = "",
    .options = kVerbOptions,
    .operand_completion = cli::Completion::kNothing,
};

}  // namespace

std::vector<LibraryVersion> RecorderLibraries() {
  return {record::LibbpfVersion(),     elf::LibelfVersion(),    ZstdVersion(),
          bundle::LibarchiveVersion(), bundle::SodiumVersion(), elf::LzmaVersion(),
          elf::LibdeflateVersion()};
}

std::vector<cli::KernelFeature> KernelFeatures() {
  const record::DoctorMachine machine = record::DoctorMachine::This();
  std::vector<cli::KernelFeature> features = {{"BTF", machine.facts.has_btf}};
  for (const record::Ability& ability : record::CheckAbilities(machine)) {
    features.push_back({ability.name, ability.works});
  }
  return features;
}

const cli::Command& DoctorVerbCommand() {
  return kVerbCommand;
}

const cli::Command& DoctorCommand() {
  return kCommand;
}

Result<Plan> PlanOf(Plan plan) {
  if (!plan.operands.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "unexpected argument '" + plan.operands.front() + "'");
  }
  return plan;
}

}  // namespace perftape::doctor_tool
