// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/record_ranges.h"

#include <gmock/gmock.h>

#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::SizeIs;

// The offsets that a walk visited in a range.
struct Offsets {
  std::vector<std::uint64_t> seen;
  void Add(const RecordView& record) { seen.push_back(record.file_offset); }
};

// Returns some megabytes of samples whose callchains look like headers of records.
PerfDataBuilder LongRecording() {
  PerfDataBuilder file;
  file.AddEvent();
  std::vector<std::uint64_t> headers(1000, std::uint64_t{16} << 48 | 9);
  for (std::uint64_t i = 0; i < 700; ++i) {
    headers.resize(500 + i % 7 * 70, headers.front());
    file.AddSample({.time = 1 + i, .callchain = headers});
  }
  return file;
}

std::vector<std::uint64_t> AllOffsets(const Reader& reader) {
  std::vector<std::uint64_t> offsets;
  RecordCursor cursor = reader.records();
  while (cursor.Step()) offsets.push_back(cursor.record().file_offset);
  return offsets;
}

TEST(WalkInRanges, VisitsAllRecordsInOrderOrFails) {
  PerfDataBuilder file = LongRecording();
  const Reader reader = file.Open();
  const std::vector<std::uint64_t> starts = GuessRangeStarts(reader, 4);
  std::vector<Offsets> parts(starts.size());
  if (!WalkInRanges(reader, starts, 2, parts)) return;
  std::vector<std::uint64_t> seen;
  for (const Offsets& part : parts) seen.insert(seen.end(), part.seen.begin(), part.seen.end());
  EXPECT_EQ(seen, AllOffsets(reader));
}

TEST(WalkInRanges, RejectsAWrongStart) {
  PerfDataBuilder file = LongRecording();
  const Reader reader = file.Open();
  const std::vector<std::uint64_t> all = AllOffsets(reader);
  std::vector<Offsets> parts(2);
  EXPECT_TRUE(WalkInRanges(reader, {all[0], all[300]}, 2, parts));
  parts.assign(2, {});
  EXPECT_FALSE(WalkInRanges(reader, {all[0], all[300] + 8}, 2, parts));
}

TEST(WalkInRanges, ReportsADamagedEnd) {
  PerfDataBuilder file = LongRecording();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  const Reader reader = file.Open();
  std::vector<Offsets> parts(1);
  EXPECT_FALSE(WalkInRanges(reader, {reader.data_offset()}, 2, parts));
}

TEST(GuessRangeStarts, FindsRecords) {
  PerfDataBuilder file;
  file.AddEvent();
  for (std::uint64_t i = 0; i < 700; ++i) {
    file.AddSample({.time = 1 + i, .callchain = std::vector<std::uint64_t>(1000, 0x401136)});
  }
  const Reader reader = file.Open();
  const std::vector<std::uint64_t> starts = GuessRangeStarts(reader, 4);
  EXPECT_THAT(starts, SizeIs(4));
  EXPECT_THAT(AllOffsets(reader), testing::IsSupersetOf(starts));
}

TEST(GuessRangeStarts, FindsOnlyTheFirstOfAShortRecording) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.time = 1});
  const Reader reader = file.Open();
  EXPECT_THAT(GuessRangeStarts(reader, 4), testing::ElementsAre(reader.data_offset()));
}

}  // namespace
}  // namespace perftape::perfdata
