// SPDX-License-Identifier: Apache-2.0
// perftape-convert's options, and the conversion that they ask for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "convert/formats.h"
#include "convert/symbolize/symbolize.h"
#include "tools/common/cli/options.h"

namespace perftape::convert_tool {

enum class Symbols : std::uint8_t { kLocal, kNone };

struct Plan {
  std::filesystem::path input, output;  // "-" is stdin, stdout
  const Format* from = nullptr;         // null: found out from the first bytes
  const Format* to = nullptr;           // never null
  Symbols symbols = Symbols::kLocal;
  LocalSymbolOptions symbol_options;
  std::string event;  // by name, for formats that hold only one; empty: the first with samples
  WriteOptions write;
  rewrite::NormalizeOptions normalize;  // of a perf.data into a perf.data
};

const cli::Command& ConvertCommand();

// kInvalidArgument for usage errors.
Result<Plan> PlanOf(const cli::Parsed& parsed);

}  // namespace perftape::convert_tool
