// SPDX-License-Identifier: Apache-2.0
// perftape-inspect's options, and what they ask for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/common/cli/options.h"

namespace perftape::inspect {

enum class Section : std::uint8_t {
  kSummary,
  kHeader,
  kRecords,
  kStatistics,
  kSamples,
  kValidation
};

enum class Form : std::uint8_t { kText, kJson };

struct Plan {
  std::string input;  // "-" for stdin
  Form form = Form::kText;
  unsigned threads = 1;           // that may work at once
  std::vector<Section> sections;  // in the order in which they are printed
};

const cli::Command& InspectCommand();

// kInvalidArgument for usage errors.
Result<Plan> PlanOf(const cli::Parsed& parsed);

}  // namespace perftape::inspect
