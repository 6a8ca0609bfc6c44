// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/channels/message_header.h"

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "tests/support/matchers.h"

namespace perftape::serve {
namespace {

struct Numbers {
  static constexpr std::uint64_t kMagic = 0x1234567890abcdef;
  std::uint64_t first = 0, second = 0;
};
struct OtherNumbers {
  static constexpr std::uint64_t kMagic = 0x1234567890abcdee;
  std::uint64_t first = 0;
};

// What WriteHeader writes, and a byte after it.
std::vector<std::byte> Written() {
  const UniqueFd file(memfd_create("header", MFD_CLOEXEC));
  EXPECT_THAT(WriteHeader(file.get(), Numbers{.first = 3, .second = 4}), IsOk());
  EXPECT_THAT(WriteAll(file.get(), AsBytes("x")), IsOk());
  const MappedFile mapped = MappedFile::FromFd(file.get(), "header").value();
  return {mapped.bytes().begin(), mapped.bytes().end()};
}

TEST(MessageHeader, IsReadFromTheBeginning) {
  const std::vector<std::byte> bytes = Written();
  Bytes rest = bytes;
  const auto header = ReadHeader<Numbers>(rest, "wrong");
  ASSERT_THAT(header, IsOk());
  ASSERT_TRUE(header->has_value());
  EXPECT_EQ((*header)->first, 3U);
  EXPECT_EQ((*header)->second, 4U);
  EXPECT_EQ(AsText(rest), "x");
}

TEST(MessageHeader, IsNothingUntilItIsWhole) {
  const std::vector<std::byte> bytes = Written();
  for (std::size_t size = 0; size < bytes.size() - 1; ++size) {
    Bytes rest = Bytes(bytes).first(size);
    const auto header = ReadHeader<Numbers>(rest, "wrong");
    ASSERT_THAT(header, IsOk()) << size;
    EXPECT_FALSE(header->has_value()) << size;
    EXPECT_EQ(rest.size(), size);
  }
}

TEST(MessageHeader, IsRefusedWithAnotherMagicNumber) {
  const std::vector<std::byte> bytes = Written();
  Bytes rest = bytes;
  EXPECT_THAT(ReadHeader<OtherNumbers>(rest, "it is wrong"),
              FailsWith(ErrorCode::kCorrupt, testing::HasSubstr("it is wrong")));
}

}  // namespace
}  // namespace perftape::serve
