// SPDX-License-Identifier: Apache-2.0
// Which of a recording's samples a filter keeps: for a perf.data that stays one, with its time
// line.
#pragma once

#include <vector>

#include "convert/combine.h"
#include "convert/filter/filter.h"
#include "convert/import/import_report.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

struct ChosenSamples {
  std::vector<bool> kept;  // one for each SAMPLE record, in the file's order
  ImportReport read;
  FilterReport filter;
};

// Reads the whole of a perf.data, which can be read again then. kUnsupported for filters that cut
// frames: a recording keeps its stacks. Else as ReadPerfData, and as SymbolizeFrom where the
// filter asks for names.
Result<ChosenSamples> ChooseSamples(Input& input, const FilterOptions& filter,
                                    const CombineOptions& options);

}  // namespace perftape::convert
