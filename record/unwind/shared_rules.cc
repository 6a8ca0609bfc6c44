// SPDX-License-Identifier: Apache-2.0
#include "record/unwind/shared_rules.h"

#include <bit>
#include <cstddef>

#include "record/unwind/unwind_arena.h"

namespace perftape::record {

namespace {

using unwind::CfaRule;
using unwind::Rule;

static_assert(sizeof(wire_unwind_rule) == sizeof(Rule));
static_assert(offsetof(wire_unwind_rule, fp_offset) == offsetof(Rule, fp_offset));
static_assert(offsetof(wire_unwind_rule, ra_offset) == offsetof(Rule, ra_offset));
static_assert(offsetof(wire_unwind_rule, cfa) == offsetof(Rule, cfa));
static_assert(offsetof(wire_unwind_rule, flags) == offsetof(Rule, flags));
static_assert(offsetof(wire_unwind_rule, addend) == offsetof(Rule, addend));
static_assert(offsetof(wire_unwind_rule, bx_words) == offsetof(Rule, bx_words));
static_assert(offsetof(wire_unwind_rule, base) == offsetof(Rule, base));
static_assert(offsetof(wire_unwind_rule, index) == offsetof(Rule, index));
static_assert(offsetof(wire_unwind_rule, scale) == offsetof(Rule, scale));
static_assert(offsetof(wire_unwind_rule, changed) == offsetof(Rule, changed));
static_assert(WIRE_CFA_NONE == static_cast<int>(CfaRule::kNone));
static_assert(WIRE_CFA_END_OF_STACK == static_cast<int>(CfaRule::kEndOfStack));
static_assert(WIRE_CFA_STACK_POINTER == static_cast<int>(CfaRule::kStackPointer));
static_assert(WIRE_CFA_FRAME_POINTER == static_cast<int>(CfaRule::kFramePointer));
static_assert(WIRE_CFA_AT_STACK_POINTER == static_cast<int>(CfaRule::kAtStackPointer));
static_assert(WIRE_CFA_AT_FRAME_POINTER == static_cast<int>(CfaRule::kAtFramePointer));
static_assert(WIRE_CFA_PLT == static_cast<int>(CfaRule::kPlt));
static_assert(WIRE_CFA_REGISTER == static_cast<int>(CfaRule::kRegister));
static_assert(WIRE_CFA_AT_REGISTER == static_cast<int>(CfaRule::kAtRegister));
static_assert(WIRE_CFA_UNSUPPORTED == static_cast<int>(CfaRule::kUnsupported));
static_assert(WIRE_RULE_IN_REGISTER == Rule::kInRegister);
static_assert(WIRE_RULE_SIGNAL_FRAME == Rule::kSignalFrame);
static_assert(WIRE_RULE_FROM_SP == Rule::kFromStackPointer);
static_assert(WIRE_RULE_SIGNED_RETURN == Rule::kSignedReturn);
static_assert(WIRE_RULE_FP_FROM_FP == Rule::kFpFromFp);
static_assert(WIRE_RULE_RETURN_IN_CX == Rule::kReturnInCx);
static_assert(WIRE_RULE_IN_GAP == Rule::kInGap);
static_assert(WIRE_RULE_DERIVED == Rule::kDerived);
static_assert(WIRE_RULE_OTHER_STACK == Rule::kOtherStack);
static_assert(WIRE_RULE_BX_UNCHANGED == Rule::kBxUnchanged);
static_assert(WIRE_RULE_BX_UNKNOWN == Rule::kBxUnknown);

}  // namespace

SharedRules::SharedRules(std::span<wire_unwind_rule> rules) : rules_(rules) {
  if (rules_.empty()) return;
  slots_.push_back({.key = KeyOf(Rule()), .uses = 1});  // is never released
  numbers_.emplace(slots_.front().key, kNone);
  rules_[kNone] = std::bit_cast<wire_unwind_rule>(Rule());
}

SharedRules::Key SharedRules::KeyOf(const Rule& rule) {
  const std::uint32_t rest = static_cast<std::uint32_t>(rule.cfa) | std::uint32_t{rule.flags} << 8 |
                             std::uint32_t{rule.addend} << 16 |
                             std::uint32_t{static_cast<std::uint8_t>(rule.bx_words)} << 24;
  const std::uint32_t sum =
      std::uint32_t{rule.base} | std::uint32_t{rule.index} << 8 | std::uint32_t{rule.scale} << 16;
  return {rule.cfa_offset, rule.fp_offset, rule.ra_offset, rest, sum, rule.changed};
}

std::uint32_t SharedRules::FreeNumberAt(std::uint64_t now_ns) {
  if (!free_.empty() && free_.front().since_ns + UnwindArena::kGraceNs <= now_ns) {
    const std::uint32_t number = free_.front().number;
    free_.pop_front();
    return number;
  }
  if (slots_.size() >= rules_.size()) return kNone;
  slots_.emplace_back();
  return static_cast<std::uint32_t>(slots_.size() - 1);
}

std::uint32_t SharedRules::Acquire(const Rule& rule, std::uint64_t now_ns) {
  const Key key = KeyOf(rule);
  if (const auto known = numbers_.find(key); known != numbers_.end()) {
    ++slots_[known->second].uses;
    return known->second;
  }
  const std::uint32_t number = FreeNumberAt(now_ns);
  if (number == kNone) return kNone;
  slots_[number] = {.key = key, .uses = 1};
  numbers_.emplace(key, number);
  rules_[number] = std::bit_cast<wire_unwind_rule>(rule);
  return number;
}

void SharedRules::Release(std::uint32_t number, std::uint64_t now_ns) {
  if (number == kNone || --slots_[number].uses > 0) return;
  numbers_.erase(slots_[number].key);
  free_.push_back({.number = number, .since_ns = now_ns});
}

}  // namespace perftape::record
