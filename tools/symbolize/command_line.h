// SPDX-License-Identifier: Apache-2.0
// perftape-symbolize's options, and the work that they describe.
#pragma once

#include <cstdint>
#include <filesystem>

#include "convert/formats.h"
#include "formats/base/output_target.h"
#include "tools/common/profiles/symbol_options.h"

namespace perftape::symbolize_tool {

enum class ReportAs : std::uint8_t { kText, kJson };

struct Plan : cli::SymbolPlan {
  std::filesystem::path input;            // "-" is stdin
  std::filesystem::path output;           // "-" is stdout; empty if only a cache is filled
  const convert::Format* from = nullptr;  // null: detected from the first bytes
  std::filesystem::path cache;            // the cache to fill; empty for none
  IfExists if_exists = IfExists::kRefuse;
  ReportAs report_as = ReportAs::kText;
};

const cli::Command& SymbolizeCommand();

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors.
Result<Plan> PlanOf(Plan plan);

// Begins a sandbox in which the plan can be carried out (tools/common/sandbox).
Status Confine(const Plan& plan);

}  // namespace perftape::symbolize_tool
