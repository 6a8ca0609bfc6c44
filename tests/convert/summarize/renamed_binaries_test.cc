// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/renamed_binaries.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>

namespace perftape::summarize {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(NameWithoutVersion, LeavesOutVersionsAndHashes) {
  EXPECT_EQ(NameWithoutVersion("app-1.0"), "app");
  EXPECT_EQ(NameWithoutVersion("libfoo.so.1.2.13"), "libfoo.so");
  EXPECT_EQ(NameWithoutVersion("libfoo-2.36.so"), "libfoo.so");
  EXPECT_EQ(NameWithoutVersion("bench-0f3a9c1d2e4b5678"), "bench");
  EXPECT_EQ(NameWithoutVersion("server_v2"), "server");
}

TEST(NameWithoutVersion, KeepsWords) {
  for (const char* name :
       {"app", "libc.so", "[kernel.kallsyms]", "a.out", "feedback-deadbeef", ""}) {
    EXPECT_EQ(NameWithoutVersion(name), name);
  }
  EXPECT_EQ(NameWithoutVersion("7z"), "7z");
  EXPECT_EQ(NameWithoutVersion("2048"), "2048");
}

TEST(FindRenamedBinaries, PairsNamesThatDifferInTheirVersion) {
  const std::set<FunctionKey> before = {{"a", "libx.so.1.2"}, {"main", "app"}};
  const std::set<FunctionKey> after = {{"b", "libx.so.1.3"}, {"main", "app"}};
  EXPECT_THAT(FindRenamedBinaries(before, after), ElementsAre(Pair("libx.so.1.2", "libx.so.1.3")));
}

TEST(FindRenamedBinaries, PairsBinariesWithTheSameFunctions) {
  const std::set<FunctionKey> before = {{"a", "old"}, {"b", "old"}, {"main", "other"}};
  const std::set<FunctionKey> after = {{"a", "new"}, {"b", "new"}, {"c", "new"}};
  EXPECT_THAT(FindRenamedBinaries(before, after), ElementsAre(Pair("old", "new")));
}

TEST(FindRenamedBinaries, LeavesBinariesThatBothSidesHave) {
  const std::set<FunctionKey> before = {{"a", "app-1"}, {"a", "app-2"}};
  const std::set<FunctionKey> after = {{"a", "app-2"}};
  EXPECT_THAT(FindRenamedBinaries(before, after), IsEmpty());
}

TEST(PairFunctions, FindsAFunctionThatMovedToAnotherNewBinary) {
  const std::set<FunctionKey> before = {{"a", "app-1"}, {"b", "app-1"}, {"moved", "app-1"}};
  const std::set<FunctionKey> after = {{"a", "app-2"}, {"b", "app-2"}, {"moved", "plugin.so"}};
  const auto pairs = PairFunctions(before, after, FindRenamedBinaries(before, after));
  EXPECT_EQ(pairs.at({"a", "app-1"}), FunctionKey("a", "app-2"));
  EXPECT_EQ(pairs.at({"moved", "app-1"}), FunctionKey("moved", "plugin.so"));
}

}  // namespace
}  // namespace perftape::summarize
