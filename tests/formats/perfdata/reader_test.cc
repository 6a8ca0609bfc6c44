// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(RecordCursor, StopsAtARecordLargerThanTheFile) {
  PerfDataBuilder file;
  file.AddEvent({.name = "cycles", .sample_type = kIp | kTid});
  file.AddSample({.ip = 0x401136, .pid = 7, .tid = 7});
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 0xffff});

  RecordCursor cursor = file.Open().records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample));
  EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kTruncated));
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

}  // namespace
}  // namespace perftape::perfdata
