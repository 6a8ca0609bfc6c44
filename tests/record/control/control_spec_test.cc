// SPDX-License-Identifier: Apache-2.0
// The forms that perf 6.1 and 7.3 take, and those that both refuse.
#include "record/control/control_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::record {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

EnabledRange From(int from) {
  return {.from = milliseconds(from)};
}

EnabledRange Between(int from, int until) {
  return {.from = milliseconds(from), .until = milliseconds(until)};
}

TEST(ParseControl, TakesFifosAndDescriptors) {
  EXPECT_EQ(ParseControl("fifo:ctl"), ControlSpec(ControlFifos{"ctl", ""}));
  EXPECT_EQ(ParseControl("fifo:ctl,"), ControlSpec(ControlFifos{"ctl", ""}));
  EXPECT_EQ(ParseControl("fifo:/a/ctl,/b/ack"), ControlSpec(ControlFifos{"/a/ctl", "/b/ack"}));
  EXPECT_EQ(ParseControl("fd:3"), ControlSpec(ControlDescriptors{3, -1}));
  EXPECT_EQ(ParseControl("fd:10,11"), ControlSpec(ControlDescriptors{10, 11}));
}

TEST(ParseControl, RefusesOtherForms) {
  for (const char* text : {"", "foo", "fifo", "fifo:", "fifo:,x", "fd:", "fd:x", "fd:1,y",
                           "fd:1,2x", "fd:1x", "fd:-1", "fd:1,", "fd:99999999999"}) {
    EXPECT_FALSE(ParseControl(text)) << text;
  }
}

TEST(ParseDelay, TakesADelay) {
  EXPECT_THAT(ParseDelay("-1").value(), IsEmpty());
  EXPECT_THAT(ParseDelay("10").value(), ElementsAre(From(10)));
  EXPECT_THAT(ParseDelay("010").value(), ElementsAre(From(10)));
}

TEST(ParseDelay, TakesRanges) {
  EXPECT_THAT(ParseDelay("10-20").value(), ElementsAre(Between(10, 20)));
  EXPECT_THAT(ParseDelay("0-1").value(), ElementsAre(Between(0, 1)));
  EXPECT_THAT(ParseDelay("10-20,30-40").value(), ElementsAre(Between(10, 20), Between(30, 40)));
  EXPECT_THAT(ParseDelay(" 10 - 20 , 30 -40 ").value(),
              ElementsAre(Between(10, 20), Between(30, 40)));
}

TEST(ParseDelay, RefusesOtherForms) {
  for (const char* text :
       {"", "0", "-2", "-5", "1x", "0x10", "10-", "20-10", "10-10", "1,2", "10-20,", "10-20,40",
        "5,6-7", "10-20,15-30", "10-20,20-30", "10-20,5-7", "10-20 30-40", "99999999999"}) {
    EXPECT_FALSE(ParseDelay(text)) << text;
  }
}

}  // namespace
}  // namespace perftape::record
