// SPDX-License-Identifier: Apache-2.0
#include "convert/model/id_table.h"

#include <gtest/gtest.h>

namespace perftape::convert {
namespace {

constexpr auto kAny = [](std::uint32_t) { return true; };

TEST(IdTable, FindsWhatWasAddedByItsHash) {
  IdTable table;
  EXPECT_EQ(table.Find(7, kAny), IdTable::kNone);
  table.Add(7, 70);
  table.Add(8, 80);
  EXPECT_EQ(table.Find(7, kAny), 70U);
  EXPECT_EQ(table.Find(8, kAny), 80U);
  EXPECT_EQ(table.Find(9, kAny), IdTable::kNone);
}

TEST(IdTable, ComparesEntriesWithEqualHashes) {
  IdTable table;
  for (std::uint32_t id = 0; id < 10; ++id) table.Add(7, id);
  EXPECT_EQ(table.Find(7, [](std::uint32_t id) { return id == 6; }), 6U);
  EXPECT_EQ(table.Find(7, [](std::uint32_t) { return false; }), IdTable::kNone);
}

TEST(IdTable, FindsAllAfterItHasGrown) {
  IdTable table;
  constexpr std::uint32_t kMany = 10'000;
  // Hashes may differ only in their upper halves.
  const auto hash = [](std::uint64_t id) { return id * 0x9e3779b9 << 32; };
  for (std::uint32_t id = 0; id < kMany; ++id) table.Add(hash(id), id);
  for (std::uint32_t id = 0; id < kMany; ++id) {
    ASSERT_EQ(table.Find(hash(id), [&](std::uint32_t found) { return found == id; }), id);
  }
}

TEST(IdTable, IsEmptyAfterClear) {
  IdTable table;
  table.Add(7, 70);
  table.Clear();
  EXPECT_EQ(table.Find(7, kAny), IdTable::kNone);
  table.Add(7, 71);
  EXPECT_EQ(table.Find(7, kAny), 71U);
}

}  // namespace
}  // namespace perftape::convert
