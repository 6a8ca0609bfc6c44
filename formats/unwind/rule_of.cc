// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include "formats/unwind/frame_program.h"
#include "formats/unwind/frame_registers.h"

namespace perftape::unwind {
namespace {

using RuleType = RegisterRule::Type;

constexpr Rule kUnsupportedRule = {.cfa = CfaRule::kUnsupported};

// Rule's offsets have 32 bits, one value of which means kInRegister.
std::optional<std::int32_t> Narrow(std::int64_t offset) {
  if (offset <= std::numeric_limits<std::int32_t>::min() ||
      offset > std::numeric_limits<std::int32_t>::max()) {
    return std::nullopt;
  }
  return static_cast<std::int32_t>(offset);
}

std::optional<CfaRule> CfaRuleOf(const FrameAddress& cfa, const FrameRegisters& registers) {
  if (cfa.reg >= registers.general || cfa.index >= registers.general) return std::nullopt;
  const bool from_sp = cfa.scale == 0 && cfa.reg == registers.stack_pointer;
  const bool from_fp = cfa.scale == 0 && cfa.reg == registers.frame_pointer;
  switch (cfa.type) {
    case FrameAddress::Type::kRegister:
      if (from_sp) return CfaRule::kStackPointer;
      return from_fp ? CfaRule::kFramePointer : CfaRule::kRegister;
    case FrameAddress::Type::kAtRegister:
      if (from_sp) return CfaRule::kAtStackPointer;
      return from_fp ? CfaRule::kAtFramePointer : CfaRule::kAtRegister;
    case FrameAddress::Type::kPlt:
      return CfaRule::kPlt;
    case FrameAddress::Type::kNone:
      break;
  }
  return std::nullopt;
}

// Where a register is, from the CFA if the CFA is at a fixed distance from the register that an
// expression uses.
RegisterRule FromCfa(RegisterRule rule, CfaRule cfa, std::int32_t cfa_offset) {
  if ((rule.type == RuleType::kAtStackPointer && cfa == CfaRule::kStackPointer) ||
      (rule.type == RuleType::kAtFramePointer && cfa == CfaRule::kFramePointer)) {
    const std::uint64_t offset = static_cast<std::uint64_t>(rule.offset) -
                                 static_cast<std::uint64_t>(std::int64_t{cfa_offset});
    return {.type = RuleType::kAtCfa, .offset = static_cast<std::int64_t>(offset)};
  }
  return rule;
}

bool IsInMemory(RuleType type) {
  return type == RuleType::kAtCfa || type == RuleType::kAtStackPointer ||
         type == RuleType::kAtFramePointer;
}

// False if Rule cannot express where the register is.
bool SetReturnAddress(const RegisterRule& ra, Machine machine, Rule& rule) {
  if (ra.type == RuleType::kInRegister) {
    const auto reg = static_cast<std::uint64_t>(ra.offset);
    if (reg == FrameRegistersOf(machine).count) rule.flags |= Rule::kReturnInCx;
    return reg == FrameRegistersOf(machine).link || reg == FrameRegistersOf(machine).count;
  }
  if (!IsInMemory(ra.type)) {
    // Calls leave it in the link register, on x86-64 in memory.
    return machine == Machine::kAArch64 &&
           (ra.type == RuleType::kUnspecified || ra.type == RuleType::kSameValue);
  }
  const auto offset = Narrow(ra.offset);
  if (!offset || ra.type == RuleType::kAtFramePointer) return false;
  if (ra.type == RuleType::kAtStackPointer) rule.flags |= Rule::kFromStackPointer;
  rule.ra_offset = *offset;
  return true;
}

// The same, after SetReturnAddress.
bool SetFramePointer(const RegisterRule& fp, const RegisterRule& ra, Rule& rule) {
  if (!IsInMemory(fp.type)) {
    return fp.type != RuleType::kOther && fp.type != RuleType::kInRegister;
  }
  const auto offset = Narrow(fp.offset);
  if (!offset) return false;
  if (fp.type == RuleType::kAtFramePointer) {
    rule.flags |= Rule::kFpFromFp;
  } else if (IsInMemory(ra.type) && fp.type != ra.type) {
    return false;  // one flag for both
  } else if (fp.type == RuleType::kAtStackPointer) {
    rule.flags |= Rule::kFromStackPointer;
  }
  rule.fp_offset = *offset;
  return true;
}

std::int8_t BxWords(const RegisterRule& bx) {
  constexpr std::int64_t kWord = kWordSize;
  if (bx.type == RuleType::kUnspecified || bx.type == RuleType::kSameValue) {
    return Rule::kBxUnchanged;
  }
  const std::int64_t words = bx.offset / kWord;
  if (bx.type != RuleType::kAtCfa || bx.offset % kWord != 0 || words == Rule::kBxUnchanged ||
      words <= Rule::kBxUnknown || words > std::numeric_limits<std::int8_t>::max()) {
    return Rule::kBxUnknown;
  }
  return static_cast<std::int8_t>(words);
}

}  // namespace

Rule RuleOf(const FrameState& state, Machine machine, bool signal_frame) {
  Rule rule;
  if (state.ra.type == RuleType::kUndefined) {
    rule.cfa = CfaRule::kEndOfStack;
    return rule;
  }
  const auto cfa = CfaRuleOf(state.cfa, FrameRegistersOf(machine));
  const auto cfa_offset = Narrow(state.cfa.offset);
  if (!cfa || !cfa_offset) return kUnsupportedRule;
  rule.cfa = *cfa;
  rule.cfa_offset = *cfa_offset;
  rule.addend = state.cfa.addend;
  rule.changed = state.changed;
  if (*cfa == CfaRule::kRegister || *cfa == CfaRule::kAtRegister) {
    rule.base = static_cast<std::uint8_t>(state.cfa.reg);
    rule.index = static_cast<std::uint8_t>(state.cfa.index);
    rule.scale = state.cfa.scale;
  }
  rule.bx_words = BxWords(FromCfa(state.bx, *cfa, *cfa_offset));
  if (signal_frame) rule.flags |= Rule::kSignalFrame;
  if (state.signed_return) rule.flags |= Rule::kSignedReturn;
  const RegisterRule ra = FromCfa(state.ra, *cfa, *cfa_offset);
  const RegisterRule fp = FromCfa(state.fp, *cfa, *cfa_offset);
  if (!SetReturnAddress(ra, machine, rule) || !SetFramePointer(fp, ra, rule)) {
    return kUnsupportedRule;
  }
  return rule;
}

}  // namespace perftape::unwind
