// SPDX-License-Identifier: Apache-2.0
// Inputs of whatever formats, read into one profile with names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/filter/glob.h"
#include "convert/formats.h"
#include "convert/model/merge.h"
#include "convert/model/profile.h"
#include "convert/symbolize/symbol_sources.h"

namespace perftape::convert {

struct CombineOptions {
  const Format* from = nullptr;  // null: found out from the first bytes of each input
  ImportOptions import = {};
  bool look_up_names = true;  // of recordings; of other inputs if `symbols` names sources
  symbolize::SymbolOptions symbols = {};
  // For an output that holds one number a stack: of each input the samples of one event become
  // plain values, this kind of theirs, so that inputs of different events add up. The event is the
  // first that `events` lets pass, or the input's default one.
  std::optional<FoldedValue> one_value = {};
  Globs events = {};
};

// What was read of one input.
struct InputReport {
  std::string name;
  std::string_view format;
  ImportReport read;
  // Where one_value is asked for: the event that was taken (empty: none), and those with samples
  // that were not.
  std::string event = {};
  std::vector<std::string> other_events = {};
};

class Combiner {
 public:
  explicit Combiner(const CombineOptions& options) : options_(options) {}

  // kUnsupported where the input is of no format that is read; else as its reader. What was read
  // before stays.
  Status Add(Input& input);

  // Names are looked up here, once for all.
  Result<Profile> Finish() &&;

  const std::vector<InputReport>& inputs() const { return inputs_; }
  const symbolize::SymbolizeReport& symbols() const { return symbols_; }

 private:
  Result<Profile> KeepOneValue(const Profile& profile, InputReport& report) const;
  Result<JitDumpBytes> FindDump(Input& input, std::optional<symbolize::Recording>& recording,
                                const std::string& path, std::uint32_t pid);
  // Opens them when they are first asked for.
  Result<symbolize::SymbolSources*> Sources();

  CombineOptions options_;
  std::vector<InputReport> inputs_;
  symbolize::SymbolizeReport symbols_;
  std::optional<symbolize::SymbolSources> sources_;
  // Recordings that bring no names along, by where they were made.
  std::map<symbolize::Recording::Machine, Merger> nameless_;
  Merger named_;
};

// The input's format, as told or as its first bytes say. kUnsupported where there is none.
Result<const Format*> FormatOf(const Input& input, const Format* told);

}  // namespace perftape::convert
