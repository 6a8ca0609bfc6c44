// SPDX-License-Identifier: Apache-2.0
// The samples of a recording that a filter keeps. They are used to write a perf.data that has only
// these samples, but all other records and all times.
#pragma once

#include <vector>

#include "convert/combine.h"
#include "convert/filter/filter.h"
#include "convert/import/import_report.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

struct ChosenSamples {
  std::vector<bool> kept;  // one for each SAMPLE record, in file order
  ImportReport read;
  FilterReport filter;
};

// Reads a whole perf.data, which can be read again afterwards. Fails with kUnsupported for a filter
// that cuts frames, since a recording keeps its stacks. Otherwise fails as ReadPerfData does, and
// as SymbolizeFrom if the filter needs names.
Result<ChosenSamples> ChooseSamples(Input& input, const FilterOptions& filter,
                                    const CombineOptions& options);

}  // namespace perftape::convert
