// SPDX-License-Identifier: Apache-2.0
#include "formats/script/escape.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace perftape::script {
namespace {

std::string Escaped(std::string_view name, std::string_view others = "") {
  std::string text;
  AppendEscaped(text, name, others);
  return text;
}

TEST(AppendEscaped, KeepsOrdinaryNames) {
  for (const std::string_view name :
       {"main", "std::map<int, int>::at(int const&) const", "a%2fb", "100%", "naïve", "a;b"}) {
    EXPECT_EQ(Escaped(name), name);
    EXPECT_EQ(Unescaped(name), name);
  }
}

TEST(AppendEscaped, EscapesWhatALineCannotContain) {
  EXPECT_EQ(Escaped("a\nb\tc\x1b"), "a%0Ab%09c%1B");
  EXPECT_EQ(Escaped("a\u202e"), "a%E2%80%AE");
  EXPECT_EQ(Escaped("a\x9b"), "a%9B");
  EXPECT_EQ(Escaped("/my lib (1).so", " ()"), "/my%20lib%20%281%29.so");
}

TEST(AppendEscaped, EscapesWhatLooksLikeAnEscape) {
  EXPECT_EQ(Escaped("a%0Ab"), "a%250Ab");
  EXPECT_EQ(Escaped("%%0A"), "%%250A");
}

TEST(AppendEscaped, WritesAnEmptyName) {
  EXPECT_EQ(Escaped(""), "%");
  EXPECT_EQ(Unescaped("%"), "");
  EXPECT_EQ(Escaped("%"), "%25");
}

TEST(Unescaped, ReturnsEveryName) {
  EXPECT_TRUE(rc::check([](const std::string& name) {
    RC_ASSERT(Unescaped(Escaped(name)) == name);
    RC_ASSERT(Unescaped(Escaped(name, " ()")) == name);
    RC_ASSERT(Escaped(name, " ()").find_first_of(" ()\n") == std::string::npos);
  }));
  EXPECT_TRUE(rc::check([] {
    const auto name = *rc::gen::container<std::string>(rc::gen::element('%', '0', 'A', '2', '5'));
    RC_ASSERT(Unescaped(Escaped(name)) == name);
  }));
}

}  // namespace
}  // namespace perftape::script
