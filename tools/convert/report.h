// SPDX-License-Identifier: Apache-2.0
// What a conversion found and what it could not keep, for a person.
#pragma once

#include <string>
#include <vector>

#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/rewrite/normalize.h"
#include "convert/symbolize/symbolize.h"

namespace perftape::convert_tool {

// "4950 samples, 12 lost while recording; 80123 frames, 40 of them in no mapping".
std::string ReadLine(const ImportReport& report);

// Samples or records that were there but could not be read, and other problems; a line each, none
// for a sound input.
std::vector<std::string> DamageLines(const ImportReport& report);

// "symbols: 1234 places named; 56 without a name: 12 no file, 3 of another build, 41 no symbol".
std::string SymbolLine(const SymbolizeReport& report);

// The same for each mapping, with the reason where one is known.
std::vector<std::string> MappingLines(const SymbolizeReport& report);

// "320 samples in 462 records; left out, as perf 6.1 does not know them: 5 CALLCHAIN_DEFERRED".
// `reader` is null where nobody was named.
std::string RewrittenLine(const rewrite::NormalizeReport& report,
                          const rewrite::ReaderLimits* reader);

// What of a perf.data could not be kept that was meant to be, a line each.
std::vector<std::string> LossLines(const rewrite::NormalizeReport& report);

// What became of each feature that was not just kept, a line each.
std::vector<std::string> FeatureLines(const rewrite::NormalizeReport& report);

// The events of `profile` that have samples and are not `taken`: "cycles (99 samples)".
std::vector<std::string> EventsBeside(const Profile& profile, EventId taken);

}  // namespace perftape::convert_tool
