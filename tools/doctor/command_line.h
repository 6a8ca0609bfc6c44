// SPDX-License-Identifier: Apache-2.0
// perftape-doctor's options.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tools/common/cli/options.h"

namespace perftape::doctor_tool {

enum class ReportAs : std::uint8_t { kText, kJson };

// The operand of perftape-record that makes it print the report of perftape-doctor, as "list" makes
// it print events.
inline constexpr std::string_view kDoctorWord = "doctor";

struct Plan : cli::BaseOptions {
  ReportAs report_as = ReportAs::kText;
};

const cli::Command& DoctorCommand();
// The same as a verb of perftape-record.
const cli::Command& DoctorVerbCommand();

// What the recorder and the doctor tell with --version.
std::vector<LibraryVersion> RecorderLibraries();
std::vector<cli::KernelFeature> KernelFeatures();

// Checks a parsed plan. Fails with kInvalidArgument for usage errors.
Result<Plan> PlanOf(Plan plan);

}  // namespace perftape::doctor_tool
