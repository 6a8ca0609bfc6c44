// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/derived_rules.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "formats/unwind/x86_instruction.h"

namespace perftape::unwind {
namespace {

constexpr std::int32_t kWordBytes = kWordSize;
// No function has a larger frame; what would be more is no frame.
constexpr std::int64_t kLargestFrame = std::int64_t{1} << 24;

// What is known before an instruction. The canonical frame address (CFA) is that of the rules.
struct StackState {
  static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::min();

  std::int32_t from_sp = kWordBytes;  // CFA - sp; kUnknown if only the frame pointer is known
  std::int32_t from_fp = kUnknown;    // CFA - fp, if fp keeps the frame
  std::int32_t saved_fp = kUnknown;   // the offset from the CFA of the caller's fp; kUnknown: in fp

  auto operator<=>(const StackState&) const = default;
};

Rule DerivedRuleOf(const StackState& state) {
  const bool by_fp = state.from_fp != StackState::kUnknown;
  return {.cfa_offset = by_fp ? state.from_fp : state.from_sp,
          .fp_offset = state.saved_fp == StackState::kUnknown ? Rule::kInRegister : state.saved_fp,
          .ra_offset = -kWordBytes,
          .cfa = by_fp ? CfaRule::kFramePointer : CfaRule::kStackPointer,
          .flags = Rule::kDerived,
          .addend = 0,
          .bx_words = Rule::kBxUnknown};
}

// Returns the state after an instruction that goes on with the next. Nothing if it is not known.
std::optional<StackState> After(const X86Instruction& instruction, StackState state) {
  using Type = X86Instruction::Type;
  const bool has_sp = state.from_sp != StackState::kUnknown;
  const bool has_fp = state.from_fp != StackState::kUnknown;
  // Sets CFA - sp. The return address stays on the stack.
  const auto with_sp = [&](std::int64_t from_sp) -> std::optional<StackState> {
    if (from_sp < kWordBytes || from_sp > kLargestFrame) return std::nullopt;
    state.from_sp = static_cast<std::int32_t>(from_sp);
    // What is below the stack pointer may be overwritten.
    if (state.saved_fp != StackState::kUnknown && state.saved_fp < -from_sp) return std::nullopt;
    return state;
  };
  switch (instruction.type) {
    case Type::kPush:
      if (!has_sp) return state;
      if (instruction.reg == kX86Fp && !has_fp && state.saved_fp == StackState::kUnknown) {
        state.saved_fp = -state.from_sp - kWordBytes;
      }
      return with_sp(std::int64_t{state.from_sp} + kWordBytes);
    case Type::kPop:
      if (instruction.reg == kX86Fp) {
        // Only the caller's value ends the frame.
        if (has_sp && state.saved_fp == -state.from_sp) state.saved_fp = StackState::kUnknown;
        state.from_fp = StackState::kUnknown;
        if (!has_sp) return std::nullopt;
      }
      return has_sp ? with_sp(std::int64_t{state.from_sp} - kWordBytes) : state;
    case Type::kAddToSp:
      return has_sp ? with_sp(state.from_sp - instruction.value) : state;
    case Type::kSpFromFp:
      if (!has_fp) return std::nullopt;
      return with_sp(state.from_fp - instruction.value);
    case Type::kFpFromSp:
      // An assembler may use the register for a pointer to the stack before it has saved it.
      if (!has_sp || state.saved_fp == StackState::kUnknown) return std::nullopt;
      state.from_fp = static_cast<std::int32_t>(state.from_sp - instruction.value);
      return state;
    case Type::kAlignSp:
      if (!has_fp) return std::nullopt;
      state.from_sp = StackState::kUnknown;
      return state;
    case Type::kSaveFp:
      if (has_sp && !has_fp && state.saved_fp == StackState::kUnknown) {
        state.saved_fp = static_cast<std::int32_t>(instruction.value - state.from_sp);
      }
      return state;
    case Type::kRestoreFp:
      if (has_sp && state.saved_fp == instruction.value - state.from_sp) {
        state.saved_fp = StackState::kUnknown;
      }
      [[fallthrough]];
    case Type::kChangesFp:
      state.from_fp = StackState::kUnknown;
      return has_sp ? std::optional(state) : std::nullopt;
    case Type::kLeave:
      if (!has_fp || state.saved_fp != -state.from_fp) return std::nullopt;
      state.saved_fp = StackState::kUnknown;
      state.from_sp = std::exchange(state.from_fp, StackState::kUnknown);
      return with_sp(std::int64_t{state.from_sp} - kWordBytes);
    default:
      return state;
  }
}

class Deriver {
 public:
  Deriver(const UndescribedCode& code, std::span<const FunctionExtent> functions)
      : code_(code),
        functions_(functions),
        at_(code.bytes.size(), kUnseen),
        is_entry_(code.bytes.size(), false) {
    states_.emplace_back();  // kEntry
    numbers_[StackState()] = kEntry;
  }

