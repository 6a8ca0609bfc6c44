// SPDX-License-Identifier: Apache-2.0
#include "formats/otlp/message_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::otlp {
namespace {

using testing::ElementsAre;

constexpr std::string_view kFirst = R"({"resourceProfiles":[{"a":"}\""}]})";
constexpr std::string_view kSecond = R"({"resourceProfiles":[]})";

struct MessagesRead {
  std::vector<std::string> messages;
  bool is_cut = false;
  std::size_t offset = 0;  // of the last message
};

MessagesRead ReadMessages(std::string_view file, Framing framing) {
  MessagesRead read;
  MessageCursor cursor(AsBytes(file), framing);
  while (const std::optional<Bytes> message = cursor.Next()) {
    read.messages.emplace_back(AsText(*message));
  }
  read.is_cut = cursor.is_cut();
  read.offset = cursor.offset();
  return read;
}

// Puts the size before a message, the highest byte first.
std::string WithLength(std::string_view message) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(message.size() >> shift));
  }
  return bytes + std::string(message);
}

TEST(FramingOf, IsDetectedFromTheFirstMessage) {
  EXPECT_EQ(FramingOf(AsBytes(kSecond)), Framing::kJson);
  const std::string framed = WithLength(kSecond);
  EXPECT_EQ(FramingOf(AsBytes(framed)), Framing::kLengths);
  EXPECT_EQ(FramingOf(AsBytes(std::string_view("main;work 7\n"))), std::nullopt);
  EXPECT_EQ(FramingOf({}), std::nullopt);
}

TEST(MessageCursor, ReadsLinesOfJson) {
  const std::string file = std::string(kFirst) + "\n\r\n" + std::string(kSecond) + "\n";
  const MessagesRead read = ReadMessages(file, Framing::kJson);
  EXPECT_THAT(read.messages, ElementsAre(kFirst, kSecond));
  EXPECT_FALSE(read.is_cut);
}

TEST(MessageCursor, ReadsMessagesBehindLengths) {
  const MessagesRead read =
      ReadMessages(WithLength(kFirst) + WithLength(kSecond), Framing::kLengths);
  EXPECT_THAT(read.messages, ElementsAre(kFirst, kSecond));
  EXPECT_FALSE(read.is_cut);
}

// As an exporter leaves the file that was killed.
TEST(MessageCursor, LeavesOutAMessageWhoseEndIsMissing) {
  for (const bool has_lengths : {false, true}) {
    const Framing framing = has_lengths ? Framing::kLengths : Framing::kJson;
    const std::string first = has_lengths ? WithLength(kFirst) : std::string(kFirst);
    const std::string second = has_lengths ? WithLength(kSecond) : std::string(kSecond);
    for (std::size_t size = 1; size < second.size(); ++size) {
      const MessagesRead read = ReadMessages(first + second.substr(0, size), framing);
      EXPECT_THAT(read.messages, ElementsAre(kFirst)) << size;
      EXPECT_TRUE(read.is_cut) << size;
      EXPECT_EQ(read.offset, first.size()) << size;
    }
  }
}

TEST(MessageCursor, SurvivesALengthBeyondTheFile) {
  const std::string file = std::string("\xff\xff\xff\xff", 4) + "{}";
  EXPECT_LE(ReadMessages(file, Framing::kLengths).messages.size(), 1U);
}

}  // namespace
}  // namespace perftape::otlp
