// SPDX-License-Identifier: Apache-2.0
// Tests the cursor over the records of a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <vector>

#include "formats/perfdata/reader.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::HasSubstr;

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

TEST(RecordCursor, StopsAtARecordSmallerThanItsHeader) {
  for (const std::uint16_t size : std::initializer_list<std::uint16_t>{0, 1, 7}) {
    PerfDataBuilder file;
    file.AddEvent();
    file.AddHeaderOnly({.type = RecordType::kSample, .size = size});
    file.AddRound();

    RecordCursor cursor = file.Open().records();
    EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kCorrupt, HasSubstr("size "))) << size;
    EXPECT_THAT(cursor.Next(), IsAtEnd());
  }
}

TEST(RecordCursor, DeliversAllWholeRecordsWhereverTheFileIsCut) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  const std::size_t first = file.records().size();
  file.AddSample({.ip = 0x401136, .pid = 7, .tid = 7});
  const std::vector<std::byte> records(file.records().begin(), file.records().end());
  for (std::size_t size = 0; size <= records.size(); ++size) {
    const std::vector<std::byte> piece(records.begin(),
                                       records.begin() + static_cast<std::ptrdiff_t>(size));
    RecordCursor cursor(piece, 0, std::endian::native);
    std::size_t whole = 0;
    Result<std::optional<RecordView>> next = cursor.Next();
    while (next && *next) {
      ++whole;
      next = cursor.Next();
    }
    EXPECT_EQ(whole, std::size_t{size >= first} + std::size_t{size == records.size()}) << size;
    const bool between = size == 0 || size == first || size == records.size();
    EXPECT_EQ(next.has_value(), between) << size;
  }
}

TEST(RecordCursor, ReportsTheOffsetOfEachRecord) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddRound();
  file.AddSample({.ip = 1});

  const Reader reader = file.Open();
  RecordCursor cursor = reader.records();
  EXPECT_EQ(cursor.Next().value()->file_offset, reader.data_offset());
  EXPECT_EQ(cursor.Next().value()->file_offset, reader.data_offset() + 8);
}

TEST(RecordCursor, SkipsTheTraceOfAnAuxtrace) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddHeaderOnly({.type = RecordType::kAuxtrace, .size = 48});
  const std::uint64_t body[] = {16, 0, 0, 0, 0};  // { u64 size, ... }
  file.AddRaw(std::as_bytes(std::span(body)));
  file.AddRaw(AsBytes("sixteen bytes..."));
  file.AddRound();

  RecordCursor cursor = file.Open().records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kAuxtrace));
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kFinishedRound));
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

TEST(RecordCursor, StopsAtATraceLargerThanTheFile) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddHeaderOnly({.type = RecordType::kAuxtrace, .size = 48});
  const std::uint64_t body[] = {~std::uint64_t{0}, 0, 0, 0, 0};
  file.AddRaw(std::as_bytes(std::span(body)));
  file.AddRound();

  RecordCursor cursor = file.Open().records();
  EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kTruncated, HasSubstr("AUXTRACE")));
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

TEST(RecordCursor, SkipsTheFormatsOfATracingData) {
  PerfDataBuilder file(Container::kPipe);
  file.AddEvent();
  file.AddHeaderOnly({.type = RecordType::kHeaderTracingData, .size = 12});
  const std::uint32_t size = 13;
  file.AddRaw(std::as_bytes(std::span(&size, 1)));
  file.AddRaw(AsBytes("thirteen and 3 ."));
  file.AddSample({.ip = 1});

  RecordCursor cursor = file.Open().records();
  while (true) {
    const auto record = cursor.Next();
    ASSERT_THAT(record, IsOk());
    ASSERT_TRUE(*record) << "no sample was found";
    if ((*record)->type == RecordType::kSample) break;
  }
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

}  // namespace
}  // namespace perftape::perfdata
