// SPDX-License-Identifier: Apache-2.0
#include "formats/json/write.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace perftape::json {
namespace {

// Names that were written into files of users: each must be read back by another parser.
const std::string kHostile = "a\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xc3\xa9\n\t\"\\";

Value Sample() {
  Value value = {{"name", kHostile},
                 {"whole", true},
                 {"nothing", nullptr},
                 {"least", std::numeric_limits<std::int64_t>::min()},
                 {"most", std::numeric_limits<std::uint64_t>::max()},
                 {"empty", {{"list", Value::EmptyList()}, {"object", Value::EmptyObject()}}}};
  value["list"] = std::vector<std::string>{"a", "b"};
  value["list"].push_back({{"deep", 7}});
  value[kHostile] = 1;
  return value;
}

TEST(JsonText, HasTheLayoutOfTheLibrary) {
  const std::string line = Text(Sample(), Layout::kOneLine);
  const auto parsed = nlohmann::ordered_json::parse(line);
  EXPECT_TRUE(
      line.starts_with(R"({"name":"a\u001b[2J\u007f\u009b\u202e\u2028é\n\t\"\\","whole":true,)"
                       R"("nothing":null,"least":-9223372036854775808,)"
                       R"("most":18446744073709551615,"empty":{"list":[],"object":{}},)"
                       R"("list":["a","b",{"deep":7}],)"))
      << line;
  EXPECT_EQ(parsed["name"], kHostile);
  EXPECT_EQ(parsed[kHostile], 1);
  for (const Layout layout : {Layout::kNarrow, Layout::kIndented}) {
    const std::string text = Text(Sample(), layout);
    EXPECT_EQ(nlohmann::ordered_json::parse(text), parsed);
    Value plain = Sample();
    plain["name"] = "plain";
    plain.Erase(kHostile);
    const std::string plain_text = Text(plain, layout);
    EXPECT_EQ(plain_text,
              nlohmann::ordered_json::parse(plain_text).dump(std::to_underlying(layout)) + "\n");
  }
}

TEST(JsonText, HasNothingThatATerminalObeys) {
  const std::string text = Text(Sample(), Layout::kOneLine);
  EXPECT_EQ(text.find_first_of("\x1b\x7f\x9b\x80"), std::string::npos) << text;
}

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(Text("a\xff\x9b", Layout::kOneLine), "\"a\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

TEST(JsonText, HasNumbersAsTheLibrary) {
  for (const double number : {0.0, -0.0, 1.0, 0.1, 1e-7, 1e15, 1e16, 1e300, 12345.678, 2.0 / 3}) {
    EXPECT_EQ(Text(number, Layout::kOneLine), nlohmann::json(number).dump() + "\n");
  }
  EXPECT_EQ(Text(std::numeric_limits<double>::infinity(), Layout::kOneLine), "null\n");
  EXPECT_EQ(Text(std::int8_t{-7}, Layout::kOneLine), "-7\n");
  EXPECT_EQ(Text(std::uint16_t{7}, Layout::kOneLine), "7\n");
}

TEST(JsonValue, ReplacesAMemberWithItsKey) {
  Value value = {{"a", 1}, {"b", 2}};
  value["a"] = 3;
  value.Merge({{"b", 4}, {"c", 5}});
  EXPECT_EQ(Text(value, Layout::kOneLine), "{\"a\":3,\"b\":4,\"c\":5}\n");
  value.Erase("b");
  EXPECT_EQ(Text(value, Layout::kOneLine), "{\"a\":3,\"c\":5}\n");
}

TEST(JsonValue, BecomesAListOrAnObjectWithItsFirstElement) {
  Value value;
  EXPECT_EQ(Text(value, Layout::kOneLine), "null\n");
  value["list"].push_back("a");
  EXPECT_EQ(Text(value, Layout::kOneLine), "{\"list\":[\"a\"]}\n");
}

}  // namespace
}  // namespace perftape::json
