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
  EXPECT_EQ(AsText(records.Take()), "onetwo");
  EXPECT_TRUE(records.Take().empty());
}

TEST(DrainedRecords, AddsBesideWhatWasTaken) {
  DrainedRecords records;
  records.Add(AsBytes("taken"));
  const Bytes taken = records.Take();
  records.Add(AsBytes("added"));
  EXPECT_EQ(AsText(taken), "taken");
  EXPECT_EQ(AsText(records.Take()), "added");
}

TEST(DrainedRecords, IsFullUntilItsRecordsAreTaken) {
  DrainedRecords records(4);
  records.Add(AsBytes("one"));
  EXPECT_FALSE(records.is_full());
  records.Add(AsBytes("two"));
  EXPECT_TRUE(records.is_full());
  (void)records.Take();
  EXPECT_FALSE(records.is_full());
}

}  // namespace
}  // namespace perftape::record
