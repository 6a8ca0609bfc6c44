// SPDX-License-Identifier: Apache-2.0
// Runs the instructions of call frame information (DW_CFA_*, DWARF 5, 6.4.2), for the registers
// that a stack walk needs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/dwarf/cursor.h"
#include "formats/unwind/encoded_pointer.h"
#include "formats/unwind/rule.h"

namespace perftape::unwind {

// Where a register of the caller is.
struct RegisterRule {
  enum class Type : std::uint8_t {
    kUnspecified,
    kSameValue,
    kUndefined,
    kAtCfa,           // in memory at CFA + offset
    kAtStackPointer,  // in memory at sp + offset
    kAtFramePointer,  // in memory at fp + offset
    kInRegister,      // in the register with the number `offset`
    kOther,           // an expression that Rule cannot express
  };
  Type type = Type::kUnspecified;
  std::int64_t offset = 0;
};

// The canonical frame address.
struct FrameAddress {
  enum class Type : std::uint8_t {
    kNone,        // undefined, or an expression that Rule cannot express
    kRegister,    // register + scale * index + offset
    kAtRegister,  // *(register + scale * index + offset) + addend
    kPlt,         // sp + offset, and 8 more from byte `addend` of a 16-byte entry on
  };
  Type type = Type::kNone;
  std::uint64_t reg = 0;
  std::int64_t offset = 0;
  std::uint8_t addend = 0;
  std::uint64_t index = 0;  // another register
  std::uint8_t scale = 0;   // 0: there is no index
};

// The rules at one instruction.
struct FrameState {
  FrameAddress cfa;
  // The last offset that was defined, even if an expression overrides it for now. GCC's unwinder
  // and readelf return to it with DW_CFA_def_cfa_register.
  std::int64_t register_offset = 0;
  RegisterRule fp, bx, ra;
  std::uint32_t changed = 0;  // the other registers that do not have their values in the caller
  bool signed_return = false;
};

// What the instructions of a CIE and of its FDEs refer to.
struct ProgramContext {
  Machine machine = Machine::kX86_64;
  std::uint64_t return_register = 0;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint8_t pointer_encoding = 0;
  PointerBases bases;
  FrameState initial;  // after the instructions of the CIE, to which DW_CFA_restore returns
};

// The instructions of one CIE or FDE. Its rows follow each other:
//
//   FrameProgram program(instructions, context, start);
//   while (program.NextRow()) Add(program.start(), program.state());
//
// A damaged or unknown instruction ends the program, and ok() is false. Then nothing is known from
// next_start() on.
class FrameProgram {
 public:
  // `context` must outlive the program. The cursor ends with the instructions.
  FrameProgram(dwarf::Cursor instructions, const ProgramContext& context, std::uint64_t start)
      : at_(instructions), context_(context), next_start_(start), state_(context.initial) {}

  // Runs up to the next instruction that changes the address, or to the end. False if there is no
  // further row. Rows may be empty: two can have the same start.
  bool NextRow();

  std::uint64_t start() const { return start_; }
  // The start of the next row, up to which this one holds. Equals start() in the last one.
  std::uint64_t next_start() const { return next_start_; }
  const FrameState& state() const { return state_; }
  bool ok() const { return ok_; }

 private:
  enum class Effect : std::uint8_t { kSameRow, kNewRow, kDamaged };

  Effect Run(std::uint8_t opcode);
  Effect RunCfa(std::uint8_t opcode);
  Effect RunRegister(std::uint8_t opcode);
  Effect Advance(std::uint64_t units);
  Effect SetLocation();
  Effect Remember();
  Effect Restore();
  void DefineRegister(std::uint64_t reg);
  void DefineOffset(std::int64_t offset);
  // Returns where the rule of a register is kept; null if it is not.
  RegisterRule FrameState::*RuleMember(std::uint64_t reg) const;
  void SetRule(std::uint64_t reg, RegisterRule rule);
  void SetChanged(std::uint64_t reg, bool is_changed);
  void RestoreRule(std::uint64_t reg);
  std::int64_t Factored(std::int64_t offset) const;
  dwarf::Cursor Block();

  dwarf::Cursor at_;
  const ProgramContext& context_;
  std::uint64_t start_ = 0;
  std::uint64_t next_start_;
  FrameState state_;
  std::vector<FrameState> remembered_;
  bool done_ = false;
  bool ok_ = true;
};

// The rule of a state. kNone if Rule cannot express it.
Rule RuleOf(const FrameState& state, Machine machine, bool signal_frame);

}  // namespace perftape::unwind
