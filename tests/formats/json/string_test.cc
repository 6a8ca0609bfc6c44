// SPDX-License-Identifier: Apache-2.0
#include "formats/json/string.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace perftape::json {
namespace {

std::string Quoted(std::string_view text) {
  std::string out;
  AppendString(out, text);
  return out;
}

TEST(AppendString, KeepsPlainText) {
  EXPECT_EQ(Quoted("std::map<int, char>"), "\"std::map<int, char>\"");
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("Grüße 😀"), "\"Grüße 😀\"");
}

TEST(AppendString, EscapesQuotesAndBackslashes) {
  EXPECT_EQ(Quoted(R"(a"b\c)"), R"("a\"b\\c")");
}

TEST(AppendString, EscapesControlAndBidirectionalCharacters) {
  EXPECT_EQ(Quoted("\n\x1b[2J\x7f"), R"("\u000a\u001b[2J\u007f")");
  EXPECT_EQ(Quoted("a\u202e\u2028z"), R"("a\u202e\u2028z")");
  EXPECT_EQ(Quoted(std::string_view("\0", 1)), R"("\u0000")");
}

TEST(AppendString, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(Quoted("a\xff\xc3z"), R"("a\ufffd\ufffdz")");
}

TEST(AppendString, IsReadAsTheSameTextByAParser) {
  for (int c = 0; c < 0x80; ++c) {
    const std::string text = {'x', static_cast<char>(c), 'y'};
    EXPECT_EQ(nlohmann::json::parse(Quoted(text)).get<std::string>(), text) << c;
  }
}

}  // namespace
}  // namespace perftape::json
