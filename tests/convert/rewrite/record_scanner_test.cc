// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_scanner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/rewrite/recovered.h"

namespace perftape::rewrite {
namespace {

using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = Step::Kind;
using Window = RecordScanner::Window;

class RecordScannerTest : public testing::Test {
 protected:
  RecordScannerTest() { builder_.AddEvent(); }

  void AddSamples(std::uint64_t time, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      builder_.AddSample({.ip = 0x400000, .pid = 7, .tid = 7, .time = time + i});
    }
  }
  // Adds a record of an unknown type; its body is text.
  void AddForeign(std::uint16_t size, std::uint32_t type = 32775) {
    builder_.AddHeaderOnly({.type = RecordType{type}, .size = size});
    AddText(std::string(size - std::size_t{8}, 'x'));
  }
  void AddText(std::string_view text) { builder_.AddRaw(AsBytes(text)); }
  RecordScanner Scanner() {
    events_ = builder_.Open().events();
    return {events_, std::endian::native};
  }
  Recovered Run() {
    events_ = builder_.Open().events();
    return Walk(builder_.records(), events_);
  }

  PerfDataBuilder builder_;
  perfdata::EventTable events_;
};

TEST_F(RecordScannerTest, FindsTheNextRecordAtAnyOffset) {
  for (std::size_t length = 1; length < 32; ++length) {
    PerfDataBuilder fresh;
    fresh.AddEvent();
    builder_ = std::move(fresh);
    AddSamples(1000, 2);
    AddText(std::string(length, 'x'));
    AddSamples(1002, 4);
    const Recovered recovered = Run();
    EXPECT_EQ(recovered.records.size(), 6U) << length;
    ASSERT_EQ(recovered.dropped.size(), 1U) << length;
    EXPECT_EQ(recovered.dropped[0].size, length);
  }
}

TEST_F(RecordScannerTest, AsksForMoreWhereARecordIsNotWhole) {
  AddSamples(1000, 1);
  RecordScanner scanner = Scanner();
  for (std::size_t size = 1; size < builder_.records().size(); ++size) {
    const Step step = scanner.Next(builder_.records().first(size), Window::kMoreFollows);
    EXPECT_EQ(step.kind, Kind::kMore) << size;
  }
  EXPECT_EQ(scanner.Next(builder_.records(), Window::kMoreFollows).kind, Kind::kRecord);
}

TEST_F(RecordScannerTest, FindsTheSameInAWindow) {
  AddSamples(1000, 3);
  AddText(std::string(RecordScanner::kLongestWindow * 2, 'x'));
  AddSamples(1003, 3);
  const Recovered whole = Run();
  RecordScanner scanner = Scanner();
  Records records;
  for (Bytes left = builder_.records(); !left.empty();) {
    const Bytes window = left.first(std::min(left.size(), RecordScanner::kLongestWindow));
    const bool is_last = window.size() == left.size();
    const Step step = scanner.Next(window, is_last ? Window::kAll : Window::kMoreFollows);
    ASSERT_NE(step.kind, Kind::kMore);
    ASSERT_GT(step.size, 0U);
    if (step.kind == Kind::kRecord) records.emplace_back(AsText(window.first(step.size)));
    left = left.subspan(step.size);
  }
  EXPECT_EQ(records, whole.records);
  EXPECT_EQ(records.size(), 6U);
}

TEST_F(RecordScannerTest, RejectsARecordADayFromItsNeighbour) {
  AddSamples(1000, 2);
  AddText("xxxxxxxx");
  AddSamples(std::uint64_t{1} << 60, 1);
  const Recovered recovered = Run();
  EXPECT_EQ(recovered.records.size(), 2U);
}

TEST_F(RecordScannerTest, AcceptsOneTimedRecordBetweenTwoGaps) {
  AddSamples(1000, 2);
  AddText("xxxxxxxx");
  AddSamples(1002, 1);
  AddText("xxxxxxxxx");
  AddSamples(1003, 4);
  EXPECT_EQ(Run().records.size(), 7U);
}

TEST_F(RecordScannerTest, FindsNoRecordsInsideAGoodOne) {
  PerfDataBuilder inner;
  inner.AddEvent();
  for (std::uint64_t i = 0; i < 5; ++i) inner.AddSample({.ip = 1, .pid = 7, .time = 1000 + i});
  const WordArray words(inner.records(), std::endian::native);
  AddSamples(1000, 1);
  builder_.AddSample({.ip = 1, .pid = 7, .time = 1001, .callchain = {words.begin(), words.end()}});
  AddSamples(1002, 1);
  const Recovered recovered = Run();
  EXPECT_EQ(recovered.records.size(), 3U);
  EXPECT_THAT(recovered.dropped, IsEmpty());
}

TEST_F(RecordScannerTest, StepsOverAnyNumberOfRecordsOfUnknownTypeAnywhere) {
  for (const std::size_t count : {1U, 2U, 3U, 40U}) {
    for (std::size_t before = 0; before <= 5; ++before) {
      PerfDataBuilder fresh;
      fresh.AddEvent();
      builder_ = std::move(fresh);
      AddSamples(1000, before);
      for (std::size_t i = 0; i < count; ++i) AddForeign(static_cast<std::uint16_t>(8 + 12 * i));
      AddSamples(1010, 5 - before);
      const Records all = RecordsOf(builder_.records());
      const Recovered recovered = Run();
      EXPECT_EQ(recovered.records, all) << count << " behind " << before;
      EXPECT_THAT(recovered.dropped, IsEmpty());
    }
  }
}

// As in recordings of simpleperf, whose unwinder adds a record after each sample.
TEST_F(RecordScannerTest, StepsOverRecordsOfUnknownTypeBetweenAllSamples) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    AddSamples(1000 + i, 1);
    AddForeign(80, 32774);
    AddForeign(64, 32775);
  }
  const Recovered recovered = Run();
  EXPECT_EQ(recovered.records.size(), 60U);
  EXPECT_THAT(recovered.dropped, IsEmpty());
}

