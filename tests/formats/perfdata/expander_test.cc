// SPDX-License-Identifier: Apache-2.0
// Tests records inside COMPRESSED ones, as the cursor delivers them.
#include "formats/perfdata/expander.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/perfdata/record_cursor.h"
#include "formats/perfdata/rounds.h"
#include "tests/support/compressed.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::HasSubstr;
using Buffer = std::vector<std::byte>;

// Returns a file whose samples have the addresses 0, 1, 2, …, and times in no order.
PerfDataBuilder Samples(std::uint64_t count) {
  PerfDataBuilder file;
  file.AddEvent();
  for (std::uint64_t i = 0; i < count; ++i) {
    file.AddSample({.ip = i, .time = 1 + (i ^ 1), .callchain = {kContextUser, i, i * i}});
  }
  return file;
}

struct Read {
  std::vector<std::uint64_t> ips;
  std::size_t compressed = 0;
  std::string error;
};

Read ReadAll(Bytes records, const SampleFormat& format) {
  Read read;
  RecordCursor cursor(records, 0, std::endian::native);
  while (true) {
    const auto next = cursor.Next();
    if (!next) read.error = next.error().message;
    if (!next || !*next) return read;
    if ((*next)->type == RecordType::kSample) {
      read.ips.push_back(DecodeSample(**next, format).value().ip);
    } else {
      ++read.compressed;
    }
  }
}

std::vector<std::uint64_t> FromTo(std::uint64_t from, std::uint64_t to) {
  std::vector<std::uint64_t> numbers;
  for (; from < to; ++from) numbers.push_back(from);
  return numbers;
}

