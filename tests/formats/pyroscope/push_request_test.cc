// SPDX-License-Identifier: Apache-2.0
#include "formats/pyroscope/push_request.h"

#include <gtest/gtest.h>

#include <string>

namespace perftape::pyroscope {
namespace {

TEST(EncodePushRequest, HasOneSeriesWithOneProfile) {
  const std::string request = EncodePushRequest(
      {.labels = {{.name = "a", .value = "bc"}, {.name = "d", .value = "e"}}, .pprof = "\x1f\x8b"});
  EXPECT_EQ(request,
            "\x0a\x17"          // series
            "\x0a\x07\x0a\x01"  // labels, name
            "a\x12\x02"         // value
            "bc"
            "\x0a\x06\x0a\x01"
            "d\x12\x01"
            "e"
            "\x12\x04\x0a\x02\x1f\x8b");  // samples, raw_profile
}

TEST(ValidName, ReplacesOtherCharacters) {
  EXPECT_EQ(ValidName("PacketLoss_2"), "PacketLoss_2");
  EXPECT_EQ(ValidName("syscalls:sys_enter-x/"), "syscalls_sys_enter_x_");
  EXPECT_EQ(ValidName("9p"), "_9p");
  EXPECT_EQ(ValidName(""), "_");
  EXPECT_EQ(ValidName("\xc3\xbc"), "__");
}

}  // namespace
}  // namespace perftape::pyroscope
