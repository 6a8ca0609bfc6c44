// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/body_shape.h"

#include <gtest/gtest.h>

namespace perftape::perfdata {
namespace {

using End = BodyShape::End;

void ExpectShape(RecordType type, std::size_t fixed_size, End end, std::size_t entry_size = 0) {
  const BodyShape* shape = ShapeOf(type);
  ASSERT_NE(shape, nullptr) << RecordName(type);
  EXPECT_EQ(shape->fixed_size, fixed_size) << RecordName(type);
  EXPECT_EQ(shape->end, end) << RecordName(type);
  EXPECT_EQ(shape->entry_size, entry_size) << RecordName(type);
}

// The numbers are the offsets in include/uapi/linux/perf_event.h, without the header.
TEST(BodyShape, OfKernelRecordsIsThatOfTheirStructs) {
  ExpectShape(RecordType::kFork, 24, End::kNothing);
  ExpectShape(RecordType::kSwitch, 0, End::kNothing);
  ExpectShape(RecordType::kBpfEvent, 16, End::kNothing);
  ExpectShape(RecordType::kMmap, 32, End::kName);
  ExpectShape(RecordType::kMmap2, 64, End::kName);
  ExpectShape(RecordType::kKsymbol, 16, End::kName);
  ExpectShape(RecordType::kNamespaces, 16, End::kEntries, 16);
  ExpectShape(RecordType::kCallchainDeferred, 16, End::kEntries, 8);
  ExpectShape(RecordType::kTextPoke, 12, End::kOpen);
  ExpectShape(RecordType::kRead, 16, End::kOpen);  // the value at least
}

// tools/lib/perf/include/perf/event.h.
TEST(BodyShape, OfToolRecordsIsThatOfTheirStructs) {
  ExpectShape(RecordType::kFinishedRound, 0, End::kNothing);
  ExpectShape(RecordType::kAuxtrace, 40, End::kNothing);
  ExpectShape(RecordType::kHeaderBuildId, 28, End::kName);
  ExpectShape(RecordType::kIdIndex, 8, End::kEntries, 32);
  ExpectShape(RecordType::kThreadMap, 8, End::kEntries, 24);
  ExpectShape(RecordType::kBpfMetadata, 520, End::kEntries, 320);
  ExpectShape(RecordType::kHeaderAttr, 64, End::kOpen);
  ExpectShape(RecordType::kHeaderTracingData, 4, End::kOpen);
  ExpectShape(RecordType::kCompressed, 0, End::kOpen);
  ExpectShape(RecordType::kCompressed2, 8, End::kOpen);
}

TEST(BodyShape, EndsWhereTheFieldsDependOnTheValues) {
  ExpectShape(RecordType::kCpuMap, 2, End::kOpen);
  ExpectShape(RecordType::kEventUpdate, 16, End::kOpen);
  ExpectShape(RecordType::kAuxtraceError, 32, End::kOpen);
  ExpectShape(RecordType::kTimeConv, 24, End::kOpen);
  ExpectShape(RecordType::kSchedstatCpu, 16, End::kOpen);
}

TEST(BodyShape, IsNotKnownOfSamplesAndOtherTypes) {
  EXPECT_EQ(ShapeOf(RecordType::kSample), nullptr);
  EXPECT_EQ(ShapeOf(static_cast<RecordType>(99)), nullptr);
}

}  // namespace
}  // namespace perftape::perfdata
