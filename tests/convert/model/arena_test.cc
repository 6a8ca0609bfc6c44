// SPDX-License-Identifier: Apache-2.0
#include "convert/model/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace perftape::convert {
namespace {

TEST(Arena, KeepsWhatItCopiedWhereItIs) {
  Arena arena;
  std::vector<std::string_view> copies;
  for (int i = 0; i < 10'000; ++i) copies.push_back(arena.Copy("text " + std::to_string(i)));
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(copies[i], "text " + std::to_string(i));
}

TEST(Arena, StoresATextLargerThanItsChunks) {
  Arena arena;
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(arena.Copy(large), large);
}

TEST(Arena, AlignsWhatFollowsAnOddLength) {
  Arena arena;
  arena.Copy("odd");
  const std::uint64_t words[] = {1, 2, 3};
  const std::span<const std::uint64_t> copy = arena.Copy(std::span<const std::uint64_t>(words));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.data()) % alignof(std::uint64_t), 0U);
  EXPECT_THAT(copy, testing::ElementsAre(1, 2, 3));
}

TEST(Arena, SharesItsMemoryWithACopyThatOutlivesIt) {
  std::optional<Arena> first(std::in_place);
  const std::string_view text = first->Copy("kept");
  const Arena second = *first;
  first.reset();
  EXPECT_EQ(text, "kept");
}

TEST(Arena, ACopyWritesToMemoryOfItsOwn) {
  Arena first;
  first.Copy("shared");
  Arena second = first;
  const std::string_view of_second = second.Copy("second");
  const std::string_view of_first = first.Copy("first!");
  EXPECT_EQ(of_second, "second");
  EXPECT_EQ(of_first, "first!");
}

}  // namespace
}  // namespace perftape::convert
