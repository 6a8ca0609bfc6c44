// SPDX-License-Identifier: Apache-2.0
#include "formats/pprof/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace perftape::pprof {
namespace {

constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40;

std::vector<std::byte> Gzipped(std::string_view text) {
  return Gzip(AsBytes(text)).value();
}

TEST(Gzip, IsReadBack) {
  for (const std::string& text :
       {std::string(), std::string("text"), std::string(1'000'000, 'x')}) {
    const Result<std::vector<std::byte>> plain = Gunzip(Gzipped(text), kNoLimit);
    ASSERT_TRUE(plain) << plain.error().message;
    EXPECT_EQ(AsText(*plain), text);
  }
}

TEST(Gzip, HoldsNoTime) {
  const std::vector<std::byte> file = Gzipped("text");
  EXPECT_TRUE(IsGzip(file));
  for (std::size_t i = 4; i < 8; ++i) EXPECT_EQ(file[i], std::byte{0});  // RFC 1952, MTIME
}

TEST(Gunzip, JoinsMembers) {
  std::vector<std::byte> file = Gzipped("one ");
  const std::vector<std::byte> second = Gzipped(std::string(100'000, '2'));
  file.insert(file.end(), second.begin(), second.end());
  EXPECT_EQ(AsText(Gunzip(file, kNoLimit).value()), "one " + std::string(100'000, '2'));
}

TEST(Gunzip, StopsAtItsLimit) {
  const std::vector<std::byte> file = Gzipped(std::string(100'000, 'x'));
  EXPECT_TRUE(Gunzip(file, 100'000));
  const Result<std::vector<std::byte>> larger = Gunzip(file, 99'999);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().message, "more than 99999 bytes when decompressed");
}

TEST(Gunzip, CountsAllMembersAgainstItsLimit) {
  std::vector<std::byte> file = Gzipped(std::string(1000, 'x'));
  const std::vector<std::byte> second = file;
  file.insert(file.end(), second.begin(), second.end());
  EXPECT_TRUE(Gunzip(file, 2000));
  EXPECT_FALSE(Gunzip(file, 1999));
}

TEST(Gunzip, DoesNotTrustTheStatedSize) {
  std::vector<std::byte> file = Gzipped("text");
  for (std::size_t i = file.size() - 4; i < file.size(); ++i) file[i] = std::byte{0xff};
  EXPECT_FALSE(Gunzip(file, kNoLimit));
}

TEST(Gunzip, RefusesWhatFollowsTheLastMember) {
  std::vector<std::byte> file = Gzipped("text");
  file.push_back(std::byte{'!'});
  EXPECT_FALSE(Gunzip(file, kNoLimit));
}

TEST(Gunzip, RefusesNothing) {
  EXPECT_FALSE(Gunzip({}, kNoLimit));
}

}  // namespace
}  // namespace perftape::pprof
