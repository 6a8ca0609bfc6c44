// SPDX-License-Identifier: Apache-2.0
#include "record/control/control_channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const ControlCommand kEnable{ControlVerb::kEnable, ""};
const ControlCommand kPing{ControlVerb::kPing, ""};

TEST(ParseControlCommand, KnowsTheCommandsOfPerf) {
  EXPECT_EQ(ParseControlCommand("enable"), kEnable);
  EXPECT_EQ(ParseControlCommand("enable cpu-clock"),
            (ControlCommand{ControlVerb::kEnable, "cpu-clock"}));
  EXPECT_EQ(ParseControlCommand(" disable  sched:sched_switch "),
            (ControlCommand{ControlVerb::kDisable, "sched:sched_switch"}));
  EXPECT_EQ(ParseControlCommand("evlist -v"), (ControlCommand{ControlVerb::kListEvents, "-v"}));
  EXPECT_EQ(ParseControlCommand("snapshot"), (ControlCommand{ControlVerb::kSnapshot, ""}));
  EXPECT_EQ(ParseControlCommand("stop"), (ControlCommand{ControlVerb::kStop, ""}));
  EXPECT_EQ(ParseControlCommand("ping\r"), kPing);
}

TEST(ParseControlCommand, KnowsNoOthers) {
  for (const char* text : {"", "bogus", "enablexyz", "ENABLE", "stop now", "ack"}) {
    EXPECT_EQ(ParseControlCommand(text), std::nullopt) << text;
  }
}

// The other side of two pipes.
class Pipes : public testing::Test {
 protected:
  Pipes() {
    if (pipe2(commands_, O_CLOEXEC) != 0 || pipe2(answers_, O_CLOEXEC) != 0) std::abort();
    fcntl(answers_[0], F_SETFL, O_NONBLOCK);
    fcntl(commands_[1], F_SETFL, O_NONBLOCK);
  }
  ~Pipes() override {
    for (const int fd : {commands_[0], commands_[1], answers_[0], answers_[1]}) Close(fd);
  }
  static void Close(int fd) { (void)close(fd); }

  ControlChannel Open() {
    return ControlChannel::Open(ControlDescriptors{commands_[0], answers_[1]}).value();
  }
  void Send(const std::string& bytes) {
    ASSERT_EQ(write(commands_[1], bytes.data(), bytes.size()), std::ssize(bytes));
  }
  std::string Answers() {
    char bytes[64];
    const ssize_t size = read(answers_[0], bytes, sizeof bytes);
    return {bytes, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

  int commands_[2] = {}, answers_[2] = {};
};

TEST_F(Pipes, BringsCommandsInOrder) {
  ControlChannel channel = Open();
  EXPECT_THAT(channel.Read(), IsEmpty());
  Send("ping\nenable\n\n");
  EXPECT_THAT(channel.Read(), ElementsAre(kPing, kEnable));
  Send(std::string("enable\n\0ping\0", 13));
  EXPECT_THAT(channel.Read(), ElementsAre(kEnable, kPing));
  EXPECT_EQ(channel.failures(), ControlFailures());
}

TEST_F(Pipes, EndsACommandWhereNothingFollows) {
  ControlChannel channel = Open();
  Send("enable");
  EXPECT_THAT(channel.Read(), ElementsAre(kEnable));
  Send("\n");
  EXPECT_THAT(channel.Read(), IsEmpty());
}

TEST_F(Pipes, AnswersAsPerfDoes) {
  ControlChannel channel = Open();
  channel.Acknowledge();
  EXPECT_EQ(Answers(), std::string("ack\n\0", 5));
}

TEST_F(Pipes, CountsUnknownCommands) {
  ControlChannel channel = Open();
  Send("bogus\nping\n\x01\xff\n" + std::string(5000, 'x') + "\nping\n");
  std::size_t pings = 0;
  for (int i = 0; i < 8; ++i) pings += channel.Read().size();
  EXPECT_EQ(pings, 2);
  EXPECT_EQ(channel.failures().unknown, 3);
  EXPECT_EQ(channel.failures().first_unknown, "bogus");
}

TEST_F(Pipes, ReadsOnlySomeOfAFlood) {
  ControlChannel channel = Open();
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += "ping\n";
  Send(flood);
  EXPECT_THAT(channel.Read(), SizeIs(testing::Le(300)));
  EXPECT_TRUE(channel.has_more());
  std::size_t rest = 0;
  while (channel.has_more()) rest += channel.Read().size();
  EXPECT_GE(rest, 700);
  EXPECT_EQ(channel.failures().unknown, 0);
}

TEST_F(Pipes, DropsAnswersThatNobodyReads) {
  ControlChannel channel = Open();
  for (int i = 0; i < 20'000; ++i) channel.Acknowledge();
  EXPECT_GT(channel.failures().unanswered, 0);
}

TEST_F(Pipes, SurvivesAReaderThatIsGone) {
  ControlChannel channel = Open();
  Close(std::exchange(answers_[0], -1));
  channel.Acknowledge();
  EXPECT_EQ(channel.failures().unanswered, 1);
}

TEST_F(Pipes, EndsWithTheOtherSide) {
  ControlChannel channel = Open();
  Send("ping");
  Close(std::exchange(commands_[1], -1));
  EXPECT_THAT(channel.Read(), ElementsAre(kPing));
  EXPECT_TRUE(channel.failures().is_closed);
  EXPECT_EQ(channel.poll_fd(), -1);
  EXPECT_THAT(channel.Read(), IsEmpty());
}

TEST(ControlChannel, TakesASocket) {
  int both[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both), 0);
  ControlChannel channel = ControlChannel::Open(ControlDescriptors{both[0], both[0]}).value();
  ASSERT_EQ(send(both[1], "ping\n", 5, 0), 5);
  EXPECT_THAT(channel.Read(), ElementsAre(kPing));
  channel.Acknowledge();
  char answer[8];
  EXPECT_EQ(recv(both[1], answer, sizeof answer, 0), 5);
  close(both[0]);
  close(both[1]);
}

TEST(ControlChannel, OutlivesThoseWhoOpenItsFifos) {
  const TempDir dir;
  const std::string commands = dir / "ctl", answers = dir / "ack";
  ASSERT_EQ(mkfifo(commands.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo(answers.c_str(), 0600), 0);
  ControlChannel channel = ControlChannel::Open(ControlFifos{commands, answers}).value();
  for (int i = 0; i < 2; ++i) {
    std::ofstream(commands) << "enable\n";
    EXPECT_THAT(channel.Read(), ElementsAre(kEnable));
    EXPECT_THAT(channel.Read(), IsEmpty());
  }
  EXPECT_FALSE(channel.failures().is_closed);
}

TEST(ControlChannel, RefusesWhatIsNoChannel) {
  const TempDir dir;
  const std::string file = dir / "file";
  std::ofstream(file) << "enable\n";
  EXPECT_EQ(ControlChannel::Open(ControlFifos{file, ""}).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(ControlChannel::Open(ControlFifos{"/dev/null", ""}).error().code,
            ErrorCode::kInvalidArgument);
  EXPECT_FALSE(ControlChannel::Open(ControlFifos{dir / "absent", ""}));
  EXPECT_FALSE(ControlChannel::Open(ControlDescriptors{1'000'000, -1}));
}

}  // namespace
}  // namespace perftape::record
