// SPDX-License-Identifier: Apache-2.0
// Profile -> a flame graph as one SVG, in the look of flamegraph.pl and with its search and zoom.
// Without a script, as in an <img>, it is the picture of the whole.
#pragma once

#include "convert/export/flame_graph/to_html.h"
#include "convert/export/to_folded.h"
#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::flame_graph {

// Writes one event: that of `options`, or DefaultEvent. Of the other options, uses `value`, `root`
// and `differential`: the picture of a differential profile shows a pair of events, as wide as
// "after". Calls that are narrower than 0.1 pixels are added to their callers, which say how many.
// Fails as the output does, and with kNotFound if a differential profile has no pair of events.
Result<FlameGraphReport> WriteSvg(const convert::Profile& profile,
                                  const convert::FoldedOptions& options, OutputFile& out);

}  // namespace perftape::flame_graph
