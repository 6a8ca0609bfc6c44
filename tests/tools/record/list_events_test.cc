// SPDX-License-Identifier: Apache-2.0
#include "tools/record/list_events.h"

#include <gtest/gtest.h>

namespace perftape::record_tool {
namespace {

TEST(ListText, HasEachReasonOnce) {
  const std::string text = ListText({{"cpu-clock", "", "clock", ""},
                                     {"cycles", "cpu-cycles", "hardware event", "no counters"},
                                     {"kprobe:FUNCTION", "", "a call", "no kprobes"},
                                     {"branches", "", "hardware event", "no counters"}});
  EXPECT_EQ(text,
            "cpu-clock                                     clock\n"
            "cycles OR cpu-cycles                          hardware event; not here (1)\n"
            "kprobe:FUNCTION                               a call; not here (2)\n"
            "branches                                      hardware event; not here (1)\n"
            "\nNot here:\n"
            "  (1) no counters\n"
            "  (2) no kprobes\n");
}

TEST(ListText, HasNoReasonsIfAllIsThere) {
  EXPECT_EQ(ListText({{"cpu-clock", "", "clock", ""}}),
            "cpu-clock                                     clock\n");
}

TEST(NamesText, HasTheNamesThatWorkHere) {
  EXPECT_EQ(NamesText({{"context-switches", "cs", "software event", ""},
                       {"cycles", "cpu-cycles", "hardware event", "no counters"}},
                      "c*"),
            "context-switches\ncs\n");
}

TEST(NamesText, KeepsThePathOfTheGlob) {
  EXPECT_EQ(NamesText({{"uprobe:/usr/lib/libc.so.6:malloc", "", "uprobe", ""}}, "uprobe:libc:mal*"),
            "uprobe:libc:malloc\n");
  EXPECT_EQ(
      NamesText({{"uprobe:/usr/bin/shop:shop::Cart::Add", "", "uprobe", ""}}, "uprobe:shop:*"),
      "uprobe:shop:shop::Cart::Add\n");
  EXPECT_EQ(NamesText({{"usdt:/usr/lib/libc.so.6:libc:setjmp", "", "usdt", ""}}, "usdt:libc:*"),
            "usdt:libc:libc:setjmp\n");
  EXPECT_EQ(NamesText({{"kprobe:do_exit", "", "kprobe", ""}}, "kprobe:do_e*"), "kprobe:do_exit\n");
}

}  // namespace
}  // namespace perftape::record_tool
