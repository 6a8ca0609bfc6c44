// SPDX-License-Identifier: Apache-2.0
// Makes a profile of one mapping, for the tests of symbolizers.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile_builder.h"
#include "convert/symbolize/symbolizer.h"

namespace perftape::symbolize {

struct OneMapping {
  std::string filename;
  std::string build_id = {};
  std::uint64_t start = 0, limit = ~std::uint64_t{0}, file_offset = 0;
  convert::MappingType type = convert::MappingType::kUser;
  std::vector<std::uint32_t> pids = {1};  // each has a sample at each offset
  std::vector<std::uint64_t> offsets = {};
};

// Returns the profile. Its mapping has the id 1; its locations are in the order of the offsets.
inline convert::Profile ProfileOf(const OneMapping& one) {
  convert::ProfileBuilder builder;
  const convert::MappingId mapping =
      builder.Add(convert::Mapping{.filename = builder.Add(one.filename),
                                   .build_id = builder.Add(one.build_id),
                                   .start = one.start,
                                   .limit = one.limit,
                                   .file_offset = one.file_offset,
                                   .type = one.type});
  const convert::EventId event =
      builder.Add(convert::Event{.name = builder.Add("cycles"), .unit = {}});
  for (const std::uint64_t offset : one.offsets) {
    const convert::LocationId location =
        builder.Add(convert::Location{.mapping = mapping, .offset = {offset}});
    for (const std::uint32_t pid : one.pids) {
      builder.Add(convert::Sample{
          .stack = builder.Push({}, location),
          .thread = builder.Add(convert::Thread{.pid = pid, .tid = pid, .comm = {}}),
          .event = event,
          .count = 1});
    }
  }
  return std::move(builder).Finish();
}

// Returns the answer of `symbolizer` for one offset of the mapping: a name, "(no file)", "(wrong
// build id)", "(no symbol)", or an Error's message.
inline std::string NameAt(Symbolizer& symbolizer, const convert::Profile& profile,
                          std::uint64_t offset) {
  static constexpr std::string_view kMisses[] = {"", "(no file)", "(wrong build id)",
                                                 "(no symbol)"};
  const FileOffset offsets[] = {{offset}};
  const auto resolution = symbolizer.Resolve(profile, convert::MappingId{1}, offsets);
  if (!resolution) return resolution.error().message;
  const Resolved& resolved = resolution->answers.at(0);
  if (resolved.miss != Miss::kNone) {
    return std::string(kMisses[static_cast<std::size_t>(resolved.miss)]);
  }
  return std::string(resolved.frames.at(0).name);
}

// The same with the offset in the symbol: "main+0x1f".
inline std::string NameWithOffsetAt(Symbolizer& symbolizer, const convert::Profile& profile,
                                    std::uint64_t offset) {
  const FileOffset offsets[] = {{offset}};
  const auto resolution = symbolizer.Resolve(profile, convert::MappingId{1}, offsets);
  const auto in_symbol = resolution->answers.at(0).symbol_offset;
  const std::string name = NameAt(symbolizer, profile, offset);
  return in_symbol ? fmt::format("{}+0x{:x}", name, *in_symbol) : name;
}

}  // namespace perftape::symbolize