TEST(Expander, DeliversTheRecordsInsideBehindTheCompressedOne) {
  const PerfDataBuilder file = Samples(40);
  const Buffer compressed = CompressedRecords(file.records(), 60'000);
  const Read read = ReadAll(compressed, file.format(0));
  EXPECT_EQ(read.ips, FromTo(0, 40));
  EXPECT_EQ(read.compressed, 1u);
  EXPECT_EQ(read.error, "");
}

TEST(Expander, PutsRecordsTogetherThatStraddleAnyNumberOfPieces) {
  const PerfDataBuilder file = Samples(40);
  for (const std::size_t piece : {1, 2, 7, 50, 333}) {
    const Read read = ReadAll(CompressedRecords(file.records(), piece), file.format(0));
    EXPECT_EQ(read.ips, FromTo(0, 40)) << piece;
    EXPECT_EQ(read.error, "") << piece;
  }
}

TEST(Expander, ReadsCompressed2WithItsPadding) {
  const PerfDataBuilder file = Samples(5);
  const Buffer frame = ZstdFrame(file.records());
  Buffer record;
  ByteWriter at(record);
  const std::size_t padded = (frame.size() + 7) / 8 * 8;
  at.Fixed(RecordType::kCompressed2);
  at.Fixed(std::uint16_t{0});
  at.Fixed(static_cast<std::uint16_t>(16 + padded));
  at.Fixed(std::uint64_t{frame.size()});
  at.Blob(frame, padded);
  EXPECT_EQ(ReadAll(record, file.format(0)).ips, FromTo(0, 5));
  for (std::size_t i = 8; i < 16; ++i) record[i] = std::byte{0xff};
  EXPECT_THAT(ReadAll(record, file.format(0)).error, HasSubstr("COMPRESSED2"));
}

TEST(Expander, ReportsTheOffsetOfACompressedRecord) {
  const PerfDataBuilder file = Samples(2);
  const Buffer compressed = CompressedRecords(file.records(), 60'000);
  RecordCursor cursor(compressed, 0x1000, std::endian::native);
  ASSERT_THAT(cursor.Next(), HasRecord(RecordType::kCompressed));
  EXPECT_EQ(PositionOf(*cursor.Next().value()), "0x1000+0x0");
  EXPECT_EQ(PositionOf(*cursor.Next().value()),
            fmt::format("0x1000+{:#x}", file.records().size() / 2));
}

TEST(Expander, DeliversAllBeforeADamagedPieceAndGoesOnAtTheNextFrame) {
  const PerfDataBuilder file = Samples(20);
  const Bytes half = file.records().first(file.records().size() / 2);
  Buffer good = CompressedRecords(half, 60'000);
  Buffer broken = good;
  broken[sizeof(RecordHeader)] ^= std::byte{1};  // in the magic of the frame
  Buffer records = good;
  records.insert(records.end(), broken.begin(), broken.end());
  records.insert(records.end(), good.begin(), good.end());
  const Read read = ReadAll(records, file.format(0));
  std::vector<std::uint64_t> twice = FromTo(0, 10);
  twice.insert(twice.end(), twice.begin(), twice.begin() + 10);
  EXPECT_EQ(read.ips, twice);
  EXPECT_THAT(read.error, HasSubstr(fmt::format("record at {:#x}", good.size())));
}

TEST(Expander, ReportsAnIncompleteRecord) {
  const PerfDataBuilder file = Samples(3);
  const Bytes cut = file.records().first(file.records().size() - 8);
  const Read read = ReadAll(CompressedRecords(cut, 60'000), file.format(0));
  EXPECT_EQ(read.ips, FromTo(0, 2));
  EXPECT_THAT(read.error, HasSubstr("not a whole record"));
}

TEST(Expander, StopsAtARecordOfNoSizeWithoutExpandingTheRest) {
  const Buffer zeros(std::size_t{30} << 20);
  const Read read = ReadAll(CompressedRecords(zeros, 60'000), SampleFormat{});
  EXPECT_THAT(read.error, HasSubstr("size 0 is less"));
}

TEST(Expander, RefusesABombOfRecords) {
  // More than a COMPRESSED record may expand to, in records of minimum size.
  Buffer rounds(Expander::kMostExpanded + (1 << 20));
  const RecordHeader round{RecordType::kFinishedRound, 0, sizeof(RecordHeader)};
  for (std::size_t at = 0; at < rounds.size(); at += sizeof round) {
    std::memcpy(rounds.data() + at, &round, sizeof round);
  }
  const Read read = ReadAll(CompressedRecords(rounds, 60'000), SampleFormat{});
  EXPECT_THAT(read.error, HasSubstr("expands to more than"));
}

TEST(ExpansionBudget, RefusesWhatGrowsAThousandfoldAndIsLarge) {
  constexpr std::uint64_t kMegabyte = 1 << 20;
  ExpansionBudget budget;
  budget.AddCompressed(1000);
  EXPECT_TRUE(budget.Allows(100 * kMegabyte));   // the same again is allowed
  EXPECT_FALSE(budget.Allows(100 * kMegabyte));  // perf writes no kilobyte that expands to 200 MB
  budget.AddCompressed(kMegabyte);
  EXPECT_TRUE(budget.Allows(100 * kMegabyte));  // allowed, because more compressed bytes came
}

TEST(Expander, RefusesManyFramesThatAreEachBelowTheLimit) {
  // Frames of 60 MB, in records of minimum size.
  Buffer rounds(std::size_t{60} << 20);
  const RecordHeader round{RecordType::kFinishedRound, 0, sizeof(RecordHeader)};
  for (std::size_t at = 0; at < rounds.size(); at += sizeof round) {
    std::memcpy(rounds.data() + at, &round, sizeof round);
  }
  const Buffer frame = CompressedRecords(rounds, 60'000);
  Buffer records;
  for (int i = 0; i < 4; ++i) records.insert(records.end(), frame.begin(), frame.end());
  RecordCursor cursor(records, 0, std::endian::native);
  std::uint64_t delivered = 0;
  Result<std::optional<RecordView>> record = cursor.Next();
  for (; record && *record; record = cursor.Next()) ++delivered;
  EXPECT_THAT(record, FailsWith(ErrorCode::kCorrupt, HasSubstr("more than 1000 times their size")));
  EXPECT_LT(delivered, 3 * rounds.size() / sizeof round);
}

TEST(Expander, KeepsRecordsThatWaitForTheirTurn) {
  PerfDataBuilder file = Samples(1000);
  const Buffer compressed = CompressedRecords(file.records(), 500);
  const Reader reader = file.Open();
  InTimeOrder cursor(RecordCursor(compressed, 0, std::endian::native), reader.events());
  std::vector<std::uint64_t> times;
  while (const auto record = cursor.Next().value()) {
    if (record->type != RecordType::kSample) continue;
    const Sample sample = DecodeSample(*record, file.format(0)).value();
    times.push_back(sample.time);
    EXPECT_EQ(sample.time, 1 + (sample.ip ^ 1));
    EXPECT_EQ(sample.callchain[2], sample.ip * sample.ip);
  }
  EXPECT_EQ(times, FromTo(1, 1001));
}

}  // namespace
}  // namespace perftape::perfdata
