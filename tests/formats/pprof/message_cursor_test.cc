// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/message_cursor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/pprof/gzip.h"
#include "formats/pprof/writer.h"
#include "tests/formats/pprof/every_field.h"
#include "tests/support/pprof_writer.h"

namespace perftape::pprof {
namespace {

using testing::HasSubstr;

// Returns all messages of the cursor; empty if it fails.
template <class Message>
std::vector<Message> All(Bytes encoded) {
  std::vector<Message> messages;
  MessageCursor<Message> cursor(encoded);
  while (true) {
    const Result<const Message*> next = cursor.Next();
    if (!next) return {};
    if (*next == nullptr) return messages;
    messages.push_back(**next);
  }
}

TEST(MessageCursor, GivesWhatTheWholeProfileHas) {
  const Profile profile = EveryField();
  const std::string encoded = Encode(profile);
  const Bytes bytes = AsBytes(encoded);
  EXPECT_EQ(All<Sample>(bytes), profile.samples);
  EXPECT_EQ(All<Mapping>(bytes), profile.mappings);
  EXPECT_EQ(All<Location>(bytes), profile.locations);
  EXPECT_EQ(All<Function>(bytes), profile.functions);
  EXPECT_EQ(DecodeHeader(bytes).value(), profile.header);
  const std::vector<std::string_view> texts = DecodeTexts(bytes, 7).value();
  EXPECT_EQ(std::vector<std::string>(texts.begin(), texts.end()), profile.string_table);
}

// The writer writes a text before its first use, between the messages.
TEST(MessageCursor, FindsTablesThatAreMixed) {
  Writer writer;
  writer.Add(Function{.id = 1, .name = writer.Text("f")});
  writer.Add(Sample{.values = {1}});
  writer.Add(Function{.id = 2, .name = writer.Text("g")});
  const std::vector<std::byte> file = std::move(writer).FinishPlain();
  EXPECT_EQ(All<Function>(file).size(), 2U);
  EXPECT_EQ(All<Sample>(file).size(), 1U);
}

TEST(MessageCursor, NamesTheOffsetOfTheMessageThatIsDamaged) {
  const std::string encoded("\x32\x00\x12\x7f", 4);  // a text; a sample with size 127
  MessageCursor<Sample> samples(AsBytes(encoded));
  const auto next = samples.Next();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(next.error().message, HasSubstr("at 0x2: "));
}

TEST(MessageCursor, SurvivesACutAtAnyByte) {
  const std::string encoded = Encode(EveryField());
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    const Bytes cut = AsBytes(std::string_view(encoded).substr(0, size));
    EXPECT_LE(All<Sample>(cut).size(), 2U);
    EXPECT_LE(All<Location>(cut).size(), 2U);
    EXPECT_LE(DecodeTexts(cut, 7).value_or(std::vector<std::string_view>{}).size(), 7U);
  }
}

TEST(DecodeTexts, RefusesMoreThanItsLimit) {
  const std::string encoded = Encode(EveryField());
  EXPECT_TRUE(DecodeTexts(AsBytes(encoded), 7));
  EXPECT_FALSE(DecodeTexts(AsBytes(encoded), 6));
}

TEST(LooksLikeProfile, AcceptsEveryCutBehindTheFirstMessage) {
  const std::string encoded = Encode(EveryField());
  for (std::size_t size = 8; size <= encoded.size(); ++size) {
    EXPECT_TRUE(LooksLikeProfile(AsBytes(std::string_view(encoded).substr(0, size)))) << size;
  }
}

TEST(LooksLikeProfile, RejectsTextsAndInvalidFields) {
  EXPECT_FALSE(LooksLikeProfile({}));
  EXPECT_FALSE(LooksLikeProfile(AsBytes("main;f 12\n")));
  EXPECT_FALSE(LooksLikeProfile(AsBytes("2" + std::string(1, '0') + std::string(300, 'x'))));
  EXPECT_FALSE(LooksLikeProfile(AsBytes("\x0a\x02\x08\x01\x80\x01\x01")));  // field 16
  EXPECT_FALSE(LooksLikeProfile(AsBytes("\x0a\x02\x18\x01")));  // field 3 of a ValueType
}

TEST(GunzipBeginning, GivesTheFirstBytesOfWhatMayBeCut) {
  const std::string text(100'000, 'x');
  const std::vector<std::byte> file = Gzip(AsBytes(text)).value();
  EXPECT_EQ(AsText(GunzipBeginning(file, 10)), "xxxxxxxxxx");
  EXPECT_EQ(GunzipBeginning(file, 200'000).size(), 100'000U);
  EXPECT_GT(GunzipBeginning(Bytes(file).first(file.size() / 2), 200'000).size(), 100U);
  EXPECT_TRUE(GunzipBeginning(AsBytes("no gzip"), 10).empty());
}

}  // namespace
}  // namespace perftape::pprof
