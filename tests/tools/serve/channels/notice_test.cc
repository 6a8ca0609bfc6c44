// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/notice.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "tools/serve/channels/channel.h"

namespace perftape::serve {
namespace {

class NoticeTest : public testing::Test {
 protected:
  Channel channel_ = MakeChannel(ChannelKind::kMessages).value();
};

TEST_F(NoticeTest, CarriesATextOfAnySize) {
  for (const std::string& text : {std::string(), std::string("a\nb"), std::string(1 << 20, 'x')}) {
    ASSERT_TRUE(SendText(channel_.sender.get(), Notice::Kind::kHeaders, text));
    const std::optional<Notice> notice = ReceiveNotice(channel_.receiver.get());
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->kind, Notice::Kind::kHeaders);
    EXPECT_EQ(TextOf(*notice).value(), text);
  }
}

TEST_F(NoticeTest, MayHaveNoFile) {
  ASSERT_TRUE(SendNotice(channel_.sender.get(), {.kind = Notice::Kind::kRecording, .id = 7}));
  const std::optional<Notice> notice = ReceiveNotice(channel_.receiver.get());
  EXPECT_EQ(notice->id, 7U);
  EXPECT_FALSE(notice->file);
  EXPECT_FALSE(TextOf(*notice));
}

TEST_F(NoticeTest, IsIgnoredIfItHasAnotherSize) {
  ASSERT_EQ(send(channel_.sender.get(), "12345", 5, 0), 5);
  ASSERT_TRUE(SendNotice(channel_.sender.get(), {.id = 8}));
  channel_.sender.Reset();
  EXPECT_EQ(ReceiveNotice(channel_.receiver.get())->id, 8U);
  EXPECT_FALSE(ReceiveNotice(channel_.receiver.get()));
}

TEST_F(NoticeTest, FailsWithoutAReceiver) {
  channel_.receiver.Reset();
  EXPECT_FALSE(SendNotice(channel_.sender.get(), {}));
  EXPECT_FALSE(SendText(channel_.sender.get(), Notice::Kind::kToken, "x"));
}

}  // namespace
}  // namespace perftape::serve
