// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/root.h"

#include <gtest/gtest.h>

namespace perftape::folded {
namespace {

TEST(RootName, IsWhatStackcollapseWrites) {
  const RootFrame frame = {.comm = "my app", .pid = 7, .tid = 8};
  EXPECT_EQ(RootName(Root::kNone, frame), "");
  EXPECT_EQ(RootName(Root::kComm, frame), "my app");
  EXPECT_EQ(RootName(Root::kCommPid, frame), "my app-7");
  EXPECT_EQ(RootName(Root::kCommPidTid, frame), "my app-7/8");
}

TEST(RootName, NamesUnknownThreads) {
  EXPECT_EQ(RootName(Root::kComm, {}), "[unknown]");
  EXPECT_EQ(RootName(Root::kCommPidTid, {.comm = "app", .tid = 8}), "app-?/8");
  EXPECT_EQ(RootName(Root::kCommPidTid, {.comm = "app", .pid = 8}), "app-8/?");
}

TEST(ParseRoot, ParsesTheResultOfRootName) {
  for (const RootFrame& frame :
       {RootFrame{"app", 7, 8}, RootFrame{"a-1/2-?/b", 7, 8}, RootFrame{"", 7, 8},
        RootFrame{"app", {}, 8}, RootFrame{"app", 0, {}}, RootFrame{"app", 4294967295, 1}}) {
    EXPECT_EQ(ParseRoot(Root::kCommPidTid, RootName(Root::kCommPidTid, frame)), frame);
  }
  EXPECT_EQ(ParseRoot(Root::kCommPid, "a-b-7"), (RootFrame{.comm = "a-b", .pid = 7}));
  EXPECT_EQ(ParseRoot(Root::kComm, "a-7/8"), RootFrame{.comm = "a-7/8"});
}

TEST(ParseRoot, RefusesOtherForms) {
  for (const char* name : {"app", "app-7", "app/8", "app-x/8", "app-7/x", "app-/8", "app-7/",
                           "app-4294967296/8", "app-7/-8", "7/8", ""}) {
    EXPECT_EQ(ParseRoot(Root::kCommPidTid, name), std::nullopt) << name;
  }
  EXPECT_EQ(ParseRoot(Root::kCommPid, "app"), std::nullopt);
  EXPECT_EQ(ParseRoot(Root::kNone, "app"), std::nullopt);
}

}  // namespace
}  // namespace perftape::folded
