// SPDX-License-Identifier: Apache-2.0
// perftape-inspect's options.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/common/cli/options.h"
#include "tools/common/cli/values.h"
#include "tools/inspect/shown_sections.h"

namespace perftape::inspect {

// In the order in which they are printed.
enum class Section : std::uint8_t {
  kSummary,
  kHeader,
  kStatistics,
  kLosses,
  kRecords,
  kSamples,
  kValidation
};

enum class Form : std::uint8_t { kText, kJson };

struct Plan : cli::BaseOptions {
  std::string input;  // "-" for stdin
  Form form = Form::kText;
  unsigned threads = cli::DefaultThreads();
  std::set<Section> sections;
  FieldColumn field_column = FieldColumn::kNone;  // of the table of samples
  std::string unwind_table;                       // an ELF file, instead of the input; or empty
};

const cli::Command& InspectCommand();

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors.
Result<Plan> PlanOf(Plan plan);

// Begins a sandbox in which the plan can be carried out (tools/common/sandbox).
Status Confine(const Plan& plan);

}  // namespace perftape::inspect
