// SPDX-License-Identifier: Apache-2.0
#include "tools/symbolize/report_json.h"

#include <nlohmann/json.hpp>

#include "tools/common/profiles/symbol_json.h"

namespace perftape::symbolize_tool {

std::string ReportJson(const SymbolizeReport& report, const Plan& plan) {
  using Json = nlohmann::ordered_json;
  const Json json = {{"input", plan.input.native()},
                     {"output", plan.output.native()},
                     {"symbols", cli::SymbolsJson(report)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace perftape::symbolize_tool
