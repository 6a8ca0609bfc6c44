// SPDX-License-Identifier: Apache-2.0
#include "tests/support/bytes_input.h"

#include <gtest/gtest.h>

#include <string>

namespace perftape {
namespace {

TEST(BytesInput, IsAFileWithTheBytes) {
  BytesInput input(AsBytes("bytes"));
  EXPECT_FALSE(input.is_stream());
  EXPECT_FALSE(input.is_directory());
  EXPECT_EQ(input.name(), "");
  EXPECT_EQ(input.path(), "");
  EXPECT_EQ(AsText(input.beginning()), "bytes");
  EXPECT_EQ(AsText(input.All().value()), "bytes");
}

TEST(BytesInput, ContainsWholePagesAndNothing) {
  const std::string pages(std::size_t{1} << 16, 'x');
  EXPECT_EQ(AsText(BytesInput(AsBytes(pages)).beginning()), pages);
  EXPECT_TRUE(BytesInput(Bytes()).beginning().empty());
}

#ifdef PERFTAPE_HAS_ASAN
TEST(BytesInput, PoisonsTheMemoryBehindItsEnd) {
  const BytesInput input(AsBytes("bytes"));
  const auto* end = input.beginning().data() + input.beginning().size();
  EXPECT_EQ(__asan_address_is_poisoned(end - 1), 0);
  EXPECT_NE(__asan_address_is_poisoned(end), 0);
}
#endif

}  // namespace
}  // namespace perftape
