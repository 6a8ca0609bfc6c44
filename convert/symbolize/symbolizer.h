// SPDX-License-Identifier: Apache-2.0
// Gives names to offsets in a mapping. One of the two virtual interfaces of the tree: which
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

// Why an offset has no name.
enum class Miss : std::uint8_t {
  kNone,          // it has one
  kNoFile,        // no source was found
  kWrongBuildId,  // the source is of another build than the recorded one, and was not used
  kNoSymbol,      // the source has no symbol there
};

// A function at an offset, and the source line if it is known. Names are views of what
// the symbolizer has read: they live as long as it does.
struct SourceFrame {
  std::string_view name;              // demangled
  std::string_view system_name = {};  // the linker's name; empty if it is the same
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
  std::string problem = {};  // why offsets have no name, for people; empty if there is no more to
                             // say than the Miss does
  std::string source = {};   // which file gave the names, for people; empty where none did
  std::vector<std::string> tried = {};  // sources tried before it, and why each failed
};

// `count` misses, all for one reason.
Resolution MissAll(std::size_t count, Miss miss, std::string problem);

class Symbolizer {
 public:
  Symbolizer() = default;
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  virtual ~Symbolizer() = default;

  // Resolves many offsets of one mapping. An Error means that nothing could be tried. A missing
  // name is no Error but a Miss.
  virtual Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                                     std::span<const FileOffset> offsets) = 0;
};

}  // namespace perftape::symbolize
