// SPDX-License-Identifier: Apache-2.0
// Each test breaks one rule in tables that no builder makes.
#include "tests/support/profile_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::convert {
namespace {

using testing::HasSubstr;

// Returns tables of one function in one mapping, with one sample.
ProfileTables Good() {
  ProfileTables tables;
  tables.texts = {"", "main", "/bin/x"};
  tables.mappings.push_back({.filename = {2}, .start = 0x1000, .limit = 0x2000});
  tables.functions = {{.name = {1}}};
  static const Line line = {.function = {0}};
  tables.locations = {{.mapping = {1}, .offset = {0x10}, .lines = {&line, 1}}};
  tables.stacks.push_back({.caller = {0}, .leaf = {0}});
  tables.threads = {{}, {.pid = 1, .tid = 1, .comm = {1}}};
  tables.events = {{.name = {1}}};
  tables.samples = {{.stack = {1}, .count = 1}};
  return tables;
}

std::string WhatIsWrong(const ProfileTables& tables) {
  const Status status = Validate(tables);
  return status ? "nothing" : status.error().message;
}

TEST(Validate, AcceptsGoodTables) {
  EXPECT_EQ(WhatIsWrong(Good()), "nothing");
  EXPECT_EQ(WhatIsWrong(ProfileTables{}), "nothing");
}

TEST(Validate, FindsAStackThatComesBeforeItsCaller) {
  ProfileTables tables = Good();
  tables.stacks[1].caller = {1};
  EXPECT_EQ(WhatIsWrong(tables), "stack 1: comes before its caller");
}

TEST(Validate, FindsAStackOfNoLocation) {
  ProfileTables tables = Good();
  tables.stacks[1].leaf = {1};
  EXPECT_EQ(WhatIsWrong(tables), "stack 1: location out of range");
}

TEST(Validate, FindsALineOfNoFunction) {
  ProfileTables tables = Good();
  const Line line = {.function = {9}};
  tables.locations[0].lines = {&line, 1};
  EXPECT_EQ(WhatIsWrong(tables), "location 0: function out of range");
}

TEST(Validate, FindsALocationOfNoMapping) {
  ProfileTables tables = Good();
  tables.locations[0].mapping = {2};
  EXPECT_EQ(WhatIsWrong(tables), "location 0: mapping out of range");
}

TEST(Validate, FindsStringsOutOfRange) {
  ProfileTables tables = Good();
  tables.functions[0].system_name = {3};
  EXPECT_EQ(WhatIsWrong(tables), "function 0: string out of range");
  tables = Good();
  tables.mappings[1].build_id = {3};
  EXPECT_EQ(WhatIsWrong(tables), "mapping 1: build id out of range");
  tables = Good();
  tables.threads[1].comm = {3};
  EXPECT_EQ(WhatIsWrong(tables), "thread 1: comm out of range");
  tables = Good();
  tables.events[0].unit = {3};
  EXPECT_EQ(WhatIsWrong(tables), "event 0: string out of range");
}

TEST(Validate, FindsLabelsOfNoStringAndInNoOrder) {
  ProfileTables tables = Good();
  const Label labels[] = {{.key = {2}}, {.key = {1}}, {.key = {9}}};
  tables.labels.push_back({labels, 1});
  EXPECT_EQ(WhatIsWrong(tables), "nothing");
  tables.labels[1] = {labels, 2};
  tables.texts[2] = "zebra";
  EXPECT_EQ(WhatIsWrong(tables), "labels 1: not in the order of their keys");
  tables.labels[1] = labels;
  EXPECT_EQ(WhatIsWrong(tables), "labels 1: string out of range");
  tables.labels[1] = {};
  tables.samples[0].labels = {2};
  EXPECT_EQ(WhatIsWrong(tables), "sample 0: labels out of range");
}

TEST(Validate, FindsAMappingThatEndsBeforeItStarts) {
  ProfileTables tables = Good();
  tables.mappings[1].limit = 0xfff;
  EXPECT_EQ(WhatIsWrong(tables), "mapping 1: ends before it starts");
}

TEST(Validate, FindsSamplesOfWhatIsNotThere) {
  ProfileTables tables = Good();
  tables.samples[0].stack = {2};
  EXPECT_EQ(WhatIsWrong(tables), "sample 0: stack out of range");
  tables = Good();
  tables.samples[0].thread = {2};
  EXPECT_EQ(WhatIsWrong(tables), "sample 0: thread out of range");
  tables = Good();
  tables.samples[0].event = {1};
  EXPECT_EQ(WhatIsWrong(tables), "sample 0: event out of range");
}

TEST(Validate, FindsSamplesThatWereNotAddedUp) {
  ProfileTables tables = Good();
  tables.samples.push_back(tables.samples[0]);
  EXPECT_THAT(WhatIsWrong(tables), HasSubstr("two of the same"));
}

TEST(Validate, RequiresEmptyFirstEntries) {
  ProfileTables tables = Good();
  tables.texts[0] = "x";
  EXPECT_THAT(WhatIsWrong(tables), HasSubstr("string 0"));
  tables = Good();
  tables.mappings[0].start = 1;
  EXPECT_THAT(WhatIsWrong(tables), HasSubstr("mapping 0"));
  tables = Good();
  tables.stacks.clear();
  EXPECT_THAT(WhatIsWrong(tables), HasSubstr("stack 0"));
}

}  // namespace
}  // namespace perftape::convert
