// SPDX-License-Identifier: Apache-2.0
// The calls of each probe by each process: counts and percentiles from the histograms that the
// recorder noted, errors and their objects from the samples of slow and failed calls.
#pragma once

#include <vector>

#include "convert/diagnose/facts.h"

namespace perftape::diagnose {

// Returns the calls in the notes, of processes that `filter` keeps, and in facts.slow_calls.
// Processes with few calls are joined with others of the same name in the same cgroup, so that many
// short-lived ones are judged together.
//
// A percentile that slow calls reach is exact, because each is a sample. Below, it is interpolated
// in the buckets.
std::vector<Calls> CallsOf(const Facts& facts, const std::vector<RecordedInput>& inputs,
                           const convert::FilterOptions& filter);

}  // namespace perftape::diagnose
