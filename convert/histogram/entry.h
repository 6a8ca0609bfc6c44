// SPDX-License-Identifier: Apache-2.0
// A line of a histogram: all samples that are equal in the keys.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convert/histogram/call_chains.h"
#include "convert/histogram/hit.h"

namespace perftape::histogram {

// The facts of an entry are those of its first sample. Only those that a key looks at are the same
// for all of its samples.
struct Entry {
  Amounts self;
  Amounts total;  // with callees; equal to `self` if callees are not added up
  Hit hit;        // without chain and amounts; `leaf` is the frame of the entry
  CallChains chains;
  std::vector<Amounts> of_events;  // of each event of a group: self

  // With a hierarchy: the entries by the next key, sorted.
  std::vector<std::unique_ptr<Entry>> children;
};

}  // namespace perftape::histogram
