// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/base/bytes.h"
#include "formats/otlp/reader.h"
#include "tests/formats/otlp/every_field.h"

namespace perftape::otlp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Reads the first profile of a JSON text.
struct FirstProfile {
  explicit FirstProfile(std::string_view json) : encoded(EncodedOfJson(json).value()) {
    EXPECT_TRUE(cursor.Next().value());
  }
  std::string encoded;
  ProfileCursor cursor = ProfileCursor(AsBytes(encoded));
};

std::string InProfile(std::string_view fields) {
  return R"({"resourceProfiles":[{"scopeProfiles":[{"profiles":[{)" + std::string(fields) +
         "}]}]}]}";
}

// Both are written from the same calls, so the tables of both are equal.
TEST(EncodedOfJson, GivesTheMessagesOfTheProtobuf) {
  const std::string of_json = EncodedOfJson(FileWithEveryField(Encoding::kJson)).value();
  // Once more through JSON: the protobuf of the writer leaves out fields that are 0.
  EXPECT_TRUE(LooksLikeProfilesData(AsBytes(of_json)));
  const std::string protobuf = FileWithEveryField(Encoding::kProtobuf);
  ProfileCursor from_json(AsBytes(of_json));
  ProfileCursor from_protobuf(AsBytes(protobuf));
  int profiles = 0;
  while (from_protobuf.Next().value()) {
    ASSERT_TRUE(from_json.Next().value());
    ++profiles;
    const ProfileHeader& read = from_json.header();
    const ProfileHeader& expected = from_protobuf.header();
    EXPECT_EQ(read.sample_type, expected.sample_type);
    EXPECT_EQ(read.time_unix_ns, expected.time_unix_ns);
    EXPECT_EQ(read.period, expected.period);
    EXPECT_EQ(read.profile_id, expected.profile_id);
    EXPECT_EQ(read.original_payload, expected.original_payload);
    EXPECT_EQ(from_json.resource().attributes.size(), from_protobuf.resource().attributes.size());
    while (const Sample* const sample = from_protobuf.NextSample().value()) {
      const Sample* const same = from_json.NextSample().value();
      ASSERT_NE(same, nullptr);
      EXPECT_EQ(same->stack, sample->stack);
      EXPECT_EQ(same->attributes, sample->attributes);
      EXPECT_EQ(same->link, sample->link);
      EXPECT_EQ(same->values, sample->values);
      EXPECT_EQ(same->times_unix_ns, sample->times_unix_ns);
    }
    EXPECT_EQ(from_json.NextSample().value(), nullptr);
  }
  EXPECT_FALSE(from_json.Next().value());
  EXPECT_EQ(profiles, 3);
}

TEST(EncodedOfJson, ReadsNumbersAndTexts) {
  FirstProfile profile(InProfile(
      R"("period":"-5","timeUnixNano":1700000000000000001,"durationNano":"7",)"
      R"("samples":[{"stackIndex":"3","values":["1",2,3.0],"timestampsUnixNano":["4",5,6]}])"));
  EXPECT_EQ(profile.cursor.header().period, -5);
  EXPECT_EQ(profile.cursor.header().time_unix_ns.value, 1'700'000'000'000'000'001U);
  EXPECT_EQ(profile.cursor.header().duration_ns, 7U);
  const Sample* const sample = profile.cursor.NextSample().value();
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(sample->stack, 3);
  EXPECT_THAT(sample->values, ElementsAre(1, 2, 3));
  EXPECT_THAT(sample->times_unix_ns, ElementsAre(Fixed64{4}, Fixed64{5}, Fixed64{6}));
}

TEST(EncodedOfJson, ReadsIdsInHexadecimalAndBase64) {
  const std::string id = "0123456789abcdef";
  EXPECT_EQ(FirstProfile(InProfile(R"("profileId":"30313233343536373839616263646566")"))
                .cursor.header()
                .profile_id.bytes,
            id);
  EXPECT_EQ(FirstProfile(InProfile(R"("profileId":"MDEyMzQ1Njc4OWFiY2RlZg==")"))
                .cursor.header()
                .profile_id.bytes,
            id);
}

