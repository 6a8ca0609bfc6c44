// SPDX-License-Identifier: Apache-2.0
// Reads a perf.data into histograms, one for each event.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convert/combine.h"
#include "convert/filter/name_patterns.h"
#include "convert/histogram/histogram.h"
#include "convert/histogram/hit_filter.h"
#include "convert/import/import_report.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::histogram {

struct ReadOptions {
  convert::CombineOptions combine = {};
  HitFilter filter = {};
  std::string times = {};                         // as for ParseTimes; empty: all
  std::optional<convert::NameRegex> parent = {};  // of the key "parent"
  std::optional<convert::NameRegex> ignore_callees = {};
  bool only_with_parent = false;
  std::size_t max_stack = 127;                  // frames of a callchain, as PERF_MAX_STACK_DEPTH
  std::uint64_t time_quantum_ns = 100'000'000;  // times are rounded down to a multiple of this
};

struct EventHistogram {
  std::string name;
  Histogram histogram;
};

struct Histograms {
  NameTable names;
  std::deque<EventHistogram> events;  // all events of the file, in its order
  convert::ImportReport read;
  bool has_callchains = false;  // samples of at least one event have them
};

// Opens a recording and finds out whether samples have callchains, which decides what is shown.
Result<bool> HasCallchains(Input& input);

// `settings` must outlive the result. The result is not null. Fails with kUnsupported for a file
// that is no perf.data, with kInvalidArgument for wrong times, and as ReadNamedByRecord does.
Result<std::unique_ptr<Histograms>> ReadHistograms(Input& input, const ReadOptions& options,
                                                   const Settings& settings);

}  // namespace perftape::histogram
