// SPDX-License-Identifier: Apache-2.0
// What gives names to places in a mapping. One of the two virtual interfaces of the tree: which
// source of names fits is known only when the mapping is.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/addresses.h"
#include "formats/base/result.h"

namespace perftape::symbolize {

// Why a place has no name.
enum class Miss : std::uint8_t {
  kNone,          // It has one.
  kNoFile,        // Nothing that could tell was found.
  kWrongBuildId,  // What was found is of another build than what was recorded, and was not used.
  kNoSymbol,      // What was found names nothing there.
};

// A function at a place, and the line in its source where that is known. Names are views of what
// the symbolizer has read: they live as long as it does.
struct SourceFrame {
  std::string_view name;              // demangled
  std::string_view system_name = {};  // as the linker knows it; empty where that is no other
  std::string_view filename = {};     // of the source; empty where unknown
  std::uint32_t line = 0;             // 0 where unknown
  std::uint32_t column = 0;           // 0 where unknown
  std::uint32_t start_line = 0;       // where the function begins; 0 where unknown
};

struct Resolved {
  std::vector<SourceFrame> frames = {};  // innermost first; empty where there is a miss
  Miss miss = Miss::kNone;
};

struct Resolution {
  std::vector<Resolved> answers = {};  // in the order of the offsets asked for
  std::string problem = {};  // why places have no name, for people; empty where there is no more to
                             // say than the Miss does
  std::string source = {};   // which file gave the names, for people; empty where none did
  std::vector<std::string> tried = {};  // places that were looked at before it, with what was wrong
};

// All of `count` places missed, for one reason.
Resolution MissAll(std::size_t count, Miss miss, std::string problem);

class Symbolizer {
 public:
  Symbolizer() = default;
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  virtual ~Symbolizer() = default;

  // Resolves many offsets of one mapping. An Error means that nothing could be tried; a missing
  // name is a Miss.
  virtual Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                                     std::span<const FileOffset> offsets) = 0;
};

}  // namespace perftape::symbolize
