// SPDX-License-Identifier: Apache-2.0
#include "record/scope/comm_globs.h"

#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "tests/support/matchers.h"

namespace perftape::record {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// What bpf/scope.bpf.h does.
bool Matches(const std::vector<wire_globs>& sets, std::string_view comm) {
  for (const wire_globs& set : sets) {
    std::uint64_t positions = set.start;
    for (const char character : comm) {
      positions = ((positions & set.accept[static_cast<std::uint8_t>(character)]) << 1) |
                  (positions & set.stars);
    }
    if ((positions & set.end) != 0) return true;
  }
  return false;
}

TEST(CommGlobs, AgreeWithFnmatch) {
  constexpr std::string_view kNames[] = {
      "",      "a",    "ab",  "abc",      "b",         "a-b",        "a]",          "[", "*", "a*b",
      "nginx", "node", "nod", "worker-1", "worker-12", "w-\xc3\xa9", "kworker/0:1", "^", "!", "-"};
  for (const char* glob : {"",       "*",      "?",      "a",     "a*",    "*a",           "*b*",
                           "a?c",    "[ab]",   "[a-c]*", "[!a]*", "[^a]*", "[]a]",         "a[]]",
                           "[a-]*",  "[",      "[ab",    "\\*",   "a\\*b", "worker-[0-9]", "*-?*",
                           "n*[ex]", "w*r*1*", "[!!]",   "[\\]]", "**a**", "k*/*:?"}) {
    const std::string globs[] = {glob};
    const auto sets = CompileCommGlobs(globs);
    ASSERT_TRUE(sets) << glob;
    for (const std::string_view name : kNames) {
      const bool expected = fnmatch(glob, std::string(name).c_str(), 0) == 0;
      EXPECT_EQ(Matches(*sets, name), expected) << glob << " " << name;
    }
  }
}

TEST(CommGlobs, MatchIfAnyOfSeveralDoes) {
  const std::string globs[] = {"java", "C2 *", "G1 ?[a-z]*"};
  const auto sets = CompileCommGlobs(globs);
  ASSERT_TRUE(sets);
  EXPECT_THAT(*sets, SizeIs(1));
  EXPECT_TRUE(Matches(*sets, "java"));
  EXPECT_TRUE(Matches(*sets, "C2 CompilerThre"));
  EXPECT_TRUE(Matches(*sets, "G1 Conc#0"));
  EXPECT_FALSE(Matches(*sets, "javaC2 "));
  EXPECT_FALSE(Matches(*sets, "G1 C"));
}

TEST(CommGlobs, AcceptTheLongestNames) {
  std::vector<std::string> globs;
  for (char last = 'a'; globs.size() < 16; ++last)
    globs.push_back("0123456789abcd" + std::string(1, last));
  const auto sets = CompileCommGlobs(globs);
  ASSERT_TRUE(sets);
  EXPECT_THAT(*sets, SizeIs(WIRE_GLOB_SETS));
  EXPECT_TRUE(Matches(*sets, globs.front()));
  EXPECT_TRUE(Matches(*sets, globs.back()));
  EXPECT_FALSE(Matches(*sets, "0123456789abcd"));
  globs.emplace_back("0");
  EXPECT_THAT(CompileCommGlobs(globs), FailsWith(ErrorCode::kInvalidArgument,
                                                 HasSubstr("too many names: at most 16 names")));
}

TEST(CommGlobs, RefuseWhatNoNameCanMatch) {
  for (const char* glob : {"0123456789abcdef", "*0123456789abcd[ef]f", "????????????????*"}) {
    const std::string globs[] = {glob};
    EXPECT_THAT(CompileCommGlobs(globs),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("keeps only 15 bytes")))
        << glob;
  }
}

TEST(CommGlobs, AreNoneWithoutNames) {
  EXPECT_THAT(CompileCommGlobs({}).value(), SizeIs(0));
}

}  // namespace
}  // namespace perftape::record
