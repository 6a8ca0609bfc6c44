// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/symbol_options.h"

#include "formats/elf/index_cache.h"

namespace perftape::cli {

void FinishSymbolOptions(SymbolPlan& plan) {
  if (plan.no_lines) plan.symbol_options.source_lines = symbolize::SourceLines::kNone;
  plan.symbol_options.index_cache = elf::UsualIndexCache();
}

}  // namespace perftape::cli
