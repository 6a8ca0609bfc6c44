// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/formats/otlp/every_field.h"

namespace perftape::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Reads all of a file; returns the first error.
Status ReadAll(Bytes file) {
  TRY_ASSIGN(const Bytes dictionary, FindDictionary(file));
  TRY_ASSIGN(const auto texts, DecodeTexts(dictionary, file, 1000));
  (void)texts;
  const auto read = [&]<class Entry>(TableCursor<Entry> cursor) -> Status {
    while (true) {
      TRY_ASSIGN(const Entry* const entry, cursor.Next());
      if (entry == nullptr) return {};
    }
  };
  TRY(read(TableCursor<Mapping>(dictionary, file)));
  TRY(read(TableCursor<Location>(dictionary, file)));
  TRY(read(TableCursor<Function>(dictionary, file)));
  TRY(read(TableCursor<Link>(dictionary, file)));
  TRY(read(TableCursor<KeyValueAndUnit>(dictionary, file)));
  TRY(read(TableCursor<Stack>(dictionary, file)));
  ProfileCursor profiles(file);
  while (true) {
    TRY_ASSIGN(const bool is_one, profiles.Next());
    if (!is_one) return {};
    while (true) {
      TRY_ASSIGN(const Sample* const sample, profiles.NextSample());
      if (sample == nullptr) break;
    }
  }
}

TEST(TableCursor, ReadsWhatTheWriterWrote) {
  const std::string file = FileWithEveryField(Encoding::kProtobuf);
  const Bytes dictionary = FindDictionary(AsBytes(file)).value();
  TableCursor<Location> locations(dictionary, AsBytes(file));
  EXPECT_EQ(*locations.Next().value(), Location{});
  const Location location = *locations.Next().value();
  EXPECT_EQ(location.mapping, 1);
  EXPECT_EQ(location.address, 0xffff'ffff'8000'0010);
  EXPECT_THAT(location.lines, ElementsAre(Line{.function = 1, .line = 4, .column = 5}, Line{}));
  EXPECT_THAT(location.attributes, ElementsAre(2, 1));
  EXPECT_EQ(locations.Next().value(), nullptr);
}

TEST(TableCursor, KeepsTheValueZeroOfAnAttribute) {
  const std::string file = FileWithEveryField(Encoding::kProtobuf);
  TableCursor<KeyValueAndUnit> attributes(FindDictionary(AsBytes(file)).value(), AsBytes(file));
  EXPECT_FALSE(attributes.Next().value()->value);
  const KeyValueAndUnit* const wait = attributes.Next().value();
  ASSERT_TRUE(wait->value);
  EXPECT_EQ(wait->value->integer, 0);
  EXPECT_FALSE(wait->value->text);
  EXPECT_EQ(attributes.Next().value()->value->boolean, false);
}

TEST(ProfileCursor, ReadsProfilesWithTheirResourceAndScope) {
  const std::string file = FileWithEveryField(Encoding::kProtobuf);
  ProfileCursor profiles(AsBytes(file));
  ASSERT_TRUE(profiles.Next().value());
  EXPECT_EQ(profiles.resource_number(), 1U);
  ASSERT_EQ(profiles.resource().attributes.size(), 2U);
  EXPECT_EQ(profiles.resource().attributes[0].value->text, "box");
  EXPECT_EQ(profiles.resource().attributes[1].value->integer, -5);
  EXPECT_EQ(profiles.scope().name, "scope");
  ASSERT_EQ(profiles.scope().attributes.size(), 1U);
  EXPECT_EQ(profiles.scope().attributes[0].value->array->values[1].real, -0.25);
  EXPECT_EQ(profiles.header().period, -7);
  EXPECT_EQ(profiles.header().time_unix_ns.value, 1'700'000'000'000'000'001U);
  const Sample* const sample = profiles.NextSample().value();
  ASSERT_NE(sample, nullptr);
  EXPECT_THAT(sample->values, ElementsAre(-3, 1'700'000'000'000'000'001));
  ASSERT_NE(profiles.NextSample().value(), nullptr);
  EXPECT_EQ(profiles.NextSample().value(), nullptr);
  ASSERT_TRUE(profiles.Next().value());
  EXPECT_EQ(profiles.NextSample().value(), nullptr);
  ASSERT_TRUE(profiles.Next().value());
  EXPECT_EQ(profiles.resource_number(), 2U);
  EXPECT_EQ(profiles.scope().name, "");
  EXPECT_FALSE(profiles.Next().value());
}

TEST(ProfileCursor, FindsTheResourceBehindItsProfiles) {
  // ResourceProfiles{scope_profiles{profiles{}}, resource{attributes{key: "k"}}}
  const std::string bytes("\x0a\x0b\x12\x02\x12\x00\x0a\x05\x0a\x03\x0a\x01k", 13);
  ProfileCursor profiles(AsBytes(bytes));
  ASSERT_TRUE(profiles.Next().value());
  ASSERT_EQ(profiles.resource().attributes.size(), 1U);
  EXPECT_EQ(profiles.resource().attributes[0].key, "k");
}

TEST(FindDictionary, RefusesTwo) {
  const std::string file = FileWithEveryField(Encoding::kProtobuf);
  const auto found = FindDictionary(AsBytes(file + file));
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("another file begins here"));
}

