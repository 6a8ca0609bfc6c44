// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/sentence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace perftape::inspect {
namespace {

TEST(Sentence, ContainsTheMembersThatItNames) {
  EXPECT_EQ(Sentence("node {node}: CPUs {cpus}.", {{"node", 3}, {"cpus", "0-7"}}),
            "node 3: CPUs 0-7.");
  EXPECT_EQ(Sentence("no names", json::Value::EmptyObject()), "no names");
}

TEST(Sentence, ContainsAValueWithoutMembers) {
  EXPECT_EQ(Sentence(" {}\n", "x86_64"), " x86_64\n");
}

TEST(Sentence, LeavesOutAMemberThatIsNotThere) {
  EXPECT_EQ(Sentence("{a}{b}", {{"a", -1}}), "-1");
}

TEST(Sentence, JoinsAListOrCountsIt) {
  const json::Value value = {{"ids", std::vector<int>{5, 6}}};
  EXPECT_EQ(Sentence("ids {ids}", value), "ids 5,6");
  EXPECT_EQ(Sentence("{ids|event}", value), "2 events");
  EXPECT_EQ(Sentence("{|event}", std::vector<std::string>{"a"}), "1 event");
}

TEST(Sentence, CountsANumberAndShowsNanosecondsAsSeconds) {
  const json::Value value = {{"n", 1}, {"time", 1'000'000'005}};
  EXPECT_EQ(Sentence("{n|byte}, {time|s} s", value), "1 byte, 1.000000005 s");
}

TEST(Sentence, EscapesTextsAndReadsNoNamesInThem) {
  EXPECT_EQ(Sentence("{a}", {{"a", "\x1b[2J"}}), "\\x1b[2J");
  EXPECT_EQ(Sentence("{a}", {{"a", "{b}"}, {"b", 1}}), "{b}");
}

}  // namespace
}  // namespace perftape::inspect
