// SPDX-License-Identifier: Apache-2.0
// The walk of a user stack as bpf/unwind.bpf.h does it, with its causes of an end: by tables, by
// frame pointers in code without a table, and by a guess in code without a rule. It has a copy of
// the stack and none of memory without a file, so it does not see trampolines
// (wire_trampoline_cfa).
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bpf/unwind_wire.h"
#include "formats/unwind/stack_walk.h"

namespace perftape::record {

template <unwind::FindsCode Find, unwind::ReadsWords Read>
class UserWalk {
 public:
  // `find` and `read` must outlive this object.
  UserWalk(unwind::Machine machine, const Find& find, const Read& read)
      : machine_(machine), find_(find), read_(read) {}

  // Whether the last walk needed a rule that was derived from instructions.
  bool has_derived() const { return has_derived_; }

  // Replaces `frames` by those from `registers` on, leaf first, at most WIRE_MAX_FRAMES. Returns
  // how the walk ended.
  wire_unwind_end Run(unwind::Registers registers, std::vector<std::uint64_t>& frames) {
    frames.clear();
    registers_ = registers;
    guess_ = WIRE_END_OF_STACK;
    has_derived_ = false;
    while (frames.size() < WIRE_MAX_FRAMES) {
      frames.push_back(registers_.pc);
      if (const std::optional<wire_unwind_end> end = EnterCaller()) return *end;
    }
    return EndOf(WIRE_END_TOO_DEEP);
  }

 private:
  // Only rules can tell that a chain with a guessed frame is complete.
  wire_unwind_end EndOf(wire_unwind_end end) const {
    return guess_ != WIRE_END_OF_STACK ? guess_ : end;
  }

  unwind::Code CodeOfFrame() const {
    return find_(RuntimeAddress{registers_.pc - (registers_.interrupted ? 0 : 1)});
  }

  // These go to the caller, or return how the walk ends.
  std::optional<wire_unwind_end> EnterCaller() {
    const unwind::Code code = CodeOfFrame();
    switch (code.frames_by) {
      case unwind::FramesBy::kNothing:
        return EndOf(WIRE_END_NO_MAPPING);
      case unwind::FramesBy::kUnknown:
        return EndOf(WIRE_END_NO_TABLE);
      case unwind::FramesBy::kFramePointer:
        return StepByFramePointer();
      case unwind::FramesBy::kTable:
        break;
    }
    const unwind::Rule& rule = *code.rule;
    if (rule.cfa == unwind::CfaRule::kNone) return StepWithoutRule();
    if (rule.cfa == unwind::CfaRule::kEndOfStack) return WIRE_END_OF_STACK;
    if ((rule.flags & unwind::Rule::kDerived) != 0) has_derived_ = true;
    const auto end = ResultOf(unwind::Step(machine_, rule, read_, registers_), WIRE_END_OF_STACK);
    if (end || (rule.flags & unwind::Rule::kInGap) == 0) return end;
    const unwind::Code call = find_(RuntimeAddress{registers_.pc - 1});
    if (!unwind::IsReturnAddress(machine_, call)) return EndOf(WIRE_END_NO_ROW);
    return std::nullopt;
  }

  std::optional<wire_unwind_end> StepByFramePointer() {
    if (!registers_.fp) return EndOf(WIRE_END_UNREADABLE);
    if (registers_.fp == 0) return EndOf(WIRE_END_OF_STACK);
    if (registers_.fp < registers_.sp) return EndOf(WIRE_END_NO_PROGRESS);
    const unwind::StepResult step =
        unwind::Step(machine_, unwind::kFramePointerRule, read_, registers_);
    // The kernel reads both words of a frame record at once.
    if (!registers_.fp) return EndOf(WIRE_END_UNREADABLE);
    return ResultOf(step, EndOf(WIRE_END_OF_STACK));
  }

  // The outermost frame of the dynamic linker has no rule, and 0 in its frame pointer.
  std::optional<wire_unwind_end> StepWithoutRule() {
    if (!registers_.fp) return EndOf(WIRE_END_UNREADABLE);
    const bool is_outermost = !registers_.interrupted && registers_.fp == 0;
    if (is_outermost || IsAtProgramStart()) return WIRE_END_OF_STACK;
    if (guess_ == WIRE_END_OF_STACK) guess_ = WIRE_END_NO_ROW;
    if (const auto end = StepByFramePointer()) return end;
    if (CodeOfFrame().frames_by == unwind::FramesBy::kNothing) return EndOf(WIRE_END_NO_ROW);
    return std::nullopt;
  }

  // The stack is as execve(2) leaves it: argc, pointers to the arguments, a null pointer.
  bool IsAtProgramStart() const {
    constexpr std::uint64_t kMostArguments = 0xffff, kWord = sizeof(std::uint64_t);
    if (!registers_.interrupted || registers_.fp != 0) return false;
    const std::optional<std::uint64_t> count = read_(registers_.sp);
    const std::optional<std::uint64_t> first = read_(registers_.sp + kWord);
    if (!count || !first || *count == 0 || *count > kMostArguments || *first <= registers_.sp) {
      return false;
    }
    return read_(registers_.sp + (*count + 1) * kWord) == std::uint64_t{0};
  }

  std::optional<wire_unwind_end> ResultOf(unwind::StepResult step,
                                          wire_unwind_end end_of_stack) const {
    switch (step) {
      case unwind::StepResult::kCaller:
        return std::nullopt;
      case unwind::StepResult::kEnd:
        return end_of_stack;
      case unwind::StepResult::kUnreadable:
        return EndOf(WIRE_END_UNREADABLE);
      case unwind::StepResult::kNoProgress:
        return EndOf(WIRE_END_NO_PROGRESS);
      case unwind::StepResult::kNoRule:
        break;
    }
    return EndOf(WIRE_END_NO_ROW);
  }

  unwind::Machine machine_;
  const Find& find_;
  const Read& read_;
  unwind::Registers registers_;
  wire_unwind_end guess_ = WIRE_END_OF_STACK;  // why a frame was guessed; END_OF_STACK: none was
  bool has_derived_ = false;
};

}  // namespace perftape::record
