// SPDX-License-Identifier: Apache-2.0
// Parses the expressions in `print fmt` of a tracepoint.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "formats/perfdata/print_expression.h"

namespace perftape::perfdata {

// Parses a comma-separated list of expressions. Nothing if one is not understood.
std::optional<std::vector<PrintExpression>> ParsePrintExpressions(std::string_view text);

}  // namespace perftape::perfdata
