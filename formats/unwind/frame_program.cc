// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/frame_program.h"

#include <cstddef>
#include <optional>

#include "formats/unwind/constants.h"
#include "formats/unwind/frame_expression.h"
#include "formats/unwind/frame_registers.h"

namespace perftape::unwind {
namespace {

using RuleType = RegisterRule::Type;

// Compilers nest DW_CFA_remember_state once. The limit bounds the memory that hostile input needs.
constexpr std::size_t kMaxRemembered = 64;

constexpr std::uint8_t kOperandMask = 0x3f;

}  // namespace

bool FrameProgram::NextRow() {
  if (done_ || !ok_) return false;
  start_ = next_start_;
  while (at_.remaining() != 0) {
    const Effect effect = Run(at_.Fixed<std::uint8_t>());
    if (effect == Effect::kDamaged || !at_.ok()) {
      ok_ = false;
      next_start_ = start_;
      return false;
    }
    if (effect == Effect::kNewRow) return true;
  }
  done_ = true;
  return true;
}

FrameProgram::Effect FrameProgram::Run(std::uint8_t opcode) {
  const std::uint8_t operand = opcode & kOperandMask;
  switch (opcode & ~kOperandMask) {
    case DW_CFA_advance_loc:
      return Advance(operand);
    case DW_CFA_offset:
      SetRule(operand, {.type = RuleType::kAtCfa,
                        .offset = Factored(static_cast<std::int64_t>(at_.Uleb()))});
      return Effect::kSameRow;
    case DW_CFA_restore:
      RestoreRule(operand);
      return Effect::kSameRow;
    default:
      break;
  }
  switch (opcode) {
    case DW_CFA_nop:
      return Effect::kSameRow;
    case DW_CFA_set_loc:
      return SetLocation();
    case DW_CFA_advance_loc1:
      return Advance(at_.Fixed<std::uint8_t>());
    case DW_CFA_advance_loc2:
      return Advance(at_.Fixed<std::uint16_t>());
    case DW_CFA_advance_loc4:
      return Advance(at_.Fixed<std::uint32_t>());
    case DW_CFA_MIPS_advance_loc8:
      return Advance(at_.Fixed<std::uint64_t>());
    case DW_CFA_remember_state:
      return Remember();
    case DW_CFA_restore_state:
      return Restore();
    case DW_CFA_AARCH64_negate_ra_state:
    case DW_CFA_AARCH64_negate_ra_state_with_pc:
      if (context_.machine != Machine::kAArch64) return Effect::kDamaged;
      state_.signed_return = !state_.signed_return;
      return Effect::kSameRow;
    case DW_CFA_GNU_args_size:
      at_.Uleb();
      return Effect::kSameRow;
    default:
      return RunCfa(opcode);
  }
}

FrameProgram::Effect FrameProgram::RunCfa(std::uint8_t opcode) {
  switch (opcode) {
    case DW_CFA_def_cfa:
      DefineRegister(at_.Uleb());
      DefineOffset(static_cast<std::int64_t>(at_.Uleb()));
      return Effect::kSameRow;
    case DW_CFA_def_cfa_sf:
      DefineRegister(at_.Uleb());
      DefineOffset(Factored(at_.Sleb()));
      return Effect::kSameRow;
    case DW_CFA_def_cfa_register:
      DefineRegister(at_.Uleb());
      return Effect::kSameRow;
    case DW_CFA_def_cfa_offset:
      DefineOffset(static_cast<std::int64_t>(at_.Uleb()));
      return Effect::kSameRow;
    case DW_CFA_def_cfa_offset_sf:
      DefineOffset(Factored(at_.Sleb()));
      return Effect::kSameRow;
    case DW_CFA_def_cfa_expression:
      state_.cfa = CfaExpression(Block(), context_.machine);
      return Effect::kSameRow;
    default:
      return RunRegister(opcode);
  }
}

FrameProgram::Effect FrameProgram::RunRegister(std::uint8_t opcode) {
  if (opcode < DW_CFA_offset_extended || opcode > DW_CFA_GNU_negative_offset_extended) {
    return Effect::kDamaged;
  }
  const std::uint64_t reg = at_.Uleb();
  const auto at_cfa = [&](std::int64_t factored) {
    SetRule(reg, {.type = RuleType::kAtCfa, .offset = Factored(factored)});
  };
  switch (opcode) {
    case DW_CFA_offset_extended:
      at_cfa(static_cast<std::int64_t>(at_.Uleb()));
      return Effect::kSameRow;
    case DW_CFA_offset_extended_sf:
      at_cfa(at_.Sleb());
      return Effect::kSameRow;
    case DW_CFA_GNU_negative_offset_extended:
      at_cfa(static_cast<std::int64_t>(-at_.Uleb()));
      return Effect::kSameRow;
    case DW_CFA_restore_extended:
      RestoreRule(reg);
      return Effect::kSameRow;
    case DW_CFA_undefined:
      SetRule(reg, {.type = RuleType::kUndefined, .offset = 0});
      return Effect::kSameRow;
    case DW_CFA_same_value:
      SetRule(reg, {.type = RuleType::kSameValue, .offset = 0});
      return Effect::kSameRow;
    case DW_CFA_expression:
      SetRule(reg, AddressExpression(Block(), context_.machine));
      return Effect::kSameRow;
    case DW_CFA_register:
      SetRule(reg,
              {.type = RuleType::kInRegister, .offset = static_cast<std::int64_t>(at_.Uleb())});
      return Effect::kSameRow;
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
      at_.Uleb();  // as long as the signed one
      SetRule(reg, {.type = RuleType::kOther, .offset = 0});
      return Effect::kSameRow;
    case DW_CFA_val_expression:
      Block();
      SetRule(reg, {.type = RuleType::kOther, .offset = 0});
      return Effect::kSameRow;
    default:
      return Effect::kDamaged;
  }
}

FrameProgram::Effect FrameProgram::Advance(std::uint64_t units) {
  const std::uint64_t next = start_ + units * context_.code_alignment;
  if (next < start_) return Effect::kDamaged;
  next_start_ = next;
  return Effect::kNewRow;
}

FrameProgram::Effect FrameProgram::SetLocation() {
  const auto location = ReadEncodedPointer(at_, context_.pointer_encoding, context_.bases);
  if (!location || *location < start_) return Effect::kDamaged;
  next_start_ = *location;
  return Effect::kNewRow;
}

FrameProgram::Effect FrameProgram::Remember() {
  if (remembered_.size() == kMaxRemembered) return Effect::kDamaged;
  remembered_.push_back(state_);
  return Effect::kSameRow;
}

FrameProgram::Effect FrameProgram::Restore() {
  if (remembered_.empty()) return Effect::kDamaged;
  state_ = remembered_.back();
  remembered_.pop_back();
  return Effect::kSameRow;
}

void FrameProgram::DefineRegister(std::uint64_t reg) {
  state_.cfa = {.type = FrameAddress::Type::kRegister,
                .reg = reg,
                .offset = state_.register_offset,
                .addend = 0};
}

void FrameProgram::DefineOffset(std::int64_t offset) {
  state_.register_offset = offset;
  if (state_.cfa.type == FrameAddress::Type::kRegister) state_.cfa.offset = offset;
}

RegisterRule FrameState::*FrameProgram::RuleMember(std::uint64_t reg) const {
  const FrameRegisters registers = FrameRegistersOf(context_.machine);
  if (reg == context_.return_register) return &FrameState::ra;
  if (reg == registers.frame_pointer) return &FrameState::fp;
  if (reg == registers.base) return &FrameState::bx;
  return nullptr;
}

void FrameProgram::SetRule(std::uint64_t reg, RegisterRule rule) {
  if (const auto member = RuleMember(reg)) state_.*member = rule;
  SetChanged(reg, rule.type != RuleType::kUnspecified && rule.type != RuleType::kSameValue);
}

void FrameProgram::SetChanged(std::uint64_t reg, bool is_changed) {
  const FrameRegisters registers = FrameRegistersOf(context_.machine);
  const bool has_member = RuleMember(reg) != nullptr || reg == registers.stack_pointer;
  if (reg >= registers.general || has_member) return;
  const std::uint32_t bit = std::uint32_t{1} << reg;
  state_.changed = is_changed ? state_.changed | bit : state_.changed & ~bit;
}

void FrameProgram::RestoreRule(std::uint64_t reg) {
  if (const auto member = RuleMember(reg)) state_.*member = context_.initial.*member;
  SetChanged(reg, reg < 32 && (context_.initial.changed >> reg & 1) != 0);
}

std::int64_t FrameProgram::Factored(std::int64_t offset) const {
  // Hostile factors may overflow, so the product is unsigned.
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) *
                                   static_cast<std::uint64_t>(context_.data_alignment));
}

dwarf::Cursor FrameProgram::Block() {
  const std::uint64_t size = at_.Uleb();
  dwarf::Cursor block = at_;
  at_.Skip(size);
  block.EndAfter(size);
  return block;
}

}  // namespace perftape::unwind