TEST(DecodeTexts, RefusesMoreThanTheLimit) {
  const std::string file = FileWithEveryField(Encoding::kProtobuf);
  const Bytes dictionary = FindDictionary(AsBytes(file)).value();
  EXPECT_FALSE(DecodeTexts(dictionary, AsBytes(file), 3));
}

TEST(ReadAll, SurvivesACutAtEveryByteAndEveryByteChanged) {
  std::string file = FileWithEveryField(Encoding::kProtobuf);
  ASSERT_TRUE(ReadAll(AsBytes(file)));
  for (std::size_t size = 0; size < file.size(); ++size) {
    (void)ReadAll(AsBytes(std::string_view(file).substr(0, size)));
  }
  for (char& byte : file) {
    const char before = byte;
    for (const int changed : {0x00, 0x7f, 0x80, 0xff}) {
      byte = static_cast<char>(changed);
      const Status read = ReadAll(AsBytes(file));
      EXPECT_TRUE(read || read.error().code == ErrorCode::kCorrupt);
    }
    byte = before;
  }
}

TEST(ReadAll, NamesTheOffsetOfALengthBeyondTheEnd) {
  const std::string file("\x0a\x00\x12\xff\xff\xff\xff\x07", 8);
  const Status read = ReadAll(AsBytes(file));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("at 0x2: damaged or cut protobuf"));
}

TEST(ReadAll, RefusesMessagesThatAreTooDeep) {
  // Arrays in arrays: AnyValue{array_value 5: ArrayValue{values 1: AnyValue{...}}}.
  std::string value;
  const auto put = [&](char key) {
    std::string size;
    std::size_t rest = value.size();
    for (; rest >= 0x80; rest >>= 7) size += static_cast<char>(rest | 0x80);
    size += static_cast<char>(rest);
    value = key + size + value;
  };
  for (int i = 0; i < 10'000; ++i) {
    put('\x0a');
    put('\x2a');
  }
  put('\x12');  // KeyValueAndUnit.value
  put('\x32');  // attribute_table
  put('\x12');  // dictionary
  const Status read = ReadAll(AsBytes(value));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("too deep"));
}

TEST(LooksLikeProfilesData, AcceptsEveryBeginning) {
  const std::string file = FileWithEveryField(Encoding::kProtobuf);
  for (std::size_t size = 64; size <= file.size(); ++size) {
    EXPECT_TRUE(LooksLikeProfilesData(AsBytes(std::string_view(file).substr(0, size)))) << size;
  }
}

TEST(LooksLikeProfilesData, RefusesOtherFormats) {
  const auto looks = [](std::string_view bytes) { return LooksLikeProfilesData(AsBytes(bytes)); };
  EXPECT_FALSE(looks(""));
  EXPECT_FALSE(looks("\n\n\n\n\n\n\n\n\n\n\n\n\n\n"));
  EXPECT_FALSE(looks("\nmain;f 3\n"));
  EXPECT_FALSE(looks("PERFILE2"));
  // A pprof: sample_type{1: 1, 2: 2}, and one that begins with a sample.
  EXPECT_FALSE(looks(std::string_view("\x0a\x04\x08\x01\x10\x02", 6)));
  EXPECT_FALSE(looks(std::string_view("\x12\x08\x0a\x02\x01\x02\x12\x02\x01\x01", 10)));
}

}  // namespace
}  // namespace perftape::otlp
