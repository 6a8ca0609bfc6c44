// SPDX-License-Identifier: Apache-2.0
#include "convert/import/hashed_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace perftape::convert {
namespace {

using testing::SizeIs;
using Words = std::vector<std::uint64_t>;

// A table of user stacks, leaf first, with times before any process record.
class StackTable {
 public:
  std::uint32_t Add(const Words& chain, perfdata::CpuMode mode = perfdata::CpuMode::kUser) {
    const RawStack stack{.ip = 0x99, .chain = std::as_bytes(std::span(chain)), .mode = mode};
    const std::uint32_t row = table_.Add({.hash = SampleTable::HashOf(stack, {}), .stack = stack});
    return table_.rows()[row].stack;
  }
  HashedStacks Hash(std::span<const std::uint32_t> indexes, Origin origin = Origin::kRecorded) {
    return HashStacks(table_, indexes, std::endian::native, origin, history_);
  }

 private:
  SampleTable table_;
  ProcessHistory history_;
};

TEST(HashedStacks, GivesEqualOuterFramesEqualPrefixHashes) {
  StackTable table;
  const std::array indexes = {table.Add({3, 2, 1}), table.Add({4, 2, 1}), table.Add({2, 1})};
  const HashedStacks stacks = table.Hash(indexes);
  ASSERT_EQ(stacks.size(), 3U);
  const auto first = stacks[0].prefix_hashes, second = stacks[1].prefix_hashes;
  ASSERT_THAT(first, SizeIs(3));
  EXPECT_EQ(first[0], second[0]);
  EXPECT_EQ(first[1], second[1]);
  EXPECT_NE(first[2], second[2]);
  // A leaf's address is that of the instruction; the others are return addresses.
  EXPECT_EQ(stacks[2].prefix_hashes[0], first[0]);
  EXPECT_NE(stacks[2].prefix_hashes[1], first[1]);
}

TEST(HashedStacks, HashesAFrameAloneWhereverItIs) {
  StackTable table;
  const std::array indexes = {table.Add({9, 5, 1}), table.Add({8, 1, 5})};
  const HashedStacks stacks = table.Hash(indexes);
  EXPECT_EQ(stacks[0].frame_hashes[1], stacks[1].frame_hashes[2]);
  EXPECT_NE(stacks[0].frame_hashes[1], stacks[0].frame_hashes[2]);
}

TEST(HashedStacks, DistinguishesModes) {
  StackTable table;
  const std::array indexes = {table.Add({7}), table.Add({7}, perfdata::CpuMode::kKernel)};
  const HashedStacks stacks = table.Hash(indexes);
  EXPECT_NE(stacks[0].frame_hashes[0], stacks[1].frame_hashes[0]);
}

TEST(HashedStacks, FollowsTheOrderItIsGiven) {
  StackTable table;
  const std::uint32_t one = table.Add({1}), two = table.Add({3, 2});
  const std::array indexes = {two, one, two};
  const HashedStacks stacks = table.Hash(indexes);
  ASSERT_EQ(stacks.size(), 3U);
  EXPECT_THAT(stacks[0].frames, SizeIs(2));
  EXPECT_THAT(stacks[1].frames, SizeIs(1));
  EXPECT_EQ(stacks[2].prefix_hashes.back(), stacks[0].prefix_hashes.back());
}

TEST(HashedStacks, UsesTheIpForAnEmptyChain) {
  StackTable table;
  const std::array indexes = {table.Add({})};
  const HashedStacks recorded = table.Hash(indexes);
  ASSERT_THAT(recorded[0].frames, SizeIs(1));
  EXPECT_EQ(recorded[0].frames[0].address, 0x99U);
  EXPECT_THAT(table.Hash(indexes, Origin::kConverted)[0].frames, SizeIs(0));
}

}  // namespace
}  // namespace perftape::convert
