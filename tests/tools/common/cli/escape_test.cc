// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/escape.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace perftape::cli {
namespace {

TEST(EscapeForTerminal, LeavesOrdinaryNamesAlone) {
  EXPECT_EQ(EscapeForTerminal("rs:main Q:Reg"), "rs:main Q:Reg");
  EXPECT_EQ(EscapeForTerminal("C:\\perf"), "C:\\perf");
  EXPECT_EQ(EscapeForTerminal(""), "");
}

TEST(EscapeForTerminal, KeepsLettersOfAnyScript) {
  EXPECT_EQ(EscapeForTerminal("größe-файл-文件-🔥"), "größe-файл-文件-🔥");
}

TEST(EscapeForTerminal, EscapesEscapeSequences) {
  EXPECT_EQ(EscapeForTerminal("\x1b]0;owned\x07"), "\\x1b]0;owned\\x07");
  EXPECT_EQ(EscapeForTerminal("\x7f"), "\\x7f");
}

TEST(EscapeForTerminal, WritesC1ControlsAsTheirBytes) {
  // U+009B is CSI, which terminals treat like ESC [.
  EXPECT_EQ(EscapeForTerminal("\xc2\x9b"
                              "2J"),
            "\\xc2\\x9b2J");
}

TEST(EscapeForTerminal, KeepsLinesAndColumnsWhole) {
  EXPECT_EQ(EscapeForTerminal("a\tb\nc\rd"), "a\\tb\\nc\\rd");
  EXPECT_EQ(EscapeForTerminal("a\u2028b"), "a\\u2028b");
}

TEST(EscapeForTerminal, EscapesBidiCharacters) {
  EXPECT_EQ(EscapeForTerminal("gpj\u202eexe"), "gpj\\u202eexe");
}

TEST(EscapeForTerminal, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(EscapeForTerminal("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(EscapeForTerminal("\xff\xfe"), "\\xff\\xfe");
}

TEST(EscapeForTerminal, EscapesOverlongFormsAndSurrogates) {
  EXPECT_EQ(EscapeForTerminal("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(EscapeForTerminal("\xe0\x80\x9b"), "\\xe0\\x80\\x9b");
  EXPECT_EQ(EscapeForTerminal("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(EscapeForTerminal("\xf7\xbf\xbf\xbf"), "\\xf7\\xbf\\xbf\\xbf");
}

TEST(EscapeForTerminal, SurvivesACharacterThatIsCutOff) {
  EXPECT_EQ(EscapeForTerminal("x\xe2\x82"), "x\\xe2\\x82");
}

TEST(JsonText, HasNothingThatATerminalObeysAndReadsBackTheSame) {
  const std::string name = "a\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xc3\xa9\n\t";
  const nlohmann::ordered_json json = {{name, name}};
  for (const JsonLayout layout : {JsonLayout::kOneLine, JsonLayout::kIndented}) {
    const std::string text = JsonText(json, layout);
    EXPECT_EQ(text.find_first_of("\x1b\x7f\x9b\x80"), std::string::npos) << text;
    EXPECT_NE(text.find("\\u202e\\u2028\xc3\xa9"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("}\n"));
    EXPECT_EQ(nlohmann::ordered_json::parse(text), json);
  }
}

TEST(JsonText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(JsonText(nlohmann::ordered_json("a\xff\x9b"), JsonLayout::kOneLine),
            "\"a\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

}  // namespace
}  // namespace perftape::cli
