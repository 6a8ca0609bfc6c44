// SPDX-License-Identifier: Apache-2.0
// Profile -> a flame graph, as an HTML page or an SVG.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"
#include "convert/timeline/windows.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::flame_graph {

// What a flame graph does not show.
struct FlameGraphReport {
  std::uint64_t negative_samples = 0;  // samples with a negative number
};

// Why the windows on the two sides of a difference take different amounts of time.
struct ComparedWindows {
  struct Reason {
    std::uint32_t depth = 0;  // below the last reason before it with a smaller depth
    // Of a window on average, after and before.
    std::int64_t after_ns = 0, before_ns = 0;
    std::string text = {};
  };
  std::string caption = {};  // what is compared; empty: no windows
  std::vector<Reason> reasons = {};
};

// What a page shows besides the profile, if its samples have times.
struct PageTimes {
  convert::TaskEvents events = {};
  std::vector<convert::ThreadSwitch> switches = {};
  std::vector<std::string> event_names = {};       // also of events without samples
  std::optional<convert::TimeWindow> window = {};  // the range that is looked at; nothing: all
  std::vector<timeline::Span> pauses = {};         // TimelineOptions::pauses
  std::int64_t sample_step_ns = 0;  // the times of samples are multiples of it; 0: exact
  std::string trigger = {};         // why the recording ended; empty: no reason
  // For a critical path: its windows, and a name for them; the name is empty for the whole lives of
  // threads.
  std::vector<timeline::ThreadWindow> windows = {};
  std::string window_name = {};
  ComparedWindows compared = {};  // of a differential profile of windows
};

// Profile -> a flame graph as one HTML page, for a browser without a network. The page has a strict
// Content-Security-Policy, which names its own script and style by their hashes; names of functions
// are in its compressed data (page_data.h) and never in its markup.
//
// If samples have the labels of times and CPUs (ImportOptions::time_label, cpu_label), the page
// also shows the threads over time.
//
// Writes all events that have samples. Of `options`, uses `value`, `root` and `differential`: the
// page of a differential profile shows pairs of events. Fails as the output does, with kIo if there
// is not enough memory, and with kNotFound if a differential profile has no pair of events.
Result<FlameGraphReport> WriteHtml(const convert::Profile& profile,
                                   const convert::FoldedOptions& options, const PageTimes& times,
                                   OutputFile& out);

// Profile -> a flame graph as one SVG that looks like those of flamegraph.pl and has the same
// search and zoom. Where scripts do not run, as in an <img>, it shows the whole graph.
//
// Writes one event: that of `options`, or DefaultEvent. Of the other options, uses `value`, `root`
// and `differential`: the picture of a differential profile shows a pair of events, with the widths
// of "after". Calls that are narrower than 0.1 pixels are added to their callers, which show how
// many they are. Fails as the output does, and with kNotFound if a differential profile has no pair
// of events.
Result<FlameGraphReport> WriteSvg(const convert::Profile& profile,
                                  const convert::FoldedOptions& options, OutputFile& out);

}  // namespace perftape::flame_graph
