// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/pprof/gzip.h"
#include "tests/formats/pprof/every_field.h"
#include "tests/support/pprof_reader.h"
#include "tests/support/pprof_writer.h"

namespace perftape::pprof {
namespace {

using testing::ElementsAre;

std::string_view operator""_bytes(const char* text, std::size_t size) {
  return {text, size};
}

TEST(ReadProfile, ReadsEveryFieldBack) {
  const Profile profile = EveryField();
  const std::string encoded = Encode(profile);
  const Result<Profile> read = ReadProfile(AsBytes(encoded));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, profile);
}

TEST(ReadProfile, ReadsACompressedFileToo) {
  const Profile profile = EveryField();
  const std::string encoded = Encode(profile);
  const Result<std::vector<std::byte>> file = Gzip(AsBytes(encoded));
  ASSERT_TRUE(file);
  const Result<Profile> read = ReadProfile(*file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, profile);
}

// A prefix may consist of whole messages. Then it is a profile that lacks some of them, and never
// equals the whole.
TEST(ReadProfile, SurvivesACutAtAnyByte) {
  const std::string encoded = Encode(EveryField());
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    const Result<Profile> read = ReadProfile(AsBytes(std::string_view(encoded).substr(0, size)));
    if (read) {
      EXPECT_NE(*read, EveryField()) << size;
    } else {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << size;
    }
  }
}

TEST(ReadProfile, RefusesACompressedFileCutAtAnyByte) {
  const std::string encoded = Encode(EveryField());
  const Result<std::vector<std::byte>> file = Gzip(AsBytes(encoded));
  ASSERT_TRUE(file);
  for (std::size_t size = 0; size < file->size(); ++size) {
    EXPECT_FALSE(ReadProfile(Bytes(*file).first(size))) << size;
  }
}

TEST(ReadProfile, SurvivesAnyFlippedBit) {
  std::string encoded = Encode(EveryField());
  for (std::size_t bit = 0; bit < encoded.size() * 8; ++bit) {
    const char mask = static_cast<char>(1 << (bit % 8));
    encoded[bit / 8] = static_cast<char>(encoded[bit / 8] ^ mask);
    if (const Result<Profile> read = ReadProfile(AsBytes(encoded)); !read) {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt) << bit;
    }
    encoded[bit / 8] = static_cast<char>(encoded[bit / 8] ^ mask);
  }
}

TEST(ReadProfile, RefusesWhatIsNotValid) {
  Profile profile = EveryField();
  profile.samples[0].values.pop_back();
  const std::string encoded = Encode(profile);
  EXPECT_FALSE(ReadProfile(AsBytes(encoded)));
  EXPECT_TRUE(Decode(AsBytes(encoded)));
}

TEST(ReadProfile, RefusesMoreThanItsLimit) {
  const std::string encoded = Encode(EveryField());
  EXPECT_TRUE(ReadProfile(AsBytes(encoded), {.max_size = encoded.size()}));
  EXPECT_FALSE(ReadProfile(AsBytes(encoded), {.max_size = encoded.size() - 1}));
}

TEST(ReadProfile, RefusesNothingAndOtherFiles) {
  EXPECT_FALSE(ReadProfile({}));
  EXPECT_FALSE(ReadProfile(AsBytes("main;f 1\n")));
  EXPECT_FALSE(ReadProfile(AsBytes("PERFILE2"_bytes)));
}

TEST(Decode, ReadsUnpackedFields) {
  // sample { location_id: 1, location_id: 2, value: 3 }, each with a tag of its own
  const Result<Profile> read = Decode(AsBytes("\x12\x06\x08\x01\x08\x02\x10\x03"_bytes));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->samples.size(), 1U);
  EXPECT_THAT(read->samples[0].location_ids, ElementsAre(1, 2));
  EXPECT_THAT(read->samples[0].values, ElementsAre(3));
}

TEST(Decode, JoinsPackedPieces) {
  const Result<Profile> read = Decode(AsBytes("\x12\x07\x0a\x01\x01\x0a\x02\x02\x03"_bytes));
  ASSERT_TRUE(read);
  EXPECT_THAT(read->samples[0].location_ids, ElementsAre(1, 2, 3));
}

TEST(Decode, SkipsUnknownFields) {
  // field 99 as varint, 64-bit, text and 32-bit; then period 7
  const Result<Profile> read =
      Decode(AsBytes("\x98\x06\x01"
                     "\x99\x06xxxxxxxx"
                     "\x9a\x06\x02hi"
                     "\x9d\x06yyyy"
                     "\x60\x07"_bytes));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->header.period, 7);
}

TEST(Decode, SkipsAFieldOfAnotherType) {
  // sample as a varint, period as a text, a value as 32 bits
  const Result<Profile> read =
      Decode(AsBytes("\x10\x05\x62\x01x\x12\x05\x15"
                     "abcd"_bytes));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->header.period, 0);
  ASSERT_EQ(read->samples.size(), 1U);
  EXPECT_TRUE(read->samples[0].values.empty());
}

TEST(Decode, RefusesWhatIsNoProtobuf) {
  EXPECT_FALSE(Decode(AsBytes("\x08"_bytes)));                      // a missing varint
  EXPECT_FALSE(Decode(AsBytes("\x12\xff\xff\xff\xff\x0f"_bytes)));  // a sample of 4 GiB
  EXPECT_FALSE(Decode(AsBytes("\x12\x04\x0a\x63\x01\x02"_bytes)));  // ids beyond their sample
  EXPECT_FALSE(Decode(AsBytes("\x12\x03\x0a\x01\xff"_bytes)));  // a packed varint without an end
  EXPECT_FALSE(
      Decode(AsBytes("\x60\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"_bytes)));  // too long
  EXPECT_FALSE(Decode(AsBytes("\x0b"_bytes)));                                         // a group
}

}  // namespace
}  // namespace perftape::pprof
