// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/rule_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace perftape::unwind {
namespace {

// Two tables with other rules at the same addresses, and more addresses than the cache has entries.
TEST(RuleCache, HasTheRulesOfTheTables) {
  std::vector<Row> rows;
  std::vector<Rule> rules(7);
  for (std::uint32_t i = 0; i < 30000; ++i) rows.push_back({.pc = i * 4, .rule = i % 7});
  const Table one(Machine::kX86_64, ImageAddress{0x1000}, rows, rules, nullptr);
  const Table other(Machine::kX86_64, ImageAddress{0x3000}, rows, rules, nullptr);
  const auto cache = std::make_unique<RuleCache>();
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t address = 0xff0; address < 0x22000; address += 3) {
      for (const Table* table : {&one, &other}) {
        ASSERT_EQ(&cache->Find(*table, {address}), &table->Find({address}));
      }
    }
  }
}

}  // namespace
}  // namespace perftape::unwind
