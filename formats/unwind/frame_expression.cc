// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/frame_expression.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "formats/unwind/constants.h"
#include "formats/unwind/frame_registers.h"

namespace perftape::unwind {
namespace {

using dwarf::Cursor;

// A value that depends on registers: their sum, each with a factor, and an offset; or the word at
// this address and an addend. Numbers wrap around.
struct Value {
  struct Term {
    std::uint64_t reg = 0;
    std::uint64_t factor = 0;
  };
  std::array<Term, 2> terms = {};
  std::size_t term_count = 0;
  std::uint64_t offset = 0;
  bool is_loaded = false;
  std::uint64_t addend = 0;  // if it is loaded

  bool is_constant() const { return term_count == 0 && !is_loaded; }
};

bool Add(Value& to, const Value& value) {
  if (value.is_constant()) {
    (to.is_loaded ? to.addend : to.offset) += value.offset;
    return true;
  }
  if (to.is_loaded || value.is_loaded || to.term_count + value.term_count > to.terms.size()) {
    return false;
  }
  for (std::size_t i = 0; i < value.term_count; ++i) to.terms[to.term_count++] = value.terms[i];
  to.offset += value.offset;
  return true;
}

bool Multiply(Value& value, std::uint64_t factor) {
  if (value.is_loaded) return false;
  for (Value::Term& term : value.terms) term.factor *= factor;
  value.offset *= factor;
  return true;
}

// The expressions of compilers and assemblers need three values at most.
class ValueStack {
 public:
  bool Push(const Value& value) {
    if (size_ == values_.size()) return false;
    values_[size_++] = value;
    return true;
  }
  bool Run(std::uint8_t opcode, Cursor& at);
  std::optional<Value> Only() const {
    return size_ == 1 ? std::optional(values_[0]) : std::nullopt;
  }

 private:
  Value& top() { return values_[size_ - 1]; }
  bool RunOnTwo(std::uint8_t opcode);

