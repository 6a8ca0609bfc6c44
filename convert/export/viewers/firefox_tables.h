// SPDX-License-Identifier: Apache-2.0
// The tables of a Firefox profile that all its threads share: strings, libraries, functions, frames
// and stacks. They are numbered by the ranks of a profile's entries, so equal profiles have equal
// tables.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/rank.h"
#include "convert/export/viewers/text_output.h"
#include "convert/model/profile.h"

namespace perftape::viewers {

// Returns Breakpad's id for the debug information of an ELF file: the first 16 bytes of the build
// id as a little-endian GUID in upper-case hex, and "0" for its age. Zeros replace missing digits.
// Empty if the build id is empty or not hex.
std::string BreakpadIdOf(std::string_view build_id);

// A library, as samply writes it for an ELF file.
struct FirefoxLib {
  std::string_view path, build_id;
  std::string_view arch;  // "x86_64"; empty if unknown
};

// Appends the JSON object of a library.
void AppendFirefoxLib(std::string& out, const FirefoxLib& lib);

// The indexes of meta.categories.
enum class FirefoxCategory : std::uint8_t { kOther = 0, kUser = 1, kKernel = 2 };

class FirefoxTables {
 public:
  // `is_used` says for each StackId whether samples have it. The other arguments must outlive this
  // object.
  FirefoxTables(const convert::Profile& profile, const convert::Ranks& ranks,
                const std::vector<bool>& is_used, convert::FrameTexts& texts);

  // Returns the index of a used stack in stackTable.
  std::uint32_t StackOf(convert::StackId stack) const { return nodes_[stack.index]; }

  // Writes the value of "libs".
  Status WriteLibs(TextOutput& out) const;
  // Writes the value of "shared". Its strings are those that `texts` has now.
  Status WriteShared(TextOutput& out) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Lib {
    std::string_view path, build_id;
  };
  struct Function {
    convert::TextId name = 0;
    std::uint32_t lib = kNone;
    std::uint32_t source = kNone;  // in sources_
    std::int64_t line = 0;         // 0 if unknown
  };
  struct NativeSymbol {
    convert::TextId name = 0;
    std::uint32_t lib = kNone;
    std::uint64_t address = 0;
  };
  // A function at an address: one that was inlined has the depth 1 or more.
  struct Frame {
    std::uint64_t address = kNoAddress;
    std::uint32_t function = 0, native_symbol = kNone, depth = 0, column = 0;
    std::int64_t line = 0;
    FirefoxCategory category = {};
  };
  static constexpr std::uint64_t kNoAddress = UINT64_MAX;
  struct Node {
    std::uint32_t frame = 0, prefix = kNone;
  };

  std::vector<bool> UsedLocations(std::vector<bool>& stacks) const;
  void AddLibs();
  void AddLocation(convert::LocationId id);
  void AddFrame(const convert::Location& location, Frame frame, convert::TextId name,
                const convert::Line* line);
  void AddStacks(const std::vector<bool>& stacks);
  std::uint64_t AddressOf(const convert::Location& location) const;
  FirefoxCategory CategoryOf(const convert::Location& location, convert::TextId name) const;
  std::uint32_t FunctionOf(const Function& function);
  std::uint32_t NativeSymbolOf(const NativeSymbol& symbol);
  std::uint32_t SourceOf(std::string_view filename);

  Status WriteStacks(TextOutput& out) const;
  Status WriteFrames(TextOutput& out) const;
  Status WriteFunctions(TextOutput& out) const;
  Status WriteResources(TextOutput& out) const;
  Status WriteNativeSymbols(TextOutput& out) const;
  Status WriteSources(TextOutput& out) const;
  Status WriteStrings(TextOutput& out) const;

  const convert::Profile& profile_;
  const convert::Ranks& ranks_;
  convert::FrameTexts& texts_;
  std::vector<Lib> libs_;
  std::vector<convert::TextId> lib_names_;
  std::vector<std::uint32_t> of_mappings_;  // libs, by MappingId
  std::vector<Function> functions_;
  std::map<std::tuple<convert::TextId, std::uint32_t, std::uint32_t>, std::uint32_t> function_ids_;
  std::vector<NativeSymbol> native_symbols_;
  std::map<std::pair<convert::TextId, std::uint32_t>, std::uint32_t> native_symbol_ids_;
  std::vector<convert::TextId> sources_;
  std::map<convert::TextId, std::uint32_t> source_ids_;
  std::vector<Frame> frames_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> of_locations_;  // frames, by LocationId
  std::vector<Node> stacks_;
  std::vector<std::uint32_t> nodes_;  // the last one of each StackId
};

}  // namespace perftape::viewers
