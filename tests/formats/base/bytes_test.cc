// SPDX-License-Identifier: Apache-2.0
#include "formats/base/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace perftape {
namespace {

using testing::ElementsAre;

constexpr auto kBig = std::endian::big;
constexpr auto kLittle = std::endian::little;

std::vector<std::byte> Owned(std::initializer_list<unsigned> values) {
  std::vector<std::byte> bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(ByteReader, ReadsFieldsOneBehindTheOther) {
  const auto bytes = Owned({0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07});
  ByteReader at(bytes, kLittle);
  std::uint8_t byte = 0;
  std::uint16_t half = 0;
  std::uint32_t word = 0;
  at.Fixed(byte);
  at.Fixed(half);
  at.Fixed(word);
  EXPECT_EQ(byte, 0x01);
  EXPECT_EQ(half, 0x0302);
  EXPECT_EQ(word, 0x07060504U);
  EXPECT_TRUE(at.ok());
  EXPECT_EQ(at.remaining(), 0U);
}

TEST(ByteReader, ReadsTheOtherByteOrder) {
  const auto bytes = Owned({0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xff, 0xfe});
  ByteReader at(bytes, kBig);
  std::uint64_t word = 0;
  std::int16_t half = 0;
  at.Fixed(word);
  at.Fixed(half);
  EXPECT_EQ(word, 0x0102030405060708U);
  EXPECT_EQ(half, -2);
}

TEST(ByteReader, FailsForGoodAtTheFirstReadPastTheEnd) {
  const auto bytes = Owned({0x11, 0x22, 0x33});
  ByteReader at(bytes, kLittle);
  std::uint32_t word = 7;
  std::uint8_t byte = 7;
  at.Fixed(word);
  EXPECT_EQ(word, 0U);
  EXPECT_FALSE(at.ok());
  at.Fixed(byte);  // would have fitted
  EXPECT_EQ(byte, 0);
  EXPECT_FALSE(at.ok());
}

TEST(ByteReader, ReadsNothingOfWordsWhoseSizeWouldWrapAround) {
  const auto bytes = Owned({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  // 2^61 words are 2^64 bytes, which is 0.
  for (const std::uint64_t count :
       {std::uint64_t{3}, std::uint64_t{1} << 61, std::numeric_limits<std::uint64_t>::max()}) {
    ByteReader at(bytes);
    WordArray words;
    at.Words(words, count);
    EXPECT_FALSE(at.ok()) << count;
    EXPECT_TRUE(words.empty()) << count;
  }
}

TEST(ByteReader, AcceptsACountOfEntriesThatAreThere) {
  const auto bytes = Owned({2, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44});
  ByteReader at(bytes, kLittle);
  std::uint64_t count = 0;
  at.Count(count, 2);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(at.remaining(), 4U);
}

TEST(ByteReader, FailsAtACountOfMoreEntriesThanThereAre) {
  const auto bytes = Owned({3, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x22, 0x33, 0x44});
  ByteReader at(bytes, kLittle);
  std::uint64_t count = 0;
  at.Count(count, 2);
  EXPECT_EQ(count, 0U);
  EXPECT_FALSE(at.ok());
}

TEST(ByteReader, ReadsNothingOfABlobLargerThanWhatIsLeft) {
  const auto bytes = Owned({1, 2, 3});
  ByteReader at(bytes);
  Bytes blob;
  at.Blob(blob, std::numeric_limits<std::uint64_t>::max());
  EXPECT_FALSE(at.ok());
  EXPECT_TRUE(blob.empty());
}

TEST(ByteReader, ABlobOfAllThatIsLeftFits) {
  const auto bytes = Owned({1, 2, 3});
  ByteReader at(bytes);
  Bytes blob;
  at.Blob(blob, 3);
  EXPECT_TRUE(at.ok());
  EXPECT_EQ(blob.size(), 3U);
}

TEST(ByteReader, EndsAPaddedStringAtItsNul) {
  ByteReader at(AsBytes({"ls\0junk.next", 12}));
  std::string_view text, next;
  at.PaddedString(text, 8);
  at.PaddedString(next, 4);
  EXPECT_EQ(text, "ls");
  EXPECT_EQ(next, "next");  // no NUL: all of it
}

TEST(ByteReader, ReadsANameToTheEnd) {
  ByteReader at(AsBytes({"/bin/ls\0", 8}));
  std::string_view name;
  at.Name(name);
  EXPECT_EQ(name, "/bin/ls");
  EXPECT_EQ(at.remaining(), 0U);
  at.Name(name);
  EXPECT_EQ(name, "");
  EXPECT_TRUE(at.ok());
}

TEST(ByteReader, BreaksOnPurpose) {
  const auto bytes = Owned({1, 2, 3});
  ByteReader at(bytes);
  at.Break();
  std::uint8_t byte = 9;
  at.Fixed(byte);
  EXPECT_EQ(byte, 0);
  EXPECT_FALSE(at.ok());
}

TEST(WordArray, ReadsFromAnyAlignmentInEitherByteOrder) {
  const auto bytes = Owned({0xee, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2});
  const WordArray big(Bytes(bytes).subspan(1), kBig);
  EXPECT_THAT(std::vector(big.begin(), big.end()), ElementsAre(1, 2));
  const WordArray little(Bytes(bytes).subspan(1), kLittle);
  EXPECT_EQ(little[1], std::uint64_t{2} << 56);
}

TEST(WordArray, DoesNotSeeTheRestOfAWord) {
  const auto bytes = Owned({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0});
  const WordArray words(bytes, kLittle);
  EXPECT_THAT(std::vector(words.begin(), words.end()), ElementsAre(1));
}

TEST(ByteWriter, WritesWhatTheReaderReads) {
  std::vector<std::byte> out = Owned({0xaa});
  const std::array<std::uint64_t, 2> words = {5, 6};
  ByteWriter to(out);
  to.Fixed(std::uint16_t{0x1234});
  to.Words(WordArray(words), 2);
  to.PaddedString("abc", 8);
  to.Name("seven77");   // with its NUL exactly a word
  to.Name("eight888");  // one more
  EXPECT_EQ(to.size(), 2U + 16 + 8 + 8 + 16);

  ByteReader at(Bytes(out).subspan(1));
  std::uint16_t half = 0;
  WordArray read;
  std::string_view text, seven, eight;
  at.Fixed(half);
  at.Words(read, 2);
  at.PaddedString(text, 8);
  at.PaddedString(seven, 8);
  at.Name(eight);
  ASSERT_TRUE(at.ok());
  EXPECT_EQ(half, 0x1234);
  EXPECT_EQ(read[1], 6U);
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(seven, "seven77");
  EXPECT_EQ(eight, "eight888");
}

TEST(RoundUpToWord, KeepsWholeWords) {
  EXPECT_EQ(RoundUpToWord(0), 0U);
  EXPECT_EQ(RoundUpToWord(1), 8U);
  EXPECT_EQ(RoundUpToWord(8), 8U);
  EXPECT_EQ(RoundUpToWord(9), 16U);
}

TEST(ByteWriter, ConvertsForeignWordsToNativeOnes) {
  const auto foreign = Owned({0, 0, 0, 0, 0, 0, 0, 9});
  std::vector<std::byte> out;
  ByteWriter(out).Words(WordArray(foreign, kBig), 1);
  EXPECT_EQ(WordArray(out, std::endian::native)[0], 9U);
}

TEST(ByteWriter, LeavesRoomForTheNulOfATextThatIsTooLong) {
  std::vector<std::byte> out;
  ByteWriter(out).PaddedString("12345678", 8);
  EXPECT_EQ(AsText(out), std::string_view("1234567\0", 8));
}

TEST(ByteWriter, FillsUpWithZerosWhereLessIsThereThanAskedFor) {
  const std::array<std::uint64_t, 1> words = {5};
  std::vector<std::byte> out;
  ByteWriter to(out);
  to.Words(WordArray(words), 2);
  to.Blob(AsBytes("ab"), 8);
  const WordArray written(out, std::endian::native);
  EXPECT_THAT(std::vector(written.begin(), written.end()), ElementsAre(5, 0, 0x6261));
}

}  // namespace
}  // namespace perftape