  std::array<Value, 8> values_ = {};
  std::size_t size_ = 0;
};

Value Constant(std::uint64_t number) {
  Value value;
  value.offset = number;
  return value;
}

Value Register(std::uint64_t reg, std::int64_t offset) {
  Value value = Constant(static_cast<std::uint64_t>(offset));
  value.terms[0] = {.reg = reg, .factor = 1};
  value.term_count = 1;
  return value;
}

template <class Integer>
std::uint64_t ReadSigned(Cursor& at) {
  return static_cast<std::uint64_t>(
      std::int64_t{static_cast<Integer>(at.Fixed<std::make_unsigned_t<Integer>>())});
}

// The number that an operation pushes.
std::optional<std::uint64_t> ReadConstant(std::uint8_t opcode, Cursor& at) {
  if (opcode >= DW_OP_lit0 && opcode <= DW_OP_lit31) return opcode - DW_OP_lit0;
  switch (opcode) {
    case DW_OP_const1u:
      return at.Fixed<std::uint8_t>();
    case DW_OP_const1s:
      return ReadSigned<std::int8_t>(at);
    case DW_OP_const2u:
      return at.Fixed<std::uint16_t>();
    case DW_OP_const2s:
      return ReadSigned<std::int16_t>(at);
    case DW_OP_const4u:
      return at.Fixed<std::uint32_t>();
    case DW_OP_const4s:
      return ReadSigned<std::int32_t>(at);
    case DW_OP_const8u:
    case DW_OP_const8s:
      return at.Fixed<std::uint64_t>();
    case DW_OP_constu:
      return at.Uleb();
    case DW_OP_consts:
      return static_cast<std::uint64_t>(at.Sleb());
    default:
      return std::nullopt;
  }
}

bool ValueStack::Run(std::uint8_t opcode, Cursor& at) {
  if (const auto number = ReadConstant(opcode, at)) return Push(Constant(*number));
  if (opcode >= DW_OP_breg0 && opcode <= DW_OP_breg31) {
    return Push(Register(opcode - DW_OP_breg0, at.Sleb()));
  }
  if (opcode == DW_OP_bregx) {
    const std::uint64_t reg = at.Uleb();
    return Push(Register(reg, at.Sleb()));
  }
  if (opcode == DW_OP_nop) return true;
  if (size_ == 0) return false;
  switch (opcode) {
    case DW_OP_deref:
      if (top().is_loaded) return false;
      top().is_loaded = true;
      return true;
    case DW_OP_plus_uconst:
      return Add(top(), Constant(at.Uleb()));
    default:
      return RunOnTwo(opcode);
  }
}

bool ValueStack::RunOnTwo(std::uint8_t opcode) {
  if (size_ < 2) return false;
  Value second = values_[--size_];
  switch (opcode) {
    case DW_OP_plus:
      if (top().is_constant()) std::swap(top(), second);
      return Add(top(), second);
    case DW_OP_minus:
      return second.is_constant() && Add(top(), Constant(0 - second.offset));
    case DW_OP_mul:
      if (top().is_constant()) std::swap(top(), second);
      return second.is_constant() && Multiply(top(), second.offset);
    case DW_OP_shl:
      return second.is_constant() && second.offset < 64 &&
             Multiply(top(), std::uint64_t{1} << second.offset);
    default:
      return false;
  }
}

std::optional<Value> ValueOf(Cursor at) {
  ValueStack stack;
  while (at.remaining() != 0) {
    if (!stack.Run(at.Fixed<std::uint8_t>(), at) || !at.ok()) return std::nullopt;
  }
  return stack.Only();
}

bool ReadOpcode(Cursor& at, std::uint8_t opcode) {
  return at.Fixed<std::uint8_t>() == opcode && at.ok();
}

// The entries of a linkage table, whose word is pushed from a byte of the entry on.
std::optional<FrameAddress> PltAddress(Cursor at, const FrameRegisters& registers) {
  FrameAddress cfa = {.type = FrameAddress::Type::kPlt, .reg = registers.stack_pointer};
  if (!ReadOpcode(at, static_cast<std::uint8_t>(DW_OP_breg0 + cfa.reg))) return std::nullopt;
  cfa.offset = at.Sleb();
  if (!ReadOpcode(at, static_cast<std::uint8_t>(DW_OP_breg0 + registers.program_counter)) ||
      at.Sleb() != 0 || !ReadOpcode(at, DW_OP_lit0 + 15) || !ReadOpcode(at, DW_OP_and)) {
    return std::nullopt;
  }
  const auto push_end = at.Fixed<std::uint8_t>();
  if (push_end < DW_OP_lit0 || push_end > DW_OP_lit31) return std::nullopt;
  cfa.addend = static_cast<std::uint8_t>(push_end - DW_OP_lit0);
  if (!ReadOpcode(at, DW_OP_ge) || !ReadOpcode(at, DW_OP_lit0 + 3) || !ReadOpcode(at, DW_OP_shl) ||
      !ReadOpcode(at, DW_OP_plus) || at.remaining() != 0) {
    return std::nullopt;
  }
  return cfa;
}

}  // namespace

FrameAddress CfaExpression(Cursor expression, Machine machine) {
  if (machine == Machine::kX86_64) {
    if (const auto cfa = PltAddress(expression, FrameRegistersOf(machine))) return *cfa;
  }
  std::optional<Value> value = ValueOf(expression);
  if (!value || value->term_count == 0) return {};
  auto& [base, index] = value->terms;
  if (base.factor != 1) std::swap(base, index);
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint8_t>::max();
  if (base.factor != 1 || index.factor > kMost || value->addend > kMost) return {};
  return {
      .type = value->is_loaded ? FrameAddress::Type::kAtRegister : FrameAddress::Type::kRegister,
      .reg = base.reg,
      .offset = static_cast<std::int64_t>(value->offset),
      .addend = static_cast<std::uint8_t>(value->addend),
      .index = index.reg,
      .scale = static_cast<std::uint8_t>(index.factor)};
}

RegisterRule AddressExpression(Cursor expression, Machine machine) {
  using RuleType = RegisterRule::Type;
  const FrameRegisters registers = FrameRegistersOf(machine);
  const std::optional<Value> value = ValueOf(expression);
  RegisterRule rule = {.type = RuleType::kOther, .offset = 0};
  if (!value || value->is_loaded || value->term_count != 1 || value->terms[0].factor != 1) {
    return rule;
  }
  const std::uint64_t reg = value->terms[0].reg;
  if (reg != registers.stack_pointer && reg != registers.frame_pointer) return rule;
  rule.type =
      reg == registers.stack_pointer ? RuleType::kAtStackPointer : RuleType::kAtFramePointer;
  rule.offset = static_cast<std::int64_t>(value->offset);
  return rule;
}

}  // namespace perftape::unwind
