// SPDX-License-Identifier: Apache-2.0
#include "convert/choose_samples.h"

#include <utility>

#include "convert/import/from_perfdata.h"
#include "convert/recording_binaries.h"

namespace perftape::convert {

Result<ChosenSamples> ChooseSamples(Input& input, const FilterOptions& filter,
                                    const CombineOptions& options) {
  if (filter.cuts_frames()) {
    return Fail(
        ErrorCode::kUnsupported,
        "filters that remove frames cannot be applied from perf.data to perf.data: convert to "
        "pprof first");
  }
  ChosenSamples chosen;
  RecordedSamples samples;
  RecordingBinaries binaries(input, options.symbols);
  ImportOptions import = options.import;
  import.find_binary = binaries.Finder();
  import.index_cache = options.symbols.index_cache;
  Result<Profile> read = ReadPerfDataByRecord(input, import, chosen.read, samples);
  if (!read) return Fail(InContext(input.name(), std::move(read).error()));
  Profile profile = *std::move(read);
  if (options.look_up_names && filter.needs_names()) {
    symbolize::SymbolizeReport unused;
    TRY_ASSIGN(profile, symbolize::SymbolizeFrom(profile, options.symbols,
                                                 symbolize::ProfileOrigin(input), unused));
  }

  const FilterJudge judge(profile, filter);
  std::vector<bool> passes;
  for (const Sample& sample : samples.distinct) passes.push_back(!judge.Of(sample));
  for (const std::uint32_t index : samples.of_records) {
    chosen.kept.push_back(index != RecordedSamples::kNone && passes[index]);
  }
  ApplyFilter(profile, filter, chosen.filter);
  return chosen;
}

}  // namespace perftape::convert
