// SPDX-License-Identifier: Apache-2.0
#include "tools/symbolize/report_json.h"

#include <nlohmann/json.hpp>

#include "tools/common/cli/json_text.h"
#include "tools/common/profiles/symbol_json.h"

namespace perftape::symbolize_tool {

std::string ReportJson(const symbolize::SymbolizeReport& report, const Plan& plan) {
  const nlohmann::ordered_json json = {{"input", plan.input.native()},
                     {"output", plan.output.native()},
                     {"symbols", cli::SymbolsJson(report)}};
  return cli::JsonText(json, cli::JsonLayout::kOneLine);
}

}  // namespace perftape::symbolize_tool
