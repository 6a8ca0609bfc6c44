// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace perftape::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonText, HasNothingThatATerminalObeysAndReadsBackTheSame) {
  const std::string name = "a\x1b[2J\x7f\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xc3\xa9\n\t";
  const Json json = {{name, name}};
  for (const JsonLayout layout : {JsonLayout::kOneLine, JsonLayout::kIndented}) {
    const std::string text = JsonText(json, layout);
    EXPECT_EQ(text.find_first_of("\x1b\x7f\x9b\x80"), std::string::npos) << text;
    EXPECT_NE(text.find("\\u202e\\u2028\xc3\xa9"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("}\n"));
    EXPECT_EQ(Json::parse(text), json);
  }
}

TEST(JsonText, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(JsonText(Json("a\xff\x9b"), JsonLayout::kOneLine), "\"a\xef\xbf\xbd\xef\xbf\xbd\"\n");
}

}  // namespace
}  // namespace perftape::cli
