// SPDX-License-Identifier: Apache-2.0
// What a conversion found and what it could not keep, for a person.
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

namespace perftape::convert_tool {

// All that a conversion by way of a Profile found.
struct ConversionReport {
  std::vector<convert::InputReport> inputs;
  symbolize::SymbolizeReport symbols;
  convert::FilterReport filter;
  std::vector<std::string> left_out_events;  // with samples, but not of the one that is written
  convert::Losses losses;                    // what the output cannot hold
  std::string empty_because;                 // why nothing was written; empty where something was
};

// Whether the output has one number a stack, and so samples of one event.
bool HoldsOneValue(const Plan& plan);

// "12 inputs: 4950 samples; 80123 frames".
std::string InputsLine(const ConversionReport& report);

// "cycles: kept 40 of 100 samples; 60 dropped by --comm"; none of events of which all was kept.
std::vector<std::string> FilterLines(const convert::FilterReport& report);

// Why there is nothing to write, in words.
std::string WhyEmpty(const Plan& plan, const ConversionReport& report);

// That no event is called so, and which there are.
std::string NoEventLine(const std::set<std::string>& events);

// "320 samples in 462 records; left out, because perf 6.1 does not know them: 5
// CALLCHAIN_DEFERRED". `reader` is null where nobody was named.
std::string RewrittenLine(const rewrite::NormalizeReport& report,
                          const rewrite::ReaderLimits* reader);

// What of a perf.data could not be kept that was meant to be, a line each.
std::vector<std::string> LossLines(const rewrite::NormalizeReport& report);

// Each feature that was made or left out without loss, a line each.
std::vector<std::string> FeatureLines(const rewrite::NormalizeReport& report);

// The events of `profile` that have samples and are not `taken`: "cycles (99 samples)",
// "alloc_space" where they are plain values.
std::vector<std::string> EventsBeside(const convert::Profile& profile, convert::EventId taken);

}  // namespace perftape::convert_tool
