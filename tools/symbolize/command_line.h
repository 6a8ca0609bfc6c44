// SPDX-License-Identifier: Apache-2.0
// perftape-symbolize's options, and what they ask for.
#pragma once

#include <cstdint>
#include <filesystem>

#include "convert/formats.h"
#include "convert/symbolize/symbol_options.h"
#include "formats/base/output_target.h"
#include "tools/common/cli/options.h"

namespace perftape::symbolize_tool {

enum class ReportAs : std::uint8_t { kText, kJson };

struct Plan {
  std::filesystem::path input;            // "-" is stdin
  std::filesystem::path output;           // "-" is stdout; empty where only a cache is filled
  const convert::Format* from = nullptr;  // null: found out from the first bytes
  symbolize::SymbolOptions symbols;
  std::filesystem::path cache = {};  // to be filled; empty for none
  IfExists if_exists = IfExists::kRefuse;
  bool show_sources = false;
  ReportAs report_as = ReportAs::kText;
};

const cli::Command& SymbolizeCommand();

// kInvalidArgument for usage errors.
Result<Plan> PlanOf(const cli::Parsed& parsed);

}  // namespace perftape::symbolize_tool
