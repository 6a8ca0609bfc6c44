// SPDX-License-Identifier: Apache-2.0
#include "formats/base/zstd.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/support/matchers.h"
#include "tests/support/zstd_frame.h"

namespace perftape {
namespace {

using testing::HasSubstr;
using Buffer = std::vector<std::byte>;

Buffer Noise(std::size_t size) {
  std::mt19937 random(size);
  Buffer noise(size);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  return noise;
}

// Expands all of `compressed` in steps of `step` bytes.
Buffer Expanded(Bytes compressed, std::size_t step = 4096) {
  ZstdDecompressor decompressor;
  Buffer expanded;
  while (true) {
    Buffer room(step);
    const std::size_t made = decompressor.Expand(compressed, room).value();
    expanded.insert(expanded.end(), room.begin(), room.begin() + std::ptrdiff_t(made));
    if (made < step) return expanded;
  }
}

TEST(Zstd, ExpandsToWhatWasCompressed) {
  const Buffer input = Noise(300'000);
  const Buffer compressed = ZstdFrame(input);
  EXPECT_EQ(Expanded(compressed), input);
  EXPECT_EQ(Expanded(compressed, 7), input);
}

TEST(Zstd, OutputsAllInputAtAFlush) {
  const Buffer first = Noise(1000), second = Noise(2000);
  Buffer compressed;
  ZstdCompressor compressor = ZstdCompressor::Create(1).value();
  ASSERT_THAT(compressor.Compress(first, compressed), IsOk());
  ASSERT_THAT(compressor.Flush(compressed), IsOk());
  EXPECT_EQ(Expanded(compressed), first);

  ASSERT_THAT(compressor.Compress(second, compressed), IsOk());
  ASSERT_THAT(compressor.Flush(compressed), IsOk());
  Buffer both = first;
  both.insert(both.end(), second.begin(), second.end());
  EXPECT_EQ(Expanded(compressed), both);
}

TEST(Zstd, ExpandsAStreamInTwoPieces) {
  const Buffer input = Noise(3000);
  const Buffer compressed = ZstdFrame(input);
  for (std::size_t cut = 0; cut <= compressed.size(); ++cut) {
    ZstdDecompressor decompressor;
    Buffer room(input.size());
    Bytes head = Bytes(compressed).first(cut), tail = Bytes(compressed).subspan(cut);
    const Result<std::size_t> before = decompressor.Expand(head, room);
    ASSERT_THAT(before, IsOk()) << "cut at " << cut;
    const Result<std::size_t> after = decompressor.Expand(tail, std::span(room).subspan(*before));
    ASSERT_THAT(after, IsOk()) << "cut at " << cut;
    EXPECT_EQ(*before + *after, input.size());
    EXPECT_EQ(room, input);
  }
}

TEST(Zstd, ReportsADamagedStream) {
  Buffer compressed = ZstdFrame(Noise(3000));
  compressed[0] ^= std::byte{1};
  ZstdDecompressor decompressor;
  Buffer room(4096);
  Bytes input = compressed;
  EXPECT_THAT(decompressor.Expand(input, room), FailsWith(ErrorCode::kCorrupt, HasSubstr("zstd")));
}

TEST(Zstd, BeginsANewFrameAfterARestart) {
  const Buffer text = Noise(100);
  const Buffer compressed = ZstdFrame(text);
  ZstdDecompressor decompressor;
  Buffer room(4096);
  const Buffer junk(50, std::byte{0xaa});
  Bytes input = junk;
  ASSERT_FALSE(decompressor.Expand(input, room));
  decompressor.Restart();
  input = compressed;
  EXPECT_EQ(decompressor.Expand(input, room).value(), text.size());
}

TEST(Zstd, AcceptsOnlyLevels1To22) {
  EXPECT_THAT(ZstdCompressor::Create(22), IsOk());
  EXPECT_THAT(ZstdCompressor::Create(0), FailsWith(ErrorCode::kInvalidArgument, HasSubstr("0")));
  EXPECT_THAT(ZstdCompressor::Create(23), FailsWith(ErrorCode::kInvalidArgument, HasSubstr("23")));
}

}  // namespace
}  // namespace perftape
