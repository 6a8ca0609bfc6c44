// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/symbolize.h"

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "convert/model/profile_builder.h"
#include "convert/model/return_marks.h"

namespace perftape::symbolize {
namespace {

// The locations of one mapping that need names, and their offsets.
struct Batch {
  std::vector<convert::LocationId> locations;
  std::vector<FileOffset> offsets;
};

// Frames of folded stacks have a mapping, but no offset in it.
bool HasOffset(const convert::Location& location) {
  return location.mapping != convert::MappingId{} && location.offset.value != 0;
}

std::vector<Batch> CollectNameless(const convert::Profile& profile, OldNames old_names,
                                   SymbolizeReport& report) {
  std::vector<Batch> batches(profile.mappings().size());
  for (std::uint32_t i = 0; i < profile.locations().size(); ++i) {
    const convert::Location& location = profile.locations()[i];
    if (!location.lines.empty() && !(old_names == OldNames::kReplace && HasOffset(location))) {
      ++report.kept;
    } else if (location.mapping == convert::MappingId{}) {
      ++report.unmapped;
    } else {
      Batch& batch = batches[location.mapping.index];
      batch.locations.push_back({i});
      batch.offsets.push_back(location.offset);
    }
  }
  return batches;
}

void SetNames(convert::ProfileBuilder& builder, convert::LocationId location,
              const Resolved& resolved) {
  std::vector<convert::Line> lines;
  for (const SourceFrame& frame : resolved.frames) {
    const convert::FunctionId function =
        builder.Add(convert::Function{.name = builder.Add(frame.name),
                                      .system_name = builder.Add(frame.system_name),
                                      .filename = builder.Add(frame.filename),
                                      .start_line = frame.start_line});
    lines.push_back({.function = function, .column = frame.column, .number = frame.line});
  }
  builder.SetLines(location, lines, resolved.symbol_offset);
}

// For each location, whether its address is a return address in all stacks.
std::vector<bool> AreReturnAddresses(const convert::Profile& profile) {
  enum : char { kUnseen, kReturns, kExecuted };
  std::vector<char> seen(profile.locations().size(), kUnseen);
  for (std::uint32_t i = 1; i < profile.stacks().size(); ++i) {
    const convert::StackId caller = profile.stacks()[i].caller;
    if (caller == convert::StackId{}) continue;
    char& location = seen[profile[caller].leaf.index];
    const bool is_return = profile.CallerAddress({i}) == convert::AddressKind::kReturn;
    location = is_return && location != kExecuted ? kReturns : kExecuted;
  }
  for (const convert::Sample& sample : profile.samples()) {
    if (sample.stack != convert::StackId{}) seen[profile[sample.stack].leaf.index] = kExecuted;
  }
  std::vector<bool> returns;
  returns.reserve(seen.size());
  for (const char location : seen) returns.push_back(location == kReturns);
  return returns;
}

// Names the marks in the place of return addresses (convert/model/return_marks.h). No call is
// before them, so the address minus one is the last byte of the function before, or in none.
class ReturnMarks {
 public:
  ReturnMarks(const convert::Profile& profile, Symbolizer& symbolizer)
      : profile_(profile), symbolizer_(symbolizer) {}

  void NameIn(convert::MappingId mapping, const Batch& batch, Resolution& resolution) {
    if (resolution.source.empty() || profile_[mapping].type != convert::MappingType::kUser) return;
    std::vector<std::size_t> candidates;
    std::vector<FileOffset> next;
    for (std::size_t i = 0; i < batch.locations.size(); ++i) {
      const Resolved& resolved = resolution.answers[i];
      if (!resolved.is_last_byte && resolved.miss != Miss::kNoSymbol) continue;
      if (returns_.empty()) returns_ = AreReturnAddresses(profile_);
      if (!returns_[batch.locations[i].index]) continue;
      candidates.push_back(i);
      next.push_back({batch.offsets[i].value + 1});
    }
    if (candidates.empty()) return;
    Result<Resolution> asked = symbolizer_.Resolve(profile_, mapping, next);
    if (!asked) return;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const Resolved& mark = asked->answers[i];
      if (mark.frames.empty() || mark.symbol_offset.value_or(0) != 0) continue;
      const SourceFrame& function = mark.frames.back();
      if (!convert::IsReturnMark(function.name)) continue;
      resolution.answers[candidates[i]] = {
          .frames = {{.name = function.name, .system_name = function.system_name}}};
    }
  }

 private:
  const convert::Profile& profile_;
  Symbolizer& symbolizer_;
  std::vector<bool> returns_;  // by location; filled for the first candidate
};

}  // namespace

Resolution MissAll(std::size_t count, Miss miss, std::string problem) {
  return {.answers = std::vector<Resolved>(count, Resolved{.miss = miss}),
          .problem = std::move(problem)};
}

std::string MovedKernelWarning(std::size_t outside, std::size_t all, std::string_view table) {
  if (outside == 0 || 2 * outside < all) return {};
  return fmt::format(
      "{} of {} kernel addresses are outside the code in {}: the kernel was loaded at another "
      "address (KASLR) than this table has, so the names may be wrong: use --kallsyms with the "
      "/proc/kallsyms of that boot",
      outside, all, table);
}

std::uint64_t SymbolizeReport::count(Miss miss) const {
  std::uint64_t sum = 0;
  for (const MappingSymbols& mapping : mappings) sum += mapping.count(miss);
  return sum;
}

convert::Profile Symbolize(const convert::Profile& profile, Symbolizer& symbolizer,
                           SymbolizeReport& report, OldNames old_names) {
  convert::ProfileBuilder builder(profile);
  const std::vector<Batch> batches = CollectNameless(profile, old_names, report);
  ReturnMarks marks(profile, symbolizer);
  for (std::uint32_t i = 1; i < batches.size(); ++i) {
    const Batch& batch = batches[i];
    if (batch.locations.empty()) continue;
    const convert::MappingId id{i};
    Result<Resolution> asked = symbolizer.Resolve(profile, id, batch.offsets);
    Resolution resolution =
        asked ? *std::move(asked)
              : MissAll(batch.offsets.size(), Miss::kNoFile, std::move(asked).error().message);
    marks.NameIn(id, batch, resolution);

    MappingSymbols symbols = {.filename = std::string(profile.text(profile[id].filename)),
                              .build_id = std::string(profile.text(profile[id].build_id)),
                              .problem = resolution.problem,
                              .source = resolution.source,
                              .tried = resolution.tried};
    for (std::size_t at = 0; at < batch.locations.size(); ++at) {
      const Resolved& resolved = resolution.answers[at];
      ++symbols.counts[static_cast<std::size_t>(resolved.miss)];
      if (!resolved.frames.empty()) SetNames(builder, batch.locations[at], resolved);
    }
    if (!resolution.warning.empty()) report.problems.push_back(resolution.warning);
    report.mappings.push_back(std::move(symbols));
  }
  return std::move(builder).Finish();
}

}  // namespace perftape::symbolize
