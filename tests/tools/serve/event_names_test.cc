// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/event_names.h"

#include <gtest/gtest.h>

namespace perftape::serve {
namespace {

TEST(EventChoice, KnowsTheNamesOfKubeSkoop) {
  EXPECT_TRUE(EventChoice("PacketLoss").Has("skb:kfree_skb"));
  EXPECT_TRUE(EventChoice("TCPRetrans").Has("tcp:tcp_retransmit_skb"));
  EXPECT_TRUE(EventChoice("TCPReset").Has("tcp:tcp_send_reset"));
  EXPECT_TRUE(EventChoice("TCPReset").Has("tcp:tcp_receive_reset"));
  EXPECT_FALSE(EventChoice("TCPReset").Has("skb:kfree_skb"));
}

TEST(EventChoice, KnowsGroupsOfEvents) {
  EXPECT_TRUE(EventChoice("profile").Has("cpu-clock"));
  EXPECT_TRUE(EventChoice("cpu").Has("cycles:u"));
  EXPECT_FALSE(EventChoice("profile").Has("offcpu-time"));
  EXPECT_TRUE(EventChoice("offcpu").Has("offcpu-disk-time"));
  EXPECT_TRUE(EventChoice("lock").Has("lock-time"));
  EXPECT_TRUE(EventChoice("").Has("anything"));
  EXPECT_TRUE(EventChoice("page-faults").Has("page-faults:u"));
  EXPECT_TRUE(EventChoice("sched:sched_switch").Has("sched:sched_switch"));
}

TEST(EventChoice, KnowsWhatARecordingMayHave) {
  EXPECT_TRUE(EventChoice("PacketLoss").MayHave("packetloss"));
  EXPECT_TRUE(EventChoice("skb:kfree_skb").MayHave("packetloss"));
  EXPECT_FALSE(EventChoice("PacketLoss").MayHave("cpu-clock"));
  EXPECT_TRUE(EventChoice("offcpu").MayHave("offcpu"));
  EXPECT_FALSE(EventChoice("offcpu").MayHave("cpu-clock"));
  EXPECT_TRUE(EventChoice("sched:sched_switch").MayHave("sched:*"));
  EXPECT_TRUE(EventChoice("latency:read").MayHave("latency:fs"));
}

TEST(RequestName, IsProfileForCpuTime) {
  EXPECT_EQ(RequestNameOf("cpu-clock"), "profile");
  EXPECT_EQ(RequestNameOf("packetloss"), "packetloss");
}

}  // namespace
}  // namespace perftape::serve
