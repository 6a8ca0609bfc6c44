// SPDX-License-Identifier: Apache-2.0
// The content of symbol_text as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "convert/symbolize/symbolize.h"

namespace perftape::cli {

nlohmann::ordered_json SymbolsJson(const symbolize::SymbolizeReport& report);

}  // namespace perftape::cli
