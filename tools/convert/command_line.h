// SPDX-License-Identifier: Apache-2.0
// perftape-convert's options, and the conversion that they ask for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "convert/filter/filter.h"
#include "convert/formats.h"
#include "convert/symbolize/symbol_options.h"
#include "tools/common/cli/options.h"

namespace perftape::convert_tool {

enum class Symbols : std::uint8_t { kLookUp, kNone };

enum class ReportAs : std::uint8_t { kText, kJson };

struct Plan {
  std::vector<std::filesystem::path> inputs;  // of this shard; "-" is stdin
  std::filesystem::path output;               // "-" is stdout
  const convert::Format* from = nullptr;      // null: found out from the first bytes
  const convert::Format* to = nullptr;        // never null
  convert::ImportOptions import;
  convert::FilterOptions filter;
  Symbols symbols = Symbols::kLookUp;
  symbolize::SymbolOptions symbol_options;
  bool show_sources = false;
  convert::WriteOptions write;
  rewrite::NormalizeOptions normalize;  // of a perf.data into a perf.data
  ReportAs report_as = ReportAs::kText;
};

const cli::Command& ConvertCommand();

// kInvalidArgument for usage errors; where a list of inputs cannot be read, as ReadWholeFile.
Result<Plan> PlanOf(const cli::Parsed& parsed);

}  // namespace perftape::convert_tool
