// SPDX-License-Identifier: Apache-2.0
// perftape-recover's options.
#pragma once

#include <cstdint>
#include <filesystem>

#include "formats/base/output_target.h"
#include "tools/common/cli/options.h"

namespace perftape::recover_tool {

enum class ReportAs : std::uint8_t { kText, kJson };

struct Plan : cli::BaseOptions {
  std::filesystem::path input;  // "-" is stdin
  std::filesystem::path output;
  IfExists if_exists = IfExists::kRefuse;
  ReportAs report_as = ReportAs::kText;
};

const cli::Command& RecoverCommand();

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors.
Result<Plan> PlanOf(Plan plan);

// Begins a sandbox in which the plan can be carried out (tools/common/sandbox).
Status Confine(const Plan& plan);

}  // namespace perftape::recover_tool
