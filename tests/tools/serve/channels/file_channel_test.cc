// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/file_channel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "tests/support/files.h"
#include "tools/serve/channels/channel.h"

namespace perftape::serve {
namespace {

const BuildId kId = BuildId::FromHex("aabbcc").value();

TEST(FileChannel, PassesRecordingsAndOpenBinariesInOrder) {
  const TempDir directory;
  const auto binary = directory.Write("binary", "content");
  Channel channel = MakeChannel(ChannelKind::kMessages).value();
  FileSender sender(std::move(channel.sender));
  sender.SendBinary("/app/binary", kId, UniqueFd(open(binary.c_str(), O_RDONLY)).get());
  sender.SendRecording("/run/window.1");

  FileMessage message;
  UniqueFd file;
  ASSERT_TRUE(Receive(channel.receiver.get(), message, file));
  EXPECT_EQ(message.kind, FileMessage::Kind::kBinary);
  EXPECT_STREQ(&message.path[0], "/app/binary");
  EXPECT_EQ(message.build_id, kId);
  EXPECT_EQ(MappedFile::FromFd(file.get(), "binary")->bytes().size(), 7U);
  ASSERT_TRUE(Receive(channel.receiver.get(), message, file));
  EXPECT_EQ(message.kind, FileMessage::Kind::kRecording);
  EXPECT_STREQ(&message.path[0], "/run/window.1");
  EXPECT_FALSE(file);
}

TEST(FileChannel, SendsLaterWhatTheSocketHasNoRoomFor) {
  Channel channel = MakeChannel(ChannelKind::kMessages).value();
  FileSender sender(std::move(channel.sender));
  const std::string path(3000, 'x');
  constexpr int kMessages = 500;  // more than a socket has room for
  for (int i = 0; i < kMessages; ++i) sender.SendRecording(std::to_string(i) + path);
  FileMessage message;
  UniqueFd file;
  for (int i = 0; i < kMessages; ++i) {
    if (i % 8 == 7) sender.SendRecording("further");
    ASSERT_TRUE(Receive(channel.receiver.get(), message, file));
    EXPECT_EQ(std::string(&message.path[0]), std::to_string(i) + path);
  }
}

TEST(FileChannel, DeletesARecordingThatFindsNoRoom) {
  const TempDir directory;
  Channel channel = MakeChannel(ChannelKind::kMessages).value();
  FileSender sender(std::move(channel.sender));
  const std::string path(3000, 'x');
  for (std::size_t i = 0; i < 2 * FileSender::kMostWaiting; ++i) sender.SendRecording(path);
  const auto recording = directory.Write("window", "x");
  sender.SendRecording(recording);
  EXPECT_FALSE(std::filesystem::exists(recording));
}

TEST(FileChannel, EndsWithItsSender) {
  Channel channel = MakeChannel(ChannelKind::kMessages).value();
  channel.sender.Reset();
  FileMessage message;
  UniqueFd file;
  EXPECT_FALSE(Receive(channel.receiver.get(), message, file));
}

}  // namespace
}  // namespace perftape::serve
