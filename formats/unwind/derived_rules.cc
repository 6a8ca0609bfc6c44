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
        is_entry_(code.bytes.size(), false),
        is_function_(code.bytes.size(), false),
        is_tried_(code.bytes.size(), false),
        trials_left_(kMostTrials * code.bytes.size()) {
    states_.emplace_back();  // kEntry
    numbers_[StackState()] = kEntry;
  }

  std::vector<DerivedRow> Run() {
    for (const FunctionExtent& function : functions_) {
      if (!Has(function.start) || IsLabel(function)) continue;
      AddEntry(function.start);
      is_entry_[entries_.back()] = true;
    }
    FollowEntries();
    TryLabels();
    FollowRest();
    return Rows();
  }

 private:
  // What is known of a byte: the number of a state before an instruction, or one of these.
  using Number = std::uint16_t;
  static constexpr Number kUnseen = 0, kInside = 1, kConflict = 2, kEntry = 3;
  static constexpr std::size_t kMostStates = std::numeric_limits<Number>::max();
  // How many instructions are tried at most, for each byte of the code.
  static constexpr std::size_t kMostTrials = 4;

  struct Path {
    std::size_t offset = 0;
    Number state = kEntry;
  };
  // A change of at_.
  struct Change {
    std::size_t offset = 0;
    Number before = kUnseen;
  };

  static bool IsLabel(const FunctionExtent& function) { return function.start == function.end; }
  bool Has(std::uint64_t address) const {
    return address >= code_.start && address - code_.start < at_.size();
  }
  std::size_t OffsetOf(std::uint64_t address) const {
    return static_cast<std::size_t>(address - code_.start);
  }
  void AddEntry(std::uint64_t address) {
    if (Has(address)) entries_.push_back(OffsetOf(address));
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
    for (; followed_ < entries_.size(); ++followed_) {
      const std::size_t entry = entries_[followed_];
      is_function_[entry] = true;
      if (at_[entry] == kUnseen) FollowSure(entry, kEntry);
    }
  }

  void TryLabels() {
    for (const FunctionExtent& label : functions_) {
      if (!IsLabel(label) || !Has(label.start) || at_[OffsetOf(label.start)] != kUnseen) continue;
      (void)Try({OffsetOf(label.start), kEntry});
      FollowEntries();
    }
  }

  // Code that no path has led to yet. In a function of the symbol table, it is the target of an
  // indirect jump. Elsewhere it may be a function without a symbol, if it follows the last
  // instruction of another. In code that is not known, functions begin where compilers and
  // assemblers align them.
  void FollowRest() {
    bool may_begin = true, has_ended = false;
    for (std::size_t offset = 0; offset < at_.size();) {
      if (is_function_[offset]) last_function_ = offset;
      if (at_[offset] == kInside || at_[offset] >= kEntry) {
        may_begin = has_ended = true;
        ++offset;
        continue;
      }
      const auto instruction = DecodeX86(code_.bytes.subspan(offset));
      const bool is_padding = instruction && IsPadding(*instruction);
      may_begin = may_begin || (has_ended && (code_.start + offset) % kAlignment == 0);
      if (at_[offset] == kUnseen && may_begin && !is_padding) {
        if (FollowUnseen(offset)) continue;
        at_[offset] = kConflict;
      }
      may_begin = may_begin && is_padding;
      has_ended = instruction && (is_padding ? has_ended : IsEnd(*instruction));
      offset += instruction ? instruction->size : 1;
    }
  }
  static constexpr std::uint64_t kAlignment = 16;

  static bool IsPadding(const X86Instruction& instruction) {
    return instruction.type == X86Instruction::Type::kPadding ||
           instruction.type == X86Instruction::Type::kTrap;
  }
  static bool IsEnd(const X86Instruction& instruction) {
    using Type = X86Instruction::Type;
    return instruction.type == Type::kReturn || instruction.type == Type::kJump ||
           instruction.type == Type::kIndirectJump || instruction.type == Type::kHalt;
  }
  // Returns whether the address has a state or kConflict now.
  bool FollowUnseen(std::size_t offset) {
    const FunctionExtent* const function = FunctionAt(code_.start + offset);
    if (function == nullptr) {
      is_function_[offset] = Try({offset, kEntry});
      if (!is_function_[offset]) (void)TryTargetOfJump(offset);
    } else {
      const auto jump = jumps_.find(function->start);
      if (jump == jumps_.end()) return false;
      FollowSure(offset, jump->second);
    }
    FollowEntries();
    return at_[offset] != kUnseen;
  }

  // Without symbols, the last indirect jump of the function before the address may lead to it.
  bool TryTargetOfJump(std::size_t offset) {
    const auto next = jumps_without_symbol_.lower_bound(offset);
    if (next == jumps_without_symbol_.begin() || std::prev(next)->first < last_function_) {
      return false;
    }
    return Try({offset, std::prev(next)->second});
  }

  // Follows all paths from an address that is certain. If one of them returns with another stack,
  // all that was met first has no rule.
  void FollowSure(std::size_t offset, Number state) {
    changes_.clear();
    doubtful_.clear();
    Follow({offset, state});
    if (fits_) {
      (void)TryDoubtful();
      return;
    }
    for (const Change& change : changes_) {
      if (at_[change.offset] != kInside) at_[change.offset] = kConflict;
    }
  }

  // Follows all paths from an address that may be executed with this state. Undoes all if something
  // contradicts, and if nothing shows that it is code: data may decode as instructions, too, but
  // hardly as a function that returns, or that goes on in another. Returns whether it was kept.
  bool Try(const Path& path) {
    changes_.clear();
    doubtful_.clear();
    const std::size_t entries = entries_.size();
    Follow(path, Certainty::kTried);
    const bool is_code = IsCode();
    const bool is_kept = fits_ && (TryDoubtful() || is_code);
    if (!is_kept) Undo(0, entries);
    return is_kept;
  }

  // The same for each of the addresses where code may go on. Returns whether one was kept.
  bool TryDoubtful() {
    bool is_any_kept = false;
    for (std::size_t next = 0; next < doubtful_.size(); ++next) {
      const Path path = doubtful_[next];
      if (path.offset >= at_.size() || at_[path.offset] != kUnseen) continue;
      const std::size_t changes = changes_.size(), entries = entries_.size();
      const std::size_t doubtful = doubtful_.size();
      Follow(path, Certainty::kTried);
      if (fits_ && IsCode()) {
        is_any_kept = true;
        continue;
      }
      Undo(changes, entries);
      doubtful_.resize(doubtful);
    }
    return is_any_kept;
  }

  bool IsCode() const { return is_code_ || (calls_function_ && !is_misaligned_); }

  void Undo(std::size_t changes, std::size_t entries) {
    for (; changes_.size() > changes; changes_.pop_back()) {
      at_[changes_.back().offset] = changes_.back().before;
    }
    entries_.resize(entries);
  }

  enum class Certainty : std::uint8_t { kSure, kTried };

  // Sets fits_ and is_code_.
  void Follow(const Path& start, Certainty certainty = Certainty::kSure) {
    certainty_ = certainty;
    const std::size_t first_change = changes_.size();
    is_code_ = calls_function_ = is_misaligned_ = false;
    fits_ = true;
    paths_ = {start};
    while (!paths_.empty() && (fits_ || certainty == Certainty::kSure)) {
      const Path path = paths_.back();
      paths_.pop_back();
      Walk(path.offset, path.state);
    }
    if (certainty == Certainty::kSure) return;
    for (std::size_t i = first_change; i < changes_.size(); ++i) {
      is_tried_[changes_[i].offset] = false;
    }
  }

  void Set(std::size_t offset, Number number) {
    changes_.push_back({.offset = offset, .before = at_[offset]});
    at_[offset] = number;
    if (certainty_ == Certainty::kTried) is_tried_[offset] = true;
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

  bool IsKnownBeforeTrial(std::size_t offset) const {
    return certainty_ == Certainty::kTried && at_[offset] != kUnseen && !is_tried_[offset];
  }

  // Adds what is known before an instruction, and sets `state` to the result. Returns false if
  // nothing is new.
  bool Reach(std::size_t offset, Number& state, bool by_jump) {
    if (IsKnownBeforeTrial(offset)) {
      Compare(at_[offset], state, by_jump);
      return false;
    }
    const Number known = at_[offset];
    if (known == state || known == kConflict) return false;
    if (known != kUnseen && known != kInside) state = Merge(known, state);
    if (known == state) return false;
    if (state == kConflict) fits_ = fits_ && certainty_ == Certainty::kSure;
    Set(offset, state);
    return true;
  }
  // Of a trial that has come to known code.
  void Compare(Number known, Number state, bool by_jump) {
    if (known == kConflict) return;
    if (known != state) fits_ = false;
    // Data may end where a function begins.
    if (by_jump || state != kEntry) is_code_ = true;
  }

  // Nothing is known of what follows.
  void Stop(std::size_t offset) {
    if (offset < at_.size() && at_[offset] == kUnseen) Set(offset, kConflict);
  }

  void Walk(std::size_t offset, Number state) {
    using Type = X86Instruction::Type;
    const std::size_t first = offset;
    Type last = Type::kOther;
    while (offset < at_.size()) {
      // A function may end with a call that does not return. Behind it is the next one, or padding.
      const bool is_entry = is_entry_[offset] || (last == Type::kCall && at_[offset] == kEntry);
      if (offset != first && state != kEntry && is_entry) return;
      const auto instruction = DecodeX86(code_.bytes.subspan(offset));
      if (!instruction) return Stop(offset);
      if (last == Type::kCall && MayBeBehindFunction(offset, *instruction)) {
        return Doubt(offset, state);
      }
      if (!HasTrialsLeft()) return;
      if (!Reach(offset, state, offset == first)) return;
      for (std::size_t i = 1; i < instruction->size; ++i) {
        if (at_[offset + i] == kUnseen) Set(offset + i, kInside);
      }
      const Next next = Step(*instruction, offset, state);
      offset += instruction->size;
      if (next == Next::kUnknown) return Stop(offset);
      if (next == Next::kDoubtful) return Doubt(offset, state);
      if (next == Next::kNone) return;
      last = instruction->type;
    }
  }

  bool MayBeBehindFunction(std::size_t offset, const X86Instruction& instruction) const {
    const std::uint64_t address = code_.start + offset;
    const bool is_padding = instruction.type == X86Instruction::Type::kPadding;
    return (is_padding || address % kAlignment == 0) && FunctionAt(address) == nullptr;
  }
  void Doubt(std::size_t offset, Number state) {
    if (state != kConflict) doubtful_.push_back({offset, state});
  }
  bool HasTrialsLeft() {
    if (certainty_ == Certainty::kSure) return true;
    if (trials_left_ == 0) {
      fits_ = false;
      return false;
    }
    --trials_left_;
    return true;
  }

  // What comes behind an instruction: another, for which `state` is set; perhaps another; nothing;
  // or one that nothing is known of.
  enum class Next : std::uint8_t { kInstruction, kDoubtful, kNone, kUnknown };

  Next Step(const X86Instruction& instruction, std::size_t offset, Number& state) {
    using Type = X86Instruction::Type;
    const std::uint64_t address = code_.start + offset;
    const std::uint64_t target = address + static_cast<std::uint64_t>(instruction.target);
    switch (instruction.type) {
      case Type::kReturn:
        CheckReturn(state);
        return Next::kNone;
      case Type::kReturnAndPop:
        fits_ = false;
        return Next::kNone;
      case Type::kTrap:
        return Next::kNone;
      case Type::kHalt:
        return Next::kDoubtful;
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
        if (instruction.target != 0) Call(target, state);
        return Next::kInstruction;
      default:
        return Go(instruction, state);
    }
  }

  Next Go(const X86Instruction& instruction, Number& state) {
    if (state == kConflict) return Next::kInstruction;
    const std::optional<StackState> after = After(instruction, StateOf(state));
    if (!after) {
      if (certainty_ == Certainty::kTried && IsRelease(instruction)) fits_ = false;
      return Next::kUnknown;
    }
    if (certainty_ == Certainty::kTried && ChangesFrameOfCaller(instruction, *after)) fits_ = false;
    state = NumberOf(*after);
    return Next::kInstruction;
  }
  // No function pops its return address, or replaces it, or stores above it.
  static bool ChangesFrameOfCaller(const X86Instruction& instruction, const StackState& state) {
    using Type = X86Instruction::Type;
    const bool stores = instruction.type == Type::kStoreAtSp || instruction.type == Type::kSaveFp;
    return stores && state.from_sp != StackState::kUnknown &&
           instruction.value >= state.from_sp - kWordBytes;
  }
  static bool IsRelease(const X86Instruction& instruction) {
    using Type = X86Instruction::Type;
    return instruction.type == Type::kPop || instruction.type == Type::kLeave ||
           (instruction.type == Type::kAddToSp && instruction.value > 0);
  }

  void CheckReturn(Number state) {
    if (state == kConflict) return;
    const StackState& frame = StateOf(state);
    is_code_ = true;
    if (frame.from_sp != kWordBytes || frame.saved_fp != StackState::kUnknown) fits_ = false;
  }

  // Compiled code aligns the stack before a call (x86-64 psABI 3.2.2). A part of a function that is
  // taken for a function does not seem to.
  void Call(std::uint64_t target, Number state) {
    AddEntry(target);
    if (state == kConflict || StateOf(state).from_sp == StackState::kUnknown) return;
    const bool is_aligned = StateOf(state).from_sp % kStackAlignment == 0;
    is_misaligned_ = is_misaligned_ || !is_aligned;
    calls_function_ = calls_function_ || IsKnownFunction(target);
  }
  static constexpr std::int32_t kStackAlignment = 16;

  bool IsKnownFunction(std::uint64_t address) const {
    const auto symbol = std::ranges::lower_bound(functions_, address, {}, &FunctionExtent::start);
    if (symbol != functions_.end() && symbol->start == address) return true;
    return Has(address) && at_[OffsetOf(address)] == kEntry && !is_tried_[OffsetOf(address)];
  }

  // A jump to the entry of another function is a call in the place of a return.
  void JumpTo(std::uint64_t target, Number state) {
    if (!Has(target)) return;
    const std::size_t offset = OffsetOf(target);
    if (state != kEntry && is_entry_[offset]) return;
    if (at_[offset] != state || IsKnownBeforeTrial(offset)) paths_.push_back({offset, state});
  }

  // The code that an indirect jump of a function leads to has the state before the jump, if all
  // such jumps of the function agree.
  void NoteIndirectJump(std::uint64_t address, Number state) {
    const FunctionExtent* const function = FunctionAt(address);
    if (function == nullptr) {
      if (state != kConflict) jumps_without_symbol_[OffsetOf(address)] = state;
      return;
    }
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
  std::map<std::uint64_t, Number> jumps_;  // indirect ones, by the start of the function
  std::map<std::size_t, Number> jumps_without_symbol_;  // the same, by their offset
  std::vector<bool> is_function_;  // the same: one begins there, as far as is known
  std::vector<bool> is_tried_;     // the same: met first in this trial
  std::size_t trials_left_;
  std::size_t last_function_ = 0;  // of FollowRest
  std::size_t followed_ = 0;       // of entries_
  std::vector<Change> changes_;    // since the last sure entry or trial
  std::vector<Path> doubtful_;     // the same: behind halts, and calls that may not return
  // Of the last Follow.
  Certainty certainty_ = Certainty::kSure;
  std::vector<Path> paths_;
  bool fits_ = true;      // false: something contradicts
  bool is_code_ = false;  // a path returns, or goes on in known code
  bool calls_function_ = false, is_misaligned_ = false;
};

}  // namespace

std::vector<DerivedRow> DeriveRules(const UndescribedCode& code,
                                    std::span<const FunctionExtent> functions) {
  return Deriver(code, functions).Run();
}

}  // namespace perftape::unwind
