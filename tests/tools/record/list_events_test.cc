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

}  // namespace
}  // namespace perftape::record_tool