  std::vector<DerivedRow> Run() {
    for (const FunctionExtent& function : functions_) {
      if (!Has(function.start)) continue;
      AddEntry(function.start);
      is_entry_[entries_.back()] = true;
    }
    FollowEntries();
    FollowRest();
    return Rows();
  }

 private:
  // What is known of a byte: the number of a state before an instruction, or one of these.
  using Number = std::uint16_t;
  static constexpr Number kUnseen = 0, kInside = 1, kConflict = 2, kEntry = 3;
  static constexpr std::size_t kMostStates = std::numeric_limits<Number>::max();

  struct Path {
    std::size_t offset = 0;
    Number state = kEntry;
  };

  bool Has(std::uint64_t address) const {
    return address >= code_.start && address - code_.start < at_.size();
  }
  void AddEntry(std::uint64_t address) {
    if (!Has(address)) return;
    entries_.push_back(static_cast<std::size_t>(address - code_.start));
  }

  // The function of the symbol table that has this address. Null if there is none.
  const FunctionExtent* FunctionAt(std::uint64_t address) const {
    const auto next = std::ranges::upper_bound(functions_, address, {}, &FunctionExtent::start);
    if (next == functions_.begin() || std::prev(next)->end <= address) return nullptr;
    return &*std::prev(next);
  }
  // More states than there are numbers are not known.
  Number NumberOf(const StackState& state) {
    const auto known = numbers_.find(state);
    if (known != numbers_.end()) return known->second;
    const std::size_t number = kEntry + states_.size();
    if (number > kMostStates) return kConflict;
    states_.push_back(state);
    return numbers_[state] = static_cast<Number>(number);
  }
  const StackState& StateOf(Number number) const { return states_[number - kEntry]; }

  void FollowEntries() {
    // Calls add entries.
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (at_[entries_[i]] == kUnseen) Follow(entries_[i], kEntry);
    }
  }

  // Code that no path has led to yet. In a function of the symbol table, it is the target of an
  // indirect jump. Elsewhere it is a function without a symbol, if it follows the last instruction
  // of another.
  void FollowRest() {
    bool is_behind_function = true;
    for (std::size_t offset = 0; offset < at_.size();) {
      if (at_[offset] != kUnseen) {
        if (at_[offset] != kInside) is_behind_function = at_[offset] != kConflict;
        ++offset;
        continue;
      }
      if (is_behind_function && !IsPaddingAt(offset) && FollowUnseen(offset)) continue;
      is_behind_function = is_behind_function && IsPaddingAt(offset);
      const auto instruction = DecodeX86(code_.bytes.subspan(offset));
      offset += instruction ? instruction->size : 1;
    }
  }
  bool IsPaddingAt(std::size_t offset) const {
    const auto instruction = DecodeX86(code_.bytes.subspan(offset));
    return instruction && (instruction->type == X86Instruction::Type::kPadding ||
                           instruction->type == X86Instruction::Type::kTrap);
  }
  // Returns whether the address has a state or kConflict now.
  bool FollowUnseen(std::size_t offset) {
    const FunctionExtent* const function = FunctionAt(code_.start + offset);
    if (function == nullptr) {
      Follow(offset, kEntry);
      // Data may decode as instructions, too, but hardly as a function that returns.
      if (!has_returned_) ForgetMet();
    } else {
      const auto jump = jumps_.find(function->start);
      if (jump == jumps_.end()) return false;
      Follow(offset, jump->second);
    }
    FollowEntries();
    return at_[offset] != kUnseen;
  }

