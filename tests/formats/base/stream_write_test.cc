// SPDX-License-Identifier: Apache-2.0
#include "formats/base/stream_write.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <thread>
#include <vector>

#include "formats/base/file.h"

namespace perftape {
namespace {

using testing::HasSubstr;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends = {};
    EXPECT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
    reader = UniqueFd(ends[0]);
    writer = UniqueFd(ends[1]);
  }
  UniqueFd reader, writer;
};

// More than a pipe holds.
std::vector<std::byte> ManyBytes() {
  std::vector<std::byte> bytes(1 << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  return bytes;
}

std::vector<std::byte> ReadAll(int fd) {
  std::vector<std::byte> all;
  std::array<std::byte, 3000> piece = {};
  for (ssize_t got = 0; (got = read(fd, piece.data(), piece.size())) > 0;) {
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
  return all;
}

TEST(WriteToReader, WritesAllToASlowReader) {
  Pipe pipe;
  std::stop_source stop;
  std::vector<std::byte> received;
  std::jthread reader([&] { received = ReadAll(pipe.reader.get()); });
  EXPECT_TRUE(WriteToReader(pipe.writer.get(), ManyBytes(), stop.get_token()));
  pipe.writer.Reset();
  reader.join();
  EXPECT_EQ(received, ManyBytes());
}

TEST(WriteToReader, GivesUpAStalledReaderAfterAStop) {
  Pipe pipe;
  std::stop_source stop;
  stop.request_stop();
  const Status written =
      WriteToReader(pipe.writer.get(), ManyBytes(), stop.get_token(), std::chrono::nanoseconds(1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kIo);
  pipe.writer.Reset();
  const std::size_t received = ReadAll(pipe.reader.get()).size();
  EXPECT_GT(received, 0);
  EXPECT_THAT(written.error().message,
              HasSubstr(std::to_string(ManyBytes().size() - received) + " bytes are not written"));
}

TEST(WriteToReader, FailsIfNobodyReads) {
  Pipe pipe;
  pipe.reader.Reset();
  std::stop_source stop;
  const auto old = std::signal(SIGPIPE, SIG_IGN);
  EXPECT_FALSE(WriteToReader(pipe.writer.get(), ManyBytes(), stop.get_token()));
  std::signal(SIGPIPE, old);
}

}  // namespace
}  // namespace perftape
