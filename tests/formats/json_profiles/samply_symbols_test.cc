// SPDX-License-Identifier: Apache-2.0
#include "formats/json_profiles/samply_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/matchers.h"

namespace perftape::json_profiles {
namespace {

using testing::HasSubstr;

constexpr std::string_view kSamplyText =
    R"({"string_table":["work","main","/src/a.c","inlined"],)"
    R"("data":[{"debug_name":"app","debug_id":"1f5d11aa-61bd-e37c-3548-b0d00db9e5eb",)"
    R"("code_id":null,"symbol_table":[{"rva":16,"size":8,"symbol":0},)"
    R"({"rva":32,"size":8,"symbol":1,"frames":[{"function":3,"file":2,"line":7},)"
    R"({"function":1,"file":2,"line":5}]},{"rva":48,"size":1,"symbol":99}],)"
    R"("known_addresses":[[18,0],[33,1],[48,2],[50,-1],[51,3],[1]]}]})";
constexpr std::string_view kBreakpadId = "1F5D11AA61BDE37C3548B0D00DB9E5EB0";

std::string NamesAt(const SamplySymbols& symbols, std::string_view id, std::int64_t address) {
  std::string names;
  for (const SamplyFrame& frame : symbols.Find(id, address)) {
    names += std::string(frame.function) + "@" + std::string(frame.file) + ":" +
             std::to_string(frame.line) + " ";
  }
  return names;
}

TEST(SamplySymbols, NameKnownAddresses) {
  const auto symbols = SamplySymbols::Parse(kSamplyText);
  ASSERT_THAT(symbols, IsOk());
  EXPECT_EQ(NamesAt(*symbols, kBreakpadId, 18), "work@:0 ");
  EXPECT_EQ(NamesAt(*symbols, kBreakpadId, 33), "inlined@/src/a.c:7 main@/src/a.c:5 ");
}

TEST(SamplySymbols, NameNothingElse) {
  const auto symbols = SamplySymbols::Parse(kSamplyText);
  ASSERT_THAT(symbols, IsOk());
  for (const std::int64_t address : {0, 1, 17, 48, 50, 51, -1}) {
    EXPECT_EQ(NamesAt(*symbols, kBreakpadId, address), "") << address;
  }
  EXPECT_EQ(NamesAt(*symbols, "2F5D11AA61BDE37C3548B0D00DB9E5EB0", 18), "");
  EXPECT_EQ(NamesAt(*symbols, "", 18), "");
}

TEST(SamplySymbols, OfADamagedTextAreAnError) {
  EXPECT_THAT(SamplySymbols::Parse(kSamplyText.substr(0, 100)), FailsWith(ErrorCode::kCorrupt));
}

}  // namespace
}  // namespace perftape::json_profiles