TEST_F(RecordScannerTest, DropsOnlyTheDamagedRecordAmongThoseOfUnknownType) {
  AddSamples(1000, 2);
  AddForeign(24);
  const std::size_t at = builder_.records().size();
  builder_.AddHeaderOnly({.type = RecordType::kComm, .size = 16});  // too short
  AddText("xxxxxxxx");
  AddForeign(24);
  AddForeign(40);
  AddSamples(1002, 3);
  const Recovered recovered = Run();
  EXPECT_EQ(recovered.records.size(), 8U);
  ASSERT_EQ(recovered.dropped.size(), 1U);
  EXPECT_EQ(recovered.dropped[0].position.offset, at);
  EXPECT_EQ(recovered.dropped[0].size, 16U);
}

// A size that does not lead to a record is damage, whatever the type.
TEST_F(RecordScannerTest, FindsTheNextRecordAfterAWrongSize) {
  AddSamples(1000, 2);
  builder_.AddHeaderOnly({.type = RecordType{32775}, .size = 80});
  AddText(std::string(56, 'x'));
  AddSamples(1002, 4);
  const Recovered recovered = Run();
  EXPECT_EQ(recovered.records.size(), 6U);
  ASSERT_EQ(recovered.dropped.size(), 1U);
  EXPECT_EQ(recovered.dropped[0].size, 64U);
}

// A record with bytes left over is kept or dropped because of its contents, not because of what
// follows. So the same file without the dropped records gives the same records. Here the bytes left
// over would be the header of a sample, if the next record were its body.
TEST_F(RecordScannerTest, JudgesALooseRecordAlikeAtAnyOffset) {
  constexpr std::uint64_t kHeader = 9 | std::uint64_t{2} << 32 | std::uint64_t{72} << 48;
  builder_.AddSample({.ip = 1, .pid = 7, .tid = 7, .time = 1000, .callchain = {kHeader}});
  std::vector<std::byte> loose(builder_.records().begin(), builder_.records().end());
  loose[loose.size() - 16] = std::byte{0};  // the number of frames
  PerfDataBuilder fresh;
  fresh.AddEvent();
  builder_ = std::move(fresh);
  builder_.AddRaw(loose);
  AddText("xxxxxxxx");
  AddSamples(1001, 3);
  const Recovered first = Run();
  EXPECT_EQ(first.records.size(), 4U);
  std::string joined;
  for (const std::string& record : first.records) joined += record;
  EXPECT_EQ(Walk(AsBytes(joined), events_).records, first.records);
}

// A known type and a fitting size at every eighth byte: each offset must be tried.
TEST_F(RecordScannerTest, EndsOnManyHeadersThatLeadNowhere) {
  for (const RecordType type : {RecordType::kComm, RecordType::kSample, RecordType::kMmap2,
                                RecordType::kHeaderAttr, RecordType::kAuxtrace}) {
    PerfDataBuilder fresh;
    fresh.AddEvent();
    builder_ = std::move(fresh);
    for (int i = 0; i < 20000; ++i) builder_.AddHeaderOnly({.type = type, .size = 65528});
    const Recovered recovered = Run();
    std::uint64_t size = 0;
    for (const Stretch& stretch : recovered.dropped) size += stretch.size;
    for (const std::string& record : recovered.records) size += record.size();
    EXPECT_EQ(size, builder_.records().size());
  }
}

}  // namespace
}  // namespace perftape::rewrite
