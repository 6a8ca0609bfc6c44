// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/frame_expression.h"

#include <limits>
#include <optional>

#include "formats/unwind/constants.h"
#include "formats/unwind/frame_registers.h"

namespace perftape::unwind {
namespace {

using dwarf::Cursor;

struct RegisterAndOffset {
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
};

std::optional<RegisterAndOffset> ReadBreg(Cursor& at) {
  const auto opcode = at.Fixed<std::uint8_t>();
  RegisterAndOffset operand;
  if (opcode >= DW_OP_breg0 && opcode <= DW_OP_breg31) {
    operand.reg = opcode - DW_OP_breg0;
  } else if (opcode == DW_OP_bregx) {
    operand.reg = at.Uleb();
  } else {
    return std::nullopt;
  }
  operand.offset = at.Sleb();
  if (!at.ok()) return std::nullopt;
  return operand;
}

bool ReadOpcode(Cursor& at, std::uint8_t opcode) {
  return at.Fixed<std::uint8_t>() == opcode && at.ok();
}

std::optional<std::uint8_t> ReadLiteral(Cursor& at) {
  const auto opcode = at.Fixed<std::uint8_t>();
  if (!at.ok() || opcode < DW_OP_lit0 || opcode > DW_OP_lit31) return std::nullopt;
  return static_cast<std::uint8_t>(opcode - DW_OP_lit0);
}

// The expression after "breg sp n" in linkage tables. Returns the literal e.
std::optional<std::uint8_t> ReadPltPushEnd(Cursor at, std::uint64_t program_counter) {
  const std::optional<RegisterAndOffset> pc = ReadBreg(at);
  if (!pc || pc->reg != program_counter || pc->offset != 0) return std::nullopt;
  if (!ReadOpcode(at, DW_OP_lit0 + 15) || !ReadOpcode(at, DW_OP_and)) return std::nullopt;
  const std::optional<std::uint8_t> push_end = ReadLiteral(at);
  if (!push_end || !ReadOpcode(at, DW_OP_ge) || !ReadOpcode(at, DW_OP_lit0 + 3) ||
      !ReadOpcode(at, DW_OP_shl) || !ReadOpcode(at, DW_OP_plus) || at.remaining() != 0) {
    return std::nullopt;
  }
  return push_end;
}

}  // namespace

FrameAddress CfaExpression(Cursor expression, Machine machine) {
  Cursor at = expression;
  const FrameRegisters registers = FrameRegistersOf(machine);
  const std::optional<RegisterAndOffset> first = ReadBreg(at);
  if (!first) return {};
  FrameAddress cfa = {.type = FrameAddress::Type::kRegister,
                      .reg = first->reg,
                      .offset = first->offset,
                      .addend = 0};
  if (at.remaining() == 0) return cfa;
  if (machine == Machine::kX86_64 && first->reg == registers.stack_pointer) {
    if (const auto push_end = ReadPltPushEnd(at, registers.program_counter)) {
      cfa.type = FrameAddress::Type::kPlt;
      cfa.addend = *push_end;
      return cfa;
    }
  }
  if (!ReadOpcode(at, DW_OP_deref)) return {};
  cfa.type = FrameAddress::Type::kAtRegister;
  if (at.remaining() == 0) return cfa;
  if (!ReadOpcode(at, DW_OP_plus_uconst)) return {};
  const std::uint64_t addend = at.Uleb();
  if (!at.ok() || at.remaining() != 0) return {};
  if (addend > std::numeric_limits<std::uint8_t>::max()) return {};
  cfa.addend = static_cast<std::uint8_t>(addend);
  return cfa;
}

RegisterRule AddressExpression(Cursor expression, Machine machine) {
  using Type = RegisterRule::Type;
  Cursor at = expression;
  const FrameRegisters registers = FrameRegistersOf(machine);
  const std::optional<RegisterAndOffset> address = ReadBreg(at);
  if (!address || at.remaining() != 0) return {.type = Type::kOther, .offset = 0};
  if (address->reg == registers.stack_pointer) {
    return {.type = Type::kAtStackPointer, .offset = address->offset};
  }
  if (address->reg == registers.frame_pointer) {
    return {.type = Type::kAtFramePointer, .offset = address->offset};
  }
  return {.type = Type::kOther, .offset = 0};
}

}  // namespace perftape::unwind
