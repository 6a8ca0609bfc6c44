// SPDX-License-Identifier: Apache-2.0
// What changes when a perf.data is written again: the samples that a filter keeps, and the
// callchains that replace copies of registers and stacks.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "convert/combine.h"
#include "convert/filter/filter.h"
#include "convert/import/from_perfdata.h"
#include "convert/import/import_report.h"
#include "convert/rewrite/normalize.h"
#include "convert/unwind/unwind_report.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Reads a whole perf.data, record by record, and adds names if options.look_up_names is set. The
// input can be read again afterwards. Fails as ReadPerfData and SymbolizeFrom do.
Result<Profile> ReadNamedByRecord(Input& input, const CombineOptions& options, ImportReport& report,
                                  RecordedSamples& samples);

// The samples of a recording that a filter keeps. They are used to write a perf.data with only
// these samples, but with all other records and all times.
struct ChosenSamples {
  std::vector<bool> kept;  // one for each SAMPLE record, in file order
  ImportReport read;
  FilterReport filter;
};

// Reads a whole perf.data, which can be read again afterwards. Fails with kUnsupported for a filter
// that cuts frames, since a recording keeps its stacks. Otherwise fails as ReadPerfData does, and
// as SymbolizeFrom if the filter needs names.
Result<ChosenSamples> ChooseSamples(Input& input, const FilterOptions& filter,
                                    const CombineOptions& options);

// The callchains that replace the copies of registers and stacks in a recording, for a perf.data
// that is written again.
class UnwoundChains {
 public:
  // Reads a recording once for its mappings. It can be read again afterwards, and must outlive this
  // object. Fails as Reader::Open does.
  static Result<UnwoundChains> Open(Input& input, const CombineOptions& options);

  UnwoundChains(UnwoundChains&&) noexcept;
  UnwoundChains& operator=(UnwoundChains&&) noexcept;
  ~UnwoundChains();

  // Returns the callchain of the next SAMPLE record, in file order, if it has copies. Valid until
  // the next call.
  rewrite::NewChain Next();

  // Returns the counts so far.
  offline_unwind::UnwindReport Report() const;

 private:
  struct State;
  explicit UnwoundChains(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert
