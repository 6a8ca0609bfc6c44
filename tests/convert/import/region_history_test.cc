// SPDX-License-Identifier: Apache-2.0
#include "convert/import/region_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(RegionHistory, HasTheRegionsOfEachEpoch) {
  perfdata::Dso app, library;
  app.path = "/bin/app";
  library.path = "/lib/library.so";
  const perfdata::Region first{.start = 0x1000, .end = 0x2000, .dso = &app};
  const perfdata::Region second{.start = 0x3000, .end = 0x4000, .dso = &library};
  const perfdata::Region other{.start = 0x1000, .end = 0x2000, .dso = &library};
  RegionHistory history;
  perfdata::AddressSpace space;
  space.Add(second);
  history.Note(7, 1, space);
  space.Add(first);
  history.Note(7, 3, space);
  space.Add(other);
  history.Note(7, 5, space);
  history.Note(7, 8, {});

  EXPECT_THAT(history.At(7, 0), IsEmpty());
  EXPECT_THAT(history.At(7, 2), ElementsAre(second));
  EXPECT_THAT(history.At(7, 3), ElementsAre(first, second));
  EXPECT_THAT(history.At(7, 4), ElementsAre(first, second));
  EXPECT_THAT(history.At(7, 7), ElementsAre(other, second));
  EXPECT_THAT(history.At(7, 8), IsEmpty());
  EXPECT_THAT(history.At(8, 4), IsEmpty());
}

}  // namespace
}  // namespace perftape::convert
