// SPDX-License-Identifier: Apache-2.0
// A range of a recording's time, on the clock of the recording.
#pragma once

#include <cstdint>

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"

namespace perftape::convert {

// Converts `range` to times of a recording. `recording` has the times of its first and last
// samples.
TimeWindow Resolve(const TimeRange& range, const TimeWindow& recording);

}  // namespace perftape::convert