  // Follows all paths from an address. If one of them returns with another stack, all that was met
  // first has no rule.
  void Follow(std::size_t offset, Number state) {
    met_.clear();
    has_returned_ = false;
    is_function_ = true;
    paths_ = {{offset, state}};
    while (!paths_.empty()) {
      const Path path = paths_.back();
      paths_.pop_back();
      Walk(path.offset, path.state);
    }
    if (!is_function_) ForgetMet();
  }
  void ForgetMet() {
    for (const std::size_t met : met_) at_[met] = kConflict;
  }

  // What is known where two paths meet.
  Number Merge(Number a, Number b) {
    if (a == kConflict || b == kConflict) return kConflict;
    StackState merged = StateOf(a);
    const StackState& other = StateOf(b);
    const bool keeps_frame = merged.from_fp != StackState::kUnknown &&
                             merged.from_fp == other.from_fp && merged.saved_fp == other.saved_fp;
    if (!keeps_frame) return kConflict;
    merged.from_sp = StackState::kUnknown;
    return NumberOf(merged);
  }

  // Adds what is known before an instruction, and sets `state` to the result. Returns false if
  // nothing is new.
  bool Meet(std::size_t offset, Number& state) {
    Number& known = at_[offset];
    if (known == state || known == kConflict) return false;
    if (known != kUnseen && known != kInside) state = Merge(known, state);
    if (known == state) return false;
    known = state;
    met_.push_back(offset);
    return true;
  }

  // Nothing is known of what follows.
  void Stop(std::size_t offset) {
    if (offset < at_.size() && at_[offset] == kUnseen) at_[offset] = kConflict;
  }

  void Walk(std::size_t offset, Number state) {
    using Type = X86Instruction::Type;
    const std::size_t first = offset;
    Type last = Type::kOther;
    while (offset < at_.size()) {
      // A function may end with a call that does not return. Behind it is the next one, or padding.
      if (offset != first && state != kEntry && is_entry_[offset]) return;
      const auto instruction = DecodeX86(code_.bytes.subspan(offset));
      if (!instruction) return Stop(offset);
      const bool may_be_end = last == Type::kCall && instruction->type == Type::kPadding;
      if (may_be_end && FunctionAt(code_.start + offset) == nullptr) return Stop(offset);
      if (!Meet(offset, state)) return;
      for (std::size_t i = 1; i < instruction->size; ++i) {
        if (at_[offset + i] == kUnseen) at_[offset + i] = kInside;
      }
      const Next next = Step(*instruction, offset, state);
      offset += instruction->size;
      if (next == Next::kUnknown) return Stop(offset);
      if (next == Next::kNone) return;
      last = instruction->type;
    }
  }

  // What comes behind an instruction: another, for which `state` is set; nothing; or one that
  // nothing is known of.
  enum class Next : std::uint8_t { kInstruction, kNone, kUnknown };

