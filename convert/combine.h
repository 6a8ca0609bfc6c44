// SPDX-License-Identifier: Apache-2.0
// Reads inputs of any formats into one profile, and adds names.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/export/to_folded.h"
#include "convert/filter/name_patterns.h"
#include "convert/formats.h"
#include "convert/model/merge.h"
#include "convert/model/profile.h"
#include "convert/symbolize/symbol_sources.h"

namespace perftape::convert {

// What happens to the frames that an input asks viewers to leave out (dropped_frames.h).
enum class DroppedFrames : std::uint8_t {
  kKept,     // with the hint, for outputs that have it
  kRemoved,  // with the hint
};

struct CombineOptions {
  const Format* from = nullptr;  // null: detected from the first bytes of each input
  ImportOptions import = {};
  bool look_up_names = true;  // for recordings; for other inputs only if `symbols` names sources
  symbolize::SymbolOptions symbols = {};
  // For an output that holds one number per stack: from each input, only the samples of one event
  // are kept. The event is the first one that matches `events`, or the input's default event. If
  // the inputs have different events, all become one event of plain values, so that they can be
  // added up. `value` selects the numbers. If it is not set, they are numbers of samples, or
  // periods if all events measure time and at least one would have periods by itself (ChooseValue).
  // If some events have plain values, each event has the number that it would have by itself
  // (ChooseValue).
  bool one_value = false;
  std::optional<FoldedValue> value = {};
  Globs events = {};
  DroppedFrames dropped_frames = DroppedFrames::kKept;
};

// What was read from one input.
struct InputReport {
  std::string name;
  std::string_view format;
  ImportReport read;
  // With one_value: the chosen event (empty if none), and the other events that have samples.
  std::string event = {};
  std::vector<std::string> other_events = {};
};

class Combiner {
 public:
  explicit Combiner(const CombineOptions& options) : options_(options) {}

  // Reads an input, adds its samples, and closes it, perhaps on another thread. Fails with
  // kUnsupported if the format is unknown, and as the format's reader does. After a failure, the
  // inputs added before are kept.
  Status Add(Input input);

  // Looks up names, once for all inputs, and returns the profile.
  Result<Profile> Finish() &&;

  const std::vector<InputReport>& inputs() const { return inputs_; }
  const symbolize::SymbolizeReport& symbols() const { return symbols_; }

 private:
  Status AddOpen(Input& input);
  void CloseInBackground(Input input);
  Profile KeepOneEvent(const Profile& read, InputReport& report) const;
  Status ReadKernelAhead(Input& input, std::optional<symbolize::ProfileOrigin>& origin);
  void ReadNamesAhead();
  Result<JitDumpBytes> FindDump(Input& input, std::optional<symbolize::ProfileOrigin>& origin,
                                const std::string& path, std::uint32_t pid);
  Result<const elf::ElfFile*> FindBinary(Input& input,
                                         std::optional<symbolize::ProfileOrigin>& origin,
                                         symbolize::SymbolSources::BinaryFinder& find,
                                         const std::string& path, const BuildId& build_id);
  // Opens the sources at the first call.
  Result<symbolize::SymbolSources*> Sources();

  CombineOptions options_;
  std::vector<InputReport> inputs_;
  symbolize::SymbolizeReport symbols_;
  std::optional<symbolize::SymbolSources> sources_;
  // Recordings without names of their own, by the machine that recorded them.
  std::map<symbolize::ProfileOrigin::Machine, Merger> nameless_;
  Merger named_;
  std::future<void> closing_;
};

// Returns `given` if it is not null, otherwise the format detected from the input's first bytes.
// Fails with kUnsupported if no format matches.
Result<const Format*> FormatOf(const Input& input, const Format* given);

}  // namespace perftape::convert
