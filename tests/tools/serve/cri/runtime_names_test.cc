// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/cri/runtime_names.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <string_view>
#include <utility>

#include "tools/serve/channels/channel.h"
#include "tools/serve/channels/notice.h"

namespace perftape::serve {
namespace {

using record::ContainerNames;

const std::string kNameLine = "uid\tshop\tweb-0\tid\tnginx\n";

// The other end of the channel.
class Asked : public testing::Test {
 protected:
  // Returns how often it was asked since the last call.
  int Asks() {
    int asks = 0;
    for (char byte = 0; recv(channel_.receiver.get(), &byte, 1, MSG_DONTWAIT) == 1;) ++asks;
    return asks;
  }
  void Answer(std::string_view lines) {
    ASSERT_TRUE(SendText(channel_.receiver.get(), Notice::Kind::kNames, lines));
  }

  Channel channel_ = MakeChannel(ChannelKind::kMessages).value();
  RuntimeNames names_{std::move(channel_.sender)};
};

TEST_F(Asked, ForAnUnknownIdOnce) {
  EXPECT_EQ(names_.Find({.pod_uid = "uid", .container_id = "id"}), ContainerNames());
  EXPECT_EQ(names_.Find({.pod_uid = "uid", .container_id = "id"}), ContainerNames());
  EXPECT_EQ(Asks(), 1);
  EXPECT_EQ(names_.Answers(), 0U);
  Answer(kNameLine);
  EXPECT_EQ(names_.Answers(), 1U);
  EXPECT_EQ(names_.Find({.pod_uid = "uid", .container_id = "id"}),
            (ContainerNames{"shop", "web-0", "nginx"}));
  EXPECT_EQ(names_.Find({.pod_uid = "uid"}), (ContainerNames{"shop", "web-0", ""}));
  EXPECT_EQ(names_.Find({}), ContainerNames());
  EXPECT_EQ(Asks(), 0);
}

TEST_F(Asked, NotWhileAnAnswerIsMissing) {
  names_.Find({.container_id = "one"});
  names_.Find({.container_id = "two"});
  names_.Answers();
  EXPECT_EQ(Asks(), 1);
}

TEST_F(Asked, KeepsTheNamesIfTheRuntimeFails) {
  names_.Find({.container_id = "id"});
  Answer(kNameLine);
  EXPECT_EQ(names_.Answers(), 1U);
  // The next one is asked for a second later.
  names_.Find({.container_id = "new"});
  int asks = 0;
  for (asks = Asks(); asks <= 1; asks += Asks()) names_.Answers();
  ASSERT_TRUE(SendNotice(channel_.receiver.get(), {.kind = Notice::Kind::kNames}));
  EXPECT_EQ(names_.Answers(), 2U);
  EXPECT_EQ(names_.Find({.container_id = "id"}).container, "nginx");
}

TEST_F(Asked, HasGone) {
  channel_.receiver.Reset();
  EXPECT_EQ(names_.Find({.container_id = "id"}), ContainerNames());
  EXPECT_EQ(names_.Answers(), 0U);
}

TEST(RuntimeNames, WithoutAChannelKnowNothing) {
  RuntimeNames names{UniqueFd()};
  EXPECT_EQ(names.Find({.container_id = "id"}), ContainerNames());
  EXPECT_EQ(names.Answers(), 0U);
}

}  // namespace
}  // namespace perftape::serve