TEST(EncodedOfJson, SkipsFieldsThatItDoesNotKnowAndNulls) {
  FirstProfile profile(InProfile(
      R"("new":{"samples":[{"values":[9]}]},"period":null,"x":[1,[2]],"samples":[{"values":[8]}])"));
  const Sample* const sample = profile.cursor.NextSample().value();
  ASSERT_NE(sample, nullptr);
  EXPECT_THAT(sample->values, ElementsAre(8));
  EXPECT_EQ(profile.cursor.NextSample().value(), nullptr);
}

std::string ErrorOf(std::string_view json) {
  const auto encoded = EncodedOfJson(json);
  return encoded ? "" : encoded.error().message;
}

TEST(EncodedOfJson, NamesTheOffsetAndTheFieldOfAWrongValue) {
  EXPECT_EQ(ErrorOf(InProfile(R"("period":"x")")), "at 0x41: period cannot be this text");
  EXPECT_THAT(ErrorOf(InProfile(R"("period":1.5)")), HasSubstr("period cannot be a fraction"));
  EXPECT_THAT(ErrorOf(InProfile(R"("period":"99999999999999999999")")), HasSubstr("this text"));
  EXPECT_THAT(ErrorOf(InProfile(R"("period":true)")), HasSubstr("period cannot be a bool"));
  EXPECT_THAT(ErrorOf(InProfile(R"("period":{})")), HasSubstr("period cannot be an object"));
  EXPECT_THAT(ErrorOf(InProfile(R"("period":[1])")), HasSubstr("period cannot be an array"));
  EXPECT_THAT(ErrorOf(InProfile(R"("samples":3)")), HasSubstr("samples cannot be a number"));
  EXPECT_THAT(ErrorOf(InProfile(R"("profileId":"x")")), HasSubstr("profileId cannot be this text"));
}

TEST(EncodedOfJson, NamesTheOffsetOfTextThatIsNotJson) {
  EXPECT_EQ(ErrorOf(R"({"resourceProfiles":[)"), "at 0x16: not JSON");
  EXPECT_EQ(ErrorOf("[]"), "at 0x0: not an object");
  EXPECT_EQ(ErrorOf("3"), "at 0x0: not an object");
  EXPECT_THAT(ErrorOf("{}{}"), HasSubstr("another file begins here"));
}

TEST(EncodedOfJson, RefusesATextThatIsTooDeep) {
  const std::string text = R"({"x":)" + std::string(100'000, '[');
  const auto encoded = EncodedOfJson(text);
  ASSERT_FALSE(encoded);
  EXPECT_EQ(encoded.error().code, ErrorCode::kUnsupported);
}

TEST(EncodedOfJson, SurvivesACutAtEveryByte) {
  const std::string json = FileWithEveryField(Encoding::kJson);
  // The last byte is the end of the line.
  for (std::size_t size = 0; size + 1 < json.size(); ++size) {
    EXPECT_FALSE(EncodedOfJson(std::string_view(json).substr(0, size))) << size;
  }
}

TEST(LooksLikeProfilesJson, AcceptsOnlyItsOwnFirstKeys) {
  EXPECT_TRUE(LooksLikeProfilesJson("\n {\n \"resourceProfiles\": ["));
  EXPECT_TRUE(LooksLikeProfilesJson(R"({"dictionary":{"stringTable":[)"));
  EXPECT_FALSE(LooksLikeProfilesJson(R"({"dictionary":{)"));
  EXPECT_FALSE(LooksLikeProfilesJson(R"({"resourceSpans":[)"));
  EXPECT_FALSE(LooksLikeProfilesJson("{"));
  EXPECT_FALSE(LooksLikeProfilesJson(""));
}

}  // namespace
}  // namespace perftape::otlp
