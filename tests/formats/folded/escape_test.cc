// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/escape.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "formats/base/unsafe_text.h"

namespace perftape::folded {
namespace {

std::string Frame(std::string_view name) {
  std::string out;
  AppendFrame(out, name);
  return out;
}

std::string Leaf(std::string_view name, CountLike count_like = CountLike::kEscape) {
  std::string out;
  AppendLeaf(out, name, count_like);
  return out;
}

TEST(AppendFrame, KeepsOrdinaryNamesAsTheyAre) {
  for (const char* name :
       {"main", "", "std::map<int, char>::at(int const&) const", "f\xc3\xbcr", "100%", "%", "%25",
        "C:\\x\\n", "GET /a%20b%2Fc", "%3b", " a", "id 7", "operator ", "tab\there"}) {
    EXPECT_EQ(Frame(name), name);
  }
}

TEST(AppendFrame, EscapesWhatWouldEndTheFrameOrTheLine) {
  EXPECT_EQ(Frame("a;b"), "a%3Bb");
  EXPECT_EQ(Frame("a\nb\rc"), "a%0Ab%0Dc");
}

TEST(AppendFrame, EscapesControlCharactersButTheTab) {
  EXPECT_EQ(Frame(std::string_view("a\0b", 3)), "a%00b");
  EXPECT_EQ(Frame("\x1b[2J\x7f\x01\t"), "%1B[2J%7F%01\t");
  EXPECT_EQ(FrameName("%1B%7F%09"), "\x1b\x7f%09");
}

TEST(AppendFrame, EscapesControlsBidiCharactersAndLineBreaks) {
  EXPECT_EQ(Frame("a\xc2\x9b"
                  "2J"),
            "a%u009B2J");
  EXPECT_EQ(Frame("\xe2\x80\xae"
                  "cod.exe"),
            "%u202Ecod.exe");
  EXPECT_EQ(Frame("\xe2\x80\xa8\xe2\x81\xa6\xd8\x9c"), "%u2028%u2066%u061C");
  EXPECT_EQ(FrameName("a%u009B2J%u202E"),
            "a\xc2\x9b"
            "2J\xe2\x80\xae");
}

// A terminal of 8 bits interprets this byte as a control character; it only shows the other bytes.
TEST(AppendFrame, EscapesABrokenByteThatIsAControlByItself) {
  EXPECT_EQ(Frame("a\x9b"
                  "2J\xe9"),
            "a%x9B2J\xe9");
  EXPECT_EQ(FrameName("a%x9B2J"),
            "a\x9b"
            "2J");
}

TEST(FrameName, DoesNotUnescapeUrls) {
  for (const char* text : {"file:///%D1%9B/%C3%9F.js", "%u00e9", "%u0041", "%xE9", "%x41", "%u202",
                           "%u", "%x", "%u20%28"}) {
    EXPECT_EQ(FrameName(text), text);
    EXPECT_EQ(Frame(text), text);
  }
}

// At the beginning of a line it would start a comment.
TEST(AppendFrame, EscapesTheHashOfAFrameThatLooksLikeAComment) {
  EXPECT_EQ(Frame("# comm"), "%23 comm");
  EXPECT_EQ(Frame("#"), "%23");
  EXPECT_EQ(Leaf("# 7"), "%23%207");
  EXPECT_EQ(Frame("%23 comm"), "%2523 comm");
  for (const char* name : {"#1", "C# x", "##", "%23x", "a%23 b"}) EXPECT_EQ(Frame(name), name);
  EXPECT_EQ(FrameName("%23 comm"), "# comm");
  EXPECT_EQ(LeafName("%23%207"), "# 7");
}

TEST(AppendFrame, EscapesAPercentSignOnlyWhereItWouldBeAnEscape) {
  EXPECT_EQ(Frame("%3B"), "%253B");
  EXPECT_EQ(Frame("%253B"), "%25253B");
  EXPECT_EQ(Frame("%25;"), "%25%3B");
  EXPECT_EQ(Frame("%u202E"), "%25u202E");
  EXPECT_EQ(Frame("%25x9B"), "%2525x9B");
}

TEST(AppendLeaf, KeepsSpacesAtTheEnd) {
  EXPECT_EQ(Leaf("operator "), "operator ");
  EXPECT_EQ(Leaf(" "), " ");
  EXPECT_EQ(Leaf("a%20"), "a%20");
}

TEST(AppendLeaf, EscapesTheSpaceBeforeANumberAtTheEnd) {
  EXPECT_EQ(Leaf("id 7"), "id%207");
  EXPECT_EQ(Leaf("id 7.5"), "id%207.5");
  EXPECT_EQ(Leaf("id\t7."), "id%097.");
  EXPECT_EQ(Leaf("id%207"), "id%25207");
  EXPECT_EQ(Leaf("id 7x"), "id 7x");
  EXPECT_EQ(Leaf("id7"), "id7");
  EXPECT_EQ(Leaf("7"), "7");
}

TEST(AppendLeaf, KeepsNumbersIfAsked) {
  EXPECT_EQ(Leaf("id 7", CountLike::kKeep), "id 7");
  EXPECT_EQ(Leaf("id%207", CountLike::kKeep), "id%25207");
  EXPECT_EQ(Leaf("a;b 7", CountLike::kKeep), "a%3Bb 7");
}

TEST(AppendLeaf, LooksAtThisFrameOnly) {
  std::string out = "id ";
  AppendLeaf(out, "7", CountLike::kEscape);
  EXPECT_EQ(out, "id 7");
}

TEST(EndsLikeACount, LooksForASpaceAndANumber) {
  EXPECT_TRUE(EndsLikeACount("id 7"));
  EXPECT_TRUE(EndsLikeACount(" 7.25"));
  EXPECT_FALSE(EndsLikeACount("7"));
  EXPECT_FALSE(EndsLikeACount("id7"));
  EXPECT_FALSE(EndsLikeACount("id "));
  EXPECT_FALSE(EndsLikeACount("id .5"));
}

// Makes names of special characters and of those that form escapes of them.
rc::Gen<std::string> AnyName() {
  return rc::gen::container<std::string>(rc::gen::weightedOneOf<char>(
      {{9, rc::gen::elementOf(std::string("%253B0A1D7F0920 ;\t\n\r.7#ux9B2E\xc2\x9b\xe2\x80\xae"))},
       {1, rc::gen::arbitrary<char>()}}));
}

RC_GTEST_PROP(FrameName, UndoesTheEscaping, ()) {
  const std::string name = *AnyName();
  RC_ASSERT(FrameName(Frame(name)) == name);
  RC_ASSERT(LeafName(Leaf(name)) == name);
  RC_ASSERT(LeafName(Leaf(name, CountLike::kKeep)) == name);
}

RC_GTEST_PROP(FrameName, IsWrittenAsItWasRead, ()) {
  std::string text = *AnyName();
  std::erase_if(text, [](char c) {
    return c == ';' || c == 'x' || (IsUnsafe(static_cast<unsigned char>(c)) && c != '\t');
  });
  text.erase(0, text.find_first_not_of('#'));
  RC_ASSERT(Frame(FrameName(text)) == text);
  if (!EndsLikeACount(text)) RC_ASSERT(Leaf(LeafName(text)) == text);
}

RC_GTEST_PROP(AppendFrame, BeginsNoComment, ()) {
  const std::string name = *AnyName();
  RC_ASSERT(!Frame(name).starts_with("# "));
  RC_ASSERT(!(Leaf(name) + " 1").starts_with("# "));
}

RC_GTEST_PROP(AppendLeaf, LeavesNothingThatLooksLikeASecondCount, ()) {
  const std::string text = Leaf(*AnyName());
  RC_ASSERT(!EndsLikeACount(text));
  RC_ASSERT(text.find_first_of(";\n\r") == std::string::npos);
}

RC_GTEST_PROP(AppendFrame, LeavesNothingUnsafeButTheTab, ()) {
  const std::string text = Frame(*AnyName());
  for (auto found = FindUnsafe(text); found; found = FindUnsafe(text, found->at + found->size)) {
    RC_ASSERT(found->value == '\t' || !IsUnsafe(found->value));
  }
}

}  // namespace
}  // namespace perftape::folded
