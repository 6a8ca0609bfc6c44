// SPDX-License-Identifier: Apache-2.0
// Resolves offsets in a mapping to names. One of the two virtual interfaces of the tree: which
// source of names fits depends on the mapping.
#pragma once

#include <cstdint>
#include <optional>
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
  kNone,          // it has a name
  kNoFile,        // no source was found
  kWrongBuildId,  // the source is from a different build than the recorded one, and was not used
  kNoSymbol,      // the source has no symbol at the offset
};

// A function at an offset, and the source line if it is known. Names are views of data that the
// symbolizer owns, and are valid as long as it is.
struct SourceFrame {
  std::string_view name;              // demangled
  std::string_view system_name = {};  // the linker's name; empty if it is the same
  std::string_view filename = {};     // of the source; empty if unknown
  std::uint32_t line = 0;             // 0 if unknown
  std::uint32_t column = 0;           // 0 if unknown
  std::uint32_t start_line = 0;       // first line of the function; 0 if unknown
};

struct Resolved {
  std::vector<SourceFrame> frames = {};  // innermost first; empty for a miss
  Miss miss = Miss::kNone;
  // From the start of the symbol that names the last frame; nothing if no symbol names it.
  std::optional<std::uint64_t> symbol_offset = {};
  bool is_last_byte = false;  // of the function; another one begins or may begin after it
};

struct Resolution {
  std::vector<Resolved> answers = {};  // in the order of the offsets
  std::string problem = {};            // why offsets have no name; empty if the Miss explains it
  std::string source = {};  // the file that gave the names, for messages; empty if none did
  std::vector<std::string> tried = {};  // sources tried before it, and why each failed
  std::string warning = {};             // why the names may be wrong; empty if nothing suggests it
};

// Returns the warning for a mapping of the kernel, `outside` of whose `all` offsets are outside the
// code in the table; empty if most of them are in it.
std::string MovedKernelWarning(std::size_t outside, std::size_t all, std::string_view table);

// Returns `count` misses, all for the same reason.
Resolution MissAll(std::size_t count, Miss miss, std::string problem);

class Symbolizer {
 public:
  Symbolizer() = default;
  Symbolizer(const Symbolizer&) = delete;
  Symbolizer& operator=(const Symbolizer&) = delete;
  virtual ~Symbolizer() = default;

  // Resolves many offsets of one mapping. An Error means that nothing could be tried. A missing
  // name is a Miss, not an Error.
  virtual Result<Resolution> Resolve(const convert::Profile& profile, convert::MappingId mapping,
                                     std::span<const FileOffset> offsets) = 0;
};

}  // namespace perftape::symbolize
