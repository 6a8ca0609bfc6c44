// SPDX-License-Identifier: Apache-2.0
#include "record/rings/drained_records.h"

#include <gtest/gtest.h>

#include <string_view>

namespace perftape::record {
namespace {

TEST(DrainedRecords, ReturnsWhatWasAddedOnce) {
  DrainedRecords records;
  records.Add(AsBytes("one"));
  records.Add(AsBytes("two"));
  EXPECT_EQ(AsText(records.Release()), "onetwo");
  EXPECT_TRUE(records.Release().empty());
}

TEST(DrainedRecords, KeepsWhatWasReleasedUntilTheNextRelease) {
  DrainedRecords records;
  records.Add(AsBytes("released"));
  const Bytes released = records.Release();
  records.Add(AsBytes("added"));
  EXPECT_EQ(AsText(released), "released");
  EXPECT_EQ(AsText(records.Release()), "added");
}

TEST(DrainedRecords, IsFullUntilItsRecordsAreReleased) {
  DrainedRecords records(4);
  records.Add(AsBytes("one"));
  EXPECT_FALSE(records.is_full());
  records.Add(AsBytes("two"));
  EXPECT_TRUE(records.is_full());
  (void)records.Release();
  EXPECT_FALSE(records.is_full());
}

}  // namespace
}  // namespace perftape::record
