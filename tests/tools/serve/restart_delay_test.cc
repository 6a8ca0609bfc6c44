// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/restart_delay.h"

#include <gtest/gtest.h>

#include <chrono>

namespace perftape::serve {
namespace {

using std::chrono::seconds;

TEST(RestartDelay, GrowsWhileAProcessEndsSoon) {
  RestartDelay delay;
  for (const int wanted : {0, 1, 2, 4, 8, 16, 32, 60, 60})
    EXPECT_EQ(delay.After(seconds(1)), seconds(wanted));
  EXPECT_EQ(delay.After(seconds(60)), seconds(0)) << "it ran long enough";
}

}  // namespace
}  // namespace perftape::serve
