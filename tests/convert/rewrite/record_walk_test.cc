// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/record_walk.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/rewrite/recovered.h"
#include "tests/support/compressed.h"

namespace perftape::rewrite {
namespace {

using perfdata::CompressedRecord;
using perfdata::CompressedRecords;
using perfdata::PerfDataBuilder;
using perfdata::RecordType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

void Append(const std::vector<std::byte>& bytes, std::vector<std::byte>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

class RecordWalkTest : public testing::Test {
 protected:
  // Returns `count` samples, the first at this time.
  std::vector<std::byte> Samples(std::uint64_t time, std::size_t count) const {
    PerfDataBuilder builder;
    builder.AddEvent();
    for (std::size_t i = 0; i < count; ++i) {
      builder.AddSample({.ip = 0x400000 + i, .pid = 7, .tid = 7, .time = time + i});
    }
    return {builder.records().begin(), builder.records().end()};
  }

  perfdata::EventTable Events() {
    builder_.AddEvent();
    return builder_.Open().events();
  }

  PerfDataBuilder builder_;
  perfdata::EventTable events_ = Events();
};

TEST_F(RecordWalkTest, FindsRecordsAcrossSeveralCompressedOnes) {
  const std::vector<std::byte> samples = Samples(1000, 100);
  const Recovered recovered = Walk(CompressedRecords(samples, 50), events_);
  EXPECT_EQ(recovered.records, RecordsOf(samples));
  EXPECT_THAT(recovered.dropped, IsEmpty());
}

// More than one buffer of the decompressor.
TEST_F(RecordWalkTest, FindsRecordsOfWhichMoreAreInsideThanFitAtOnce) {
  const std::vector<std::byte> samples = Samples(1000, 20000);
  const Recovered recovered = Walk(CompressedRecords(samples, 60000), events_);
  EXPECT_EQ(recovered.records, RecordsOf(samples));
}

TEST_F(RecordWalkTest, VisitsWhatIsInsideBeforeWhatFollows) {
  std::vector<std::byte> stream = CompressedRecords(Samples(1000, 3), 5000);
  Append(Samples(2000, 1), stream);
  Records expected = RecordsOf(Samples(1000, 3));
  expected.push_back(RecordsOf(Samples(2000, 1)).front());
  EXPECT_EQ(Walk(stream, events_).records, expected);
}

TEST_F(RecordWalkTest, ContinuesAtTheFrameAfterADamagedOne) {
  const std::vector<std::byte> first = Samples(1000, 50), second = Samples(2000, 50);
  std::vector<std::byte> stream = CompressedRecords(first, 100000);
  stream[8] ^= std::byte{0xff};  // the frame's magic
  const std::size_t damaged_size = stream.size();
  Append(CompressedRecords(second, 100000), stream);
  const Recovered recovered = Walk(stream, events_, 0x100);
  EXPECT_EQ(recovered.records, RecordsOf(second));
  ASSERT_THAT(recovered.dropped, SizeIs(1));
  EXPECT_EQ(recovered.dropped[0].position.offset, 0x100U);
  EXPECT_EQ(recovered.dropped[0].size, damaged_size - 8);
  EXPECT_THAT(recovered.dropped[0].reason, HasSubstr("zstd"));
}

TEST_F(RecordWalkTest, KeepsWhatWasExpandedBeforeTheDamage) {
  const std::vector<std::byte> samples = Samples(1000, 50);
  ZstdCompressor compressor = ZstdCompressor::Create(1).value();
  std::vector<std::byte> piece;
  ASSERT_TRUE(compressor.Compress(samples, piece));
  ASSERT_TRUE(compressor.Flush(piece));
  std::vector<std::byte> stream = CompressedRecord(piece);
  Append(CompressedRecord(std::vector<std::byte>(100, std::byte{0xff})), stream);
  const Recovered recovered = Walk(stream, events_);
  EXPECT_EQ(recovered.records, RecordsOf(samples));
  EXPECT_THAT(recovered.dropped, SizeIs(1));
}

TEST_F(RecordWalkTest, ExpandsARecordThatLostItsType) {
  const std::vector<std::byte> samples = Samples(1000, 50);
  std::vector<std::byte> stream = CompressedRecords(samples, 100);
  stream[0] = std::byte{68};  // FINISHED_ROUND, which has no body
  const Recovered recovered = Walk(stream, events_);
  EXPECT_EQ(recovered.records, RecordsOf(samples));
  EXPECT_THAT(recovered.guesses, ElementsAre(HasSubstr("is read as COMPRESSED")));
}

TEST_F(RecordWalkTest, StopsAtAFrameOfZeros) {
  const std::vector<std::byte> zeros(std::size_t{64} << 20);
  std::vector<std::byte> stream = CompressedRecords(zeros, 60000);
  ASSERT_LT(stream.size(), std::size_t{60000});
  Append(Samples(1000, 3), stream);
  const Recovered recovered = Walk(stream, events_);
  EXPECT_EQ(recovered.records, RecordsOf(Samples(1000, 3)));
}

TEST_F(RecordWalkTest, StopsAtSamplesThatExpandAThousandfold) {
  // The same sample again and again: a second frame of it is more than any recorder writes.
  const std::vector<std::byte> sample = Samples(1000, 1);
  std::vector<std::byte> samples;
  while (samples.size() < std::size_t{100} << 20) Append(sample, samples);
  const std::vector<std::byte> frame = CompressedRecords(samples, 60000);
  ASSERT_LT(frame.size(), samples.size() / 1000);
  std::vector<std::byte> stream = frame;
  Append(frame, stream);
  std::uint64_t found = 0;
  std::string reason;
  const RecordVisitor visitor = {
      .record = [&](const FoundRecord&) -> Result<Onward> {
        ++found;
        return Onward::kGoOn;
      },
      .dropped = [&](const Stretch& dropped) { reason = dropped.reason; },
      .guessed = [](const std::string&) {}};
  ASSERT_TRUE(RecordWalk(events_, std::endian::native, visitor).Run(stream, 0));
  EXPECT_LT(found, 2 * samples.size() / sample.size());
  EXPECT_THAT(reason, HasSubstr("thousand times"));
}

TEST_F(RecordWalkTest, DropsACompressedRecordInsideAnother) {
  std::vector<std::byte> inside = Samples(1000, 3);
  Append(CompressedRecords(Samples(1003, 3), 100000), inside);
  Append(Samples(1006, 1), inside);
  const Recovered recovered = Walk(CompressedRecords(inside, 100000), events_);
  EXPECT_THAT(recovered.records, SizeIs(4));
  ASSERT_THAT(recovered.dropped, SizeIs(1));
  EXPECT_EQ(recovered.dropped[0].reason, "compressed inside a COMPRESSED record");
}

TEST_F(RecordWalkTest, ReportsTheOffsetOfDamageInCompressedRecords) {
  std::vector<std::byte> inside = Samples(1000, 3);
  const std::size_t at = inside.size();
  inside.resize(at + 8);  // a header of zeros
  Append(Samples(1003, 3), inside);
  const Recovered recovered = Walk(CompressedRecords(inside, 100000), events_, 0x40);
  EXPECT_THAT(recovered.records, SizeIs(6));
  ASSERT_THAT(recovered.dropped, SizeIs(1));
  EXPECT_EQ(TextOf(recovered.dropped[0].position), fmt::format("0x40+{:#x}", at));
}

TEST_F(RecordWalkTest, PassesOnTheBytesOfATrace) {
  std::vector<std::byte> stream;
  ByteWriter at(stream);
  at.Fixed(RecordType::kAuxtrace);
  at.Fixed(std::uint16_t{0});
  at.Fixed(std::uint16_t{48});
  at.Fixed(std::uint64_t{24});
  at.Padding(32);
  at.Blob(std::vector<std::byte>(24, std::byte{7}), 24);
  Append(Samples(1000, 1), stream);
  std::size_t behind = 0;
  const RecordVisitor visitor = {.record = [&](const FoundRecord& found) -> Result<Onward> {
                                   behind += found.view.appended.size();
                                   return Onward::kGoOn;
                                 },
                                 .dropped = [](const Stretch&) {},
                                 .guessed = [](const std::string&) {}};
  ASSERT_TRUE(RecordWalk(events_, std::endian::native, visitor).Run(stream, 0));
  EXPECT_EQ(behind, 24U);
}

TEST_F(RecordWalkTest, StopsIfTheVisitorStops) {
  std::size_t seen = 0;
  const RecordVisitor visitor = {.record = [&](const FoundRecord&) -> Result<Onward> {
                                   return ++seen < 2 ? Onward::kGoOn : Onward::kStop;
                                 },
                                 .dropped = [](const Stretch&) {},
                                 .guessed = [](const std::string&) {}};
  ASSERT_TRUE(RecordWalk(events_, std::endian::native, visitor).Run(Samples(1000, 5), 0));
  EXPECT_EQ(seen, 2U);
}

}  // namespace
}  // namespace perftape::rewrite
