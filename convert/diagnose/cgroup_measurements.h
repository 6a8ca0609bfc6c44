// SPDX-License-Identifier: Apache-2.0
// The figures of cgroups: what they used of their limits while the recording ran.
#pragma once

#include <vector>

#include "convert/diagnose/measurements.h"

namespace perftape::diagnose {

// Returns a measurement for each cgroup that has the limit. `rule` is of cgroups.
std::vector<Measurement> MeasureCgroups(const Rule& rule, const Facts& facts);

}  // namespace perftape::diagnose
