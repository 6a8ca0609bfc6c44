// SPDX-License-Identifier: Apache-2.0
// Messages about what a conversion read and what it could not keep.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/combine.h"
#include "convert/filter/filter.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/rewrite/normalize.h"
#include "convert/symbolize/symbolize.h"
#include "tools/convert/command_line.h"
#include "tools/convert/event_files.h"

namespace perftape::convert_tool {

// The results of a conversion that uses a Profile.
struct ConversionReport {
  std::vector<convert::InputReport> inputs;
  std::vector<convert::InputReport> base;  // what the inputs are compared with
  symbolize::SymbolizeReport symbols;
  convert::FilterReport filter;
  std::vector<std::string> left_out_events;  // events with samples that are not written, because
                                             // the output has only one event
  std::vector<std::string> facts;            // of the page, found while it was made
  std::vector<EventFile> files;              // what was written, if that is a file per event
  convert::Losses losses;                    // what the output cannot hold
  std::string empty_because;                 // why nothing was written; empty if something was
};

// Returns "out-cycles.folded: 99 samples of cycles".
std::string FilesLine(const EventFile& file);

// Returns whether the output has one number per stack, and so samples of only one event.
bool HoldsOneValue(const Plan& plan);

// Whether the output gets one event because its readers need that, and --event did not select
// others.
bool HoldsOneEvent(const Plan& plan);

// "folded lines contain only the event cycles: use --event to select one of instructions (...)"
std::string OneEventLine(const Plan& plan, std::string_view event,
                         const std::vector<std::string>& others);

// Returns what the numbers of a flame graph or of folded lines are, if they are not numbers of
// samples: "the widths of offcpu-time are time, because ...". Empty for other formats.
std::vector<std::string> ValueLines(const Plan& plan, const convert::Profile& written);

// Returns the line for a page that does not show a recording over time, because it has so many
// samples.
std::string NoTimesLine(std::uint64_t samples);

// Returns the losses of the recordings as facts of the page, "losses: 12 samples"; of a comparison,
// of each side. Empty if nothing is known to be lost.
std::vector<std::string> LossFacts(const Plan& plan, const ConversionReport& report);

// Returns "12 inputs: 4950 samples; 80123 frames".
std::string InputsLine(const ConversionReport& report);

// Returns the reason why there is nothing to write.
std::string WhyEmpty(const Plan& plan, const ConversionReport& report);

// Returns the message that no event has a field that --labels names, with similar names among
// `fields`, or all of these if there are few.
std::string NoFieldLine(const std::string& field, const std::set<std::string>& fields);

// Returns "320 samples in 462 records; left out, because perf 6.1 does not know them: 5
// CALLCHAIN_DEFERRED". `reader` is null if no version of perf was selected.
std::string RewrittenLine(const rewrite::NormalizeReport& report,
                          const rewrite::ReaderLimits* reader);

// Returns a line for each loss from a perf.data that was not intended.
std::vector<std::string> LossLines(const rewrite::NormalizeReport& report);

// Returns a line for each feature that was made or left out without loss.
std::vector<std::string> FeatureLines(const rewrite::NormalizeReport& report);

// Returns the events of `profile` that have samples and are not `chosen`: "cycles (99 samples)", or
// "alloc_space" for plain values.
std::vector<std::string> EventsBeside(const convert::Profile& profile, convert::EventId chosen);

std::string ReportJson(const ConversionReport& report, const Plan& plan);

// The report of a perf.data that was written as a perf.data.
std::string ReportJson(const rewrite::NormalizeReport& report, const Plan& plan);

}  // namespace perftape::convert_tool
