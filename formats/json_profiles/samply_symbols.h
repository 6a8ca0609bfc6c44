// SPDX-License-Identifier: Apache-2.0
// The names that `samply record --unstable-presymbolicate` writes beside a profile: of
// profile.json.gz in profile.json.syms.json. The profile itself has only addresses.
//
//   {"string_table":["main","/src/a.c"],
//    "data":[{"debug_name":"app","debug_id":"1f5d11aa-61bd-e37c-3548-b0d00db9e5eb",
//      "symbol_table":[{"rva":4441,"size":5,"symbol":0,
//                       "frames":[{"function":0,"file":1,"line":5}]}],
//      "known_addresses":[[4443,0]]}]}
//
// An address is relative to where the image begins. known_addresses has those of the profile, with
// their index in symbol_table. Frames are the inlined functions, innermost first. Names lack their
// first underscore: samply removes it, as from those of macOS.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::json_profiles {

// Returns the path of the names of a profile: "a.json.syms.json" for "a.json.gz", and
// "a.syms.json" for "a.json".
inline std::filesystem::path SamplySymbolsPath(std::filesystem::path profile) {
  return profile.replace_extension("syms.json");
}

struct SamplyFrame {
  std::string_view function, file;  // views of SamplySymbols; empty if unknown
  std::uint32_t line = 0;           // 0 if unknown
};

class SamplySymbols {
 public:
  // Returns the errors of json::Walk.
  static Result<SamplySymbols> Parse(std::string_view text);

  // Returns the functions at an address of the binary with this id of breakpad, as the profile has
  // it ("1F5D11AA61BDE37C3548B0D00DB9E5EB0"), innermost first. Empty if they are not known.
  std::vector<SamplyFrame> Find(std::string_view breakpad_id, std::int64_t address) const;

 private:
  friend class SamplyVisitor;
  struct Frame {
    std::int64_t function = -1, file = -1, line = 0;
  };
  struct Symbol {
    std::int64_t name = -1;
    std::vector<Frame> frames = {};
  };
  struct Binary {
    std::vector<Symbol> symbols = {};
    std::map<std::int64_t, std::int64_t> known_addresses = {};  // to an index of a symbol
  };

  std::string_view TextOf(std::int64_t index) const;

  std::vector<std::string> strings_;
  std::map<std::string, Binary, std::less<>> binaries_;  // by the 32 digits of the id
};

}  // namespace perftape::json_profiles
