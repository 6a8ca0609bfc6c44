// SPDX-License-Identifier: Apache-2.0
#include "record/growth_watch.h"

#include <gtest/gtest.h>

namespace perftape::record {
namespace {

TEST(GrowthWatch, IsDueEachTimeThatTheSizeHasDoubled) {
  GrowthWatch watch(100);
  EXPECT_FALSE(watch.IsDue(100));
  EXPECT_TRUE(watch.IsDue(101));
  watch.Restart(80);
  EXPECT_FALSE(watch.IsDue(160));
  EXPECT_TRUE(watch.IsDue(161));
  watch.Restart(10);
  EXPECT_FALSE(watch.IsDue(100)) << "a small collection is never searched";
}

}  // namespace
}  // namespace perftape::record
