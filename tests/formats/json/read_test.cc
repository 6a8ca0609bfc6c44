// SPDX-License-Identifier: Apache-2.0
#include "formats/json/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/base/joined_files.h"
#include "formats/json/parse.h"
#include "formats/json/write.h"
#include "tests/support/matchers.h"

namespace perftape::json {
namespace {

using testing::HasSubstr;

constexpr std::size_t kAnyDepth = 100;

// Writes the events as letters, and refuses the text "refused".
class Recorder final : public Handler {
 public:
  std::string events;

  bool BeginObject() override { return Add("{"); }
  bool EndObject() override { return Add("}"); }
  bool BeginList() override { return Add("["); }
  bool EndList() override { return Add("]"); }
  bool Key(std::string_view key) override { return Add(std::string(key) + ":"); }
  bool Null() override { return Add("n "); }
  bool Boolean(bool value) override { return Add(value ? "t " : "f "); }
  bool Unsigned(std::uint64_t value) override { return Add("u" + std::to_string(value) + " "); }
  bool Integer(std::int64_t value) override { return Add("i" + std::to_string(value) + " "); }
  bool Real(double value) override { return Add("r" + std::to_string(value) + " "); }
  bool Text(std::string_view text) override {
    if (text == "refused") return Refuse("is refused");
    return Add("'" + std::string(text) + "' ");
  }

 private:
  bool Add(std::string_view event) {
    events += event;
    return true;
  }
};

TEST(ReadJson, PassesTheEventsInTheirOrder) {
  Recorder recorder;
  ASSERT_TRUE(
      Read(R"({"a": [1, -2, 3.5, "x"], "b": {"c": null}, "d": [true, false, 1e1]})", recorder));
  EXPECT_EQ(recorder.events, "{a:[u1 i-2 r3.500000 'x' ]b:{c:n }d:[t f r10.000000 ]}");
}

TEST(ReadJson, NamesTheOffsetOfWhatTheHandlerRefuses) {
  Recorder recorder;
  EXPECT_THAT(Read(R"(["a", "refused", "b"])", recorder),
              FailsWith(ErrorCode::kCorrupt, "at 0xf: is refused"));
  EXPECT_EQ(recorder.events, "['a' ");
}

TEST(ReadJson, RefusesWhatIsNotJson) {
  for (const std::string_view text :
       {"", "{", "[1,", "nul", "{\"a\" 1}", "[1] 2", "\"\xff\"", "[1e999]"}) {
    Recorder recorder;
    EXPECT_THAT(Read(text, recorder), FailsWith(ErrorCode::kCorrupt, HasSubstr("not JSON")))
        << text;
  }
}

TEST(ReadJson, TellsOfASecondText) {
  Recorder recorder;
  EXPECT_THAT(Read("{}\n{}", recorder),
              FailsWith(ErrorCode::kCorrupt, "at 0x3: " + std::string(kJoinedFiles)));
}

TEST(ReadJson, RefusesWhatIsTooDeep) {
  Recorder recorder;
  EXPECT_TRUE(Read("[[[1]]]", recorder, 3));
  EXPECT_THAT(Read("[[[[1]]]]", recorder, 3), FailsWith(ErrorCode::kUnsupported));
  EXPECT_THAT(Read(std::string(kDeepest + 1, '['), recorder), FailsWith(ErrorCode::kUnsupported));
}

TEST(ParseJson, ReadsWhatWasWritten) {
  constexpr std::string_view kText =
      "{\"a\":[1,-2,3.5,\"x\",[],{}],\"b\":{\"c\":null,\"d\":true},\"e\":18446744073709551615}\n";
  EXPECT_EQ(Text(Parse(kText, kAnyDepth).value(), Layout::kOneLine), kText);
}

TEST(ParseJson, LeavesOutWhatIsTooDeep) {
  const Value value = Parse(R"({"a":{"b":{"c":1},"d":2},"e":[[3],4]})", 2).value();
  EXPECT_EQ(Text(value, Layout::kOneLine), "{\"a\":{\"b\":{},\"d\":2},\"e\":[[],4]}\n");
  EXPECT_TRUE(Parse(std::string(100'000, '[') + std::string(100'000, ']'), 2));
}

TEST(ParseJson, FindsTheLastOfEqualKeys) {
  const Value value = Parse(R"({"a":1,"a":2})", kAnyDepth).value();
  EXPECT_EQ(value.Find("a")->AsUnsigned(), 2U);
  EXPECT_EQ(value.Find("b"), nullptr);
}

TEST(ParseJson, GivesNumbersAsTheyWereWritten) {
  const Value value = Parse("[7,-7,7.5]", kAnyDepth).value();
  const auto numbers = value.elements();
  EXPECT_EQ(numbers[0].AsUnsigned(), 7U);
  EXPECT_EQ(numbers[0].AsInteger(), 7);
  EXPECT_EQ(numbers[1].AsUnsigned(), std::nullopt);
  EXPECT_EQ(numbers[1].AsInteger(), -7);
  EXPECT_EQ(numbers[2].AsInteger(), std::nullopt);
  EXPECT_EQ(numbers[2].AsNumber(), 7.5);
  EXPECT_EQ(numbers[2].AsText(), nullptr);
  EXPECT_TRUE(numbers[2].elements().empty());
}

}  // namespace
}  // namespace perftape::json