  Next Step(const X86Instruction& instruction, std::size_t offset, Number& state) {
    using Type = X86Instruction::Type;
    const std::uint64_t address = code_.start + offset;
    const std::uint64_t target = address + static_cast<std::uint64_t>(instruction.target);
    switch (instruction.type) {
      case Type::kReturn:
        CheckReturn(state);
        return Next::kNone;
      case Type::kReturnAndPop:
        is_function_ = false;
        return Next::kNone;
      case Type::kTrap:
        return Next::kNone;
      case Type::kIndirectJump:
        NoteIndirectJump(address, state);
        return Next::kNone;
      case Type::kJump:
        JumpTo(target, state);
        return Next::kNone;
      case Type::kJumpIf:
        JumpTo(target, state);
        return Next::kInstruction;
      case Type::kCall:
        // Position-independent code calls the next instruction, to pop its address.
        if (instruction.target == instruction.size) {
          return Go({.type = Type::kPush}, state);
        }
        if (instruction.target != 0) AddEntry(target);
        return Next::kInstruction;
      default:
        return Go(instruction, state);
    }
  }

  Next Go(const X86Instruction& instruction, Number& state) {
    if (state == kConflict) return Next::kInstruction;
    const std::optional<StackState> after = After(instruction, StateOf(state));
    if (!after) return Next::kUnknown;
    state = NumberOf(*after);
    return Next::kInstruction;
  }

  void CheckReturn(Number state) {
    if (state == kConflict) return;
    const StackState& frame = StateOf(state);
    has_returned_ = true;
    if (frame.from_sp != kWordBytes || frame.saved_fp != StackState::kUnknown) is_function_ = false;
  }

  // A jump to the entry of another function is a call in the place of a return.
  void JumpTo(std::uint64_t target, Number state) {
    if (!Has(target)) return;
    const auto offset = static_cast<std::size_t>(target - code_.start);
    if (state != kEntry && is_entry_[offset]) return;
    if (at_[offset] != state) paths_.push_back({offset, state});
  }

  // The code that an indirect jump of a function leads to has the state before the jump, if all
  // such jumps of the function agree.
  void NoteIndirectJump(std::uint64_t address, Number state) {
    const FunctionExtent* const function = FunctionAt(address);
    if (function == nullptr) return;
    const auto [jump, is_first] = jumps_.emplace(function->start, state);
    if (!is_first && jump->second != state) jump->second = kConflict;
  }

  // A gap of less than this is padding inside a function, which is not executed.
  static constexpr std::size_t kShortGap = 16;

  std::vector<DerivedRow> Rows() const {
    std::vector<DerivedRow> rows;
    const auto add = [&](std::size_t offset, const Rule& rule) {
      if (rows.empty() ? rule.cfa != CfaRule::kNone : rows.back().rule != rule) {
        rows.push_back({.start = code_.start + offset, .rule = rule});
      }
    };
    std::optional<std::size_t> gap;
    for (std::size_t offset = 0; offset < at_.size(); ++offset) {
      if (at_[offset] == kInside) continue;
      if (at_[offset] == kUnseen) {
        if (!gap) gap = offset;
        continue;
      }
      const Rule rule = at_[offset] == kConflict ? Rule() : DerivedRuleOf(StateOf(at_[offset]));
      if (gap && (offset - *gap >= kShortGap || rows.empty() || rows.back().rule != rule)) {
        add(*gap, Rule());
      }
      gap.reset();
      add(offset, rule);
    }
    add(gap.value_or(at_.size()), Rule());
    return rows;
  }

  const UndescribedCode& code_;
  std::span<const FunctionExtent> functions_;
  std::vector<Number> at_;      // for each byte
  std::vector<bool> is_entry_;  // the same: a function of the symbol table begins there
  std::vector<StackState> states_;
  std::map<StackState, Number> numbers_;
  std::vector<std::size_t> entries_;
  std::map<std::uint64_t, Number> jumps_;  // by the start of the function
  // Of the last Follow.
  std::vector<Path> paths_;
  std::vector<std::size_t> met_;
  bool is_function_ = true;    // false: a path returns with another stack
  bool has_returned_ = false;  // a path returns
};

}  // namespace

std::vector<DerivedRow> DeriveRules(const UndescribedCode& code,
                                    std::span<const FunctionExtent> functions) {
  return Deriver(code, functions).Run();
}

}  // namespace perftape::unwind
