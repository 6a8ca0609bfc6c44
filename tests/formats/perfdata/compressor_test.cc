// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/compressor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "formats/base/zstd.h"
#include "formats/perfdata/record_cursor.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Le;

// Returns bytes that zstd cannot compress.
std::vector<std::byte> Noise(std::size_t size) {
  std::mt19937 random(1);
  std::vector<std::byte> noise(size);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  return noise;
}

RecordCompressor MustCreate(int level = 1) {
  return RecordCompressor::Create(level).value();
}

// Expands each COMPRESSED record, after those before it.
std::vector<std::vector<std::byte>> ExpandEach(Bytes records) {
  std::vector<std::vector<std::byte>> expanded;
  ZstdDecompressor zstd;
  RecordCursor cursor(records, 0, std::endian::native, Compressed::kStepOver);
  while (const std::optional<RecordView> record = cursor.Next().value()) {
    EXPECT_EQ(record->type, RecordType::kCompressed);
    std::vector<std::byte> room(std::size_t{1} << 20);
    Bytes left = record->payload;
    room.resize(zstd.Expand(left, room).value());
    expanded.push_back(std::move(room));
  }
  return expanded;
}

std::vector<std::byte> Joined(const std::vector<std::vector<std::byte>>& pieces) {
  std::vector<std::byte> all;
  for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

TEST(RecordCompressor, EachFlushCanBeReadWithoutWhatFollows) {
  RecordCompressor compressor = MustCreate();
  std::vector<std::byte> out;
  ASSERT_THAT(compressor.Append(AsBytes("first"), out), IsOk());
  EXPECT_THAT(out, IsEmpty());
  ASSERT_THAT(compressor.Flush(out), IsOk());
  EXPECT_EQ(AsText(Joined(ExpandEach(out))), "first");
  ASSERT_THAT(compressor.Append(AsBytes(" and second"), out), IsOk());
  ASSERT_THAT(compressor.Flush(out), IsOk());
  EXPECT_EQ(AsText(Joined(ExpandEach(out))), "first and second");
}

TEST(RecordCompressor, FlushesNothingWhereNothingWaits) {
  RecordCompressor compressor = MustCreate();
  std::vector<std::byte> out;
  ASSERT_THAT(compressor.Flush(out), IsOk());
  EXPECT_THAT(out, IsEmpty());
}

// perf gives each record a buffer of that size, and reports one that expands to nothing as damaged.
TEST(RecordCompressor, LimitsTheExpandedSizeOfEachRecord) {
  for (const int level : {1, 22}) {
    RecordCompressor compressor = MustCreate(level);
    std::vector<std::byte> out;
    const std::vector<std::byte> noise = Noise(300'000);
    const std::vector<std::byte> zeros(300'000);
    for (const auto& bytes : {noise, zeros, noise}) {
      ASSERT_THAT(compressor.Append(bytes, out), IsOk());
    }
    ASSERT_THAT(compressor.Flush(out), IsOk());
    const auto expanded = ExpandEach(out);
    EXPECT_THAT(expanded, Each(testing::SizeIs(testing::AllOf(
                              testing::Gt(0U), Le(RecordCompressor::kMostExpanded)))));
    EXPECT_EQ(Joined(expanded), Joined({noise, zeros, noise}));
  }
}

TEST(RecordCompressor, EveryRecordIsAMultipleOfAWord) {
  RecordCompressor compressor = MustCreate();
  std::vector<std::byte> out;
  std::vector<std::byte> all;
  for (std::size_t size = 1; size < 100; ++size) {
    const std::vector<std::byte> noise = Noise(size);
    ASSERT_THAT(compressor.Append(noise, out), IsOk());
    ASSERT_THAT(compressor.Flush(out), IsOk());
    EXPECT_EQ(out.size() % 8, 0U) << size;
    all.insert(all.end(), noise.begin(), noise.end());
  }
  EXPECT_EQ(Joined(ExpandEach(out)), all);
}

TEST(RecordCompressor, ReportsTheFieldsOfTheFeatureCompressed) {
  RecordCompressor compressor = MustCreate(3);
  std::vector<std::byte> out;
  ASSERT_THAT(compressor.Append(std::vector<std::byte>(10'000), out), IsOk());
  ASSERT_THAT(compressor.Flush(out), IsOk());
  const std::vector<std::byte> payload = compressor.FeaturePayload();
  std::array<std::uint32_t, 5> fields = {};
  ByteReader at(payload);
  for (std::uint32_t& field : fields) at.Fixed(field);
  EXPECT_TRUE(at.ok());
  EXPECT_EQ(at.remaining(), 0U);
  const auto ratio = static_cast<std::uint32_t>(10'000 / out.size());
  EXPECT_THAT(fields, ElementsAre(0, 1, 3, ratio, RecordCompressor::kMostExpanded));
}

TEST(RecordCompressor, NeedsALevelThatZstdHas) {
  EXPECT_THAT(RecordCompressor::Create(0), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(RecordCompressor::Create(23), FailsWith(ErrorCode::kInvalidArgument));
}

}  // namespace
}  // namespace perftape::perfdata
