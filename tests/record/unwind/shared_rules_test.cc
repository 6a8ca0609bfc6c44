// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/shared_rules.h"

#include <gtest/gtest.h>

#include <vector>

#include "record/unwind/unwind_arena.h"

namespace perftape::record {
namespace {

constexpr std::uint64_t kNow = 1'000'000'000;
constexpr std::uint64_t kLater = kNow + UnwindArena::kGraceNs;

unwind::Rule RuleOf(std::int32_t offset) {
  unwind::Rule rule;
  rule.cfa = unwind::CfaRule::kStackPointer;
  rule.cfa_offset = offset;
  return rule;
}

TEST(SharedRules, HaveOneNumberForEqualRules) {
  std::vector<wire_unwind_rule> memory(8);
  SharedRules rules(memory);
  EXPECT_EQ(rules.Acquire(unwind::Rule(), kNow), SharedRules::kNone);
  const std::uint32_t number = rules.Acquire(RuleOf(8), kNow);
  EXPECT_NE(number, SharedRules::kNone);
  EXPECT_EQ(memory[number].cfa_offset, 8);
  EXPECT_EQ(rules.Acquire(RuleOf(8), kNow), number);
  EXPECT_NE(rules.Acquire(RuleOf(16), kNow), number);
}

TEST(SharedRules, ReuseANumberWhenNobodyHasItAndNoProgramCanReadIt) {
  std::vector<wire_unwind_rule> memory(2);
  SharedRules rules(memory);
  const std::uint32_t number = rules.Acquire(RuleOf(8), kNow);
  EXPECT_EQ(rules.Acquire(RuleOf(8), kNow), number);
  EXPECT_EQ(rules.Acquire(RuleOf(16), kNow), SharedRules::kNone) << "no room";
  rules.Release(number, kNow);
  EXPECT_EQ(rules.Acquire(RuleOf(16), kLater), SharedRules::kNone) << "the other user has it";
  rules.Release(number, kNow);
  EXPECT_EQ(rules.Acquire(RuleOf(16), kLater - 1), SharedRules::kNone);
  EXPECT_EQ(memory[number].cfa_offset, 8) << "a program may read it";
  EXPECT_EQ(rules.Acquire(RuleOf(16), kLater), number);
  EXPECT_EQ(memory[number].cfa_offset, 16);
}

TEST(SharedRules, KeepTheNumberOfARuleWithoutRoom) {
  std::vector<wire_unwind_rule> memory(1);
  SharedRules rules(memory);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(rules.Acquire(RuleOf(8), kLater), SharedRules::kNone);
    rules.Release(SharedRules::kNone, kNow);
  }
  EXPECT_EQ(memory[SharedRules::kNone].cfa, WIRE_CFA_NONE);
}

}  // namespace
}  // namespace perftape::record
