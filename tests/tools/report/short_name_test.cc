// SPDX-License-Identifier: Apache-2.0
#include "tools/report/short_name.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace perftape::report_tool {
namespace {

using testing::ElementsAre;

TEST(ShortName, KeepsANameThatFits) {
  EXPECT_EQ(ShortName("std::vector<int>::push_back", 27), "std::vector<int>::push_back");
}

TEST(ShortName, LeavesOutTheArgumentsOfTemplatesFirst) {
  EXPECT_EQ(ShortName("std::__detail::_Compiler<std::__cxx11::regex_traits<char> >::_M_term()", 40),
            "std::__detail::_Compiler<…>::_M_term()");
  EXPECT_EQ(ShortName("a<b<c> >::d<e>::f", 14), "a<…>::d<…>::f");
  EXPECT_EQ(ShortName("f<int>(std::map<int, int> const&, long)", 10), "f<…>(…)");
}

TEST(ShortName, LeavesOperatorsAndArrowsAlone) {
  EXPECT_EQ(ShortName("operator<<<char>(std::ostream<char>&)", 28), "operator<<<…>(…)");
  EXPECT_EQ(ShortName("Pointer<Object>::operator->() const", 30), "Pointer<…>::operator->() const");
  EXPECT_EQ(ShortName("fn(a) -> Box<dyn Fn()>", 18), "fn(a) -> Box<…>");
}

TEST(ShortName, ThenCutsTheMiddle) {
  EXPECT_EQ(ShortName("abcdefghijklmnopqrstuvwxyz", 10), "abc…uvwxyz");
  EXPECT_EQ(ShortName("a < b and no template, but long", 12), "a < …ut long");
  EXPECT_EQ(ShortName("äöüäöüäöüäöü", 7), "äö…üäöü");
  EXPECT_EQ(ShortName("abc", 1), "…");
  EXPECT_EQ(ShortName("abc", 0), "");
}

TEST(ShortName, KeepsTheIndentationOfATree) {
  EXPECT_EQ(ShortName("    -> namespace::function<int>", 26), "    -> namesp…:function<…>");
}

TEST(ShortNames, KeepsDifferentNamesDifferent) {
  EXPECT_THAT(ShortNames({"map<int>::find", "map<char>::find", "other"}, 11),
              ElementsAre("map<i…:find", "map<c…:find", "other"));
  const std::string middle(200, 'm');
  const std::vector<std::string> same_ends = {"a" + middle + "1" + middle + "z",
                                              "a" + middle + "2" + middle + "z",
                                              "a" + middle + "1" + middle + "z"};
  const std::vector<std::string> texts = ShortNames(same_ends, 12);
  EXPECT_EQ(texts[0], texts[2]);
  EXPECT_NE(texts[0], texts[1]);
  for (const std::string& text : texts) EXPECT_EQ(WidthOf(text), 12U) << text;
}

}  // namespace
}  // namespace perftape::report_tool
