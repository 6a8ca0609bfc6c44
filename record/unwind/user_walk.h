// SPDX-License-Identifier: Apache-2.0
// The walk of a user stack as bpf/unwind.bpf.h does it, with its causes of an end: by tables, by
// frame pointers in code without a table, and by a guess in code without a rule. It has a copy of
// the stack, but not of memory without a file, so it does not see trampolines
// (wire_trampoline_cfa).
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bpf/unwind_wire.h"
#include "bpf/wire.h"
#include "formats/unwind/stack_walk.h"

namespace perftape::record {

template <unwind::FindsCode Find, unwind::ReadsWords Read>
class UserWalk {
 public:
  // `find` and `read` must outlive this object.
  UserWalk(unwind::Machine machine, const Find& find, const Read& read, std::size_t most_frames)
      : machine_(machine), find_(find), read_(read), most_frames_(most_frames) {}

  // Whether the last walk needed a rule that was derived from instructions.
  bool has_derived() const { return has_derived_; }

  // Replaces `frames` by those from `registers` on, leaf first, at most `most_frames`, with
  // WIRE_INTERRUPTED in front of a frame that a signal interrupted. Returns how the walk ended.
  wire_unwind_end Run(unwind::Registers registers, std::vector<std::uint64_t>& frames) {
    frames.clear();
    registers_ = registers;
    guess_ = WIRE_END_OF_STACK;
    has_derived_ = false;
    is_by_fp_ = false;
    while (frames.size() < most_frames_) {
      frames.push_back(registers_.pc);
      if (const std::optional<wire_unwind_end> end = EnterCaller()) return *end;
      const bool has_room = frames.size() < most_frames_;
      if (registers_.interrupted && has_room) frames.push_back(WIRE_INTERRUPTED);
    }
    return EndOf(WIRE_END_TOO_DEEP);
  }

 private:
  // Only a rule can prove that a chain with a guessed frame is complete.
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
    const unwind::Rule rule = is_by_fp_ ? unwind::AfterFramePointer(*code.rule) : *code.rule;
    if (rule.cfa == unwind::CfaRule::kNone) return StepWithoutRule();
    if (rule.cfa == unwind::CfaRule::kEndOfStack) return WIRE_END_OF_STACK;
    if ((rule.flags & unwind::Rule::kDerived) != 0) has_derived_ = true;
    is_by_fp_ = false;
    const auto end = ResultOf(unwind::Step(machine_, rule, read_, registers_), WIRE_END_OF_STACK);
    if (end || (rule.flags & unwind::Rule::kInGap) == 0) return end;
    const unwind::Code call = find_(RuntimeAddress{registers_.pc - 1});
    if (call.frames_by == unwind::FramesBy::kNothing || !FollowsCall(call).value_or(false)) {
      return EndOf(WIRE_END_NO_ROW);
    }
    return std::nullopt;
  }

  std::optional<wire_unwind_end> StepByFramePointer() {
    if (!registers_.fp) return EndOf(WIRE_END_UNREADABLE);
    if (registers_.fp == 0 && is_by_fp_) return EndOf(WIRE_END_OF_STACK);
    if (registers_.fp < registers_.sp) return EndOf(WIRE_END_NO_FRAME_POINTER);
    const unwind::StepResult step =
        unwind::Step(machine_, unwind::kFramePointerRule, read_, registers_);
    // The kernel reads both words of a frame record at once.
    if (!registers_.fp) return EndOf(WIRE_END_UNREADABLE);
    if (step != unwind::StepResult::kCaller) {
      return ResultOf(step, EndOf(WIRE_END_NO_FRAME_POINTER));
    }
    registers_.kept = 0;
    const unwind::Code call = CodeOfFrame();
    const bool is_known = call.frames_by != unwind::FramesBy::kNothing;
    if (!FollowsCall(call).value_or(is_known)) return EndOf(WIRE_END_NO_FRAME_POINTER);
    if (!is_known) return EndOf(WIRE_END_NO_MAPPING);
    is_by_fp_ = true;
    return std::nullopt;
  }

  std::optional<bool> FollowsCall(const unwind::Code& call) const {
    return unwind::FollowsCall(machine_, call, registers_.pc, read_);
  }

  // The outermost frame of the dynamic linker has no rule, and 0 in its frame pointer.
  std::optional<wire_unwind_end> StepWithoutRule() {
    if (!registers_.fp) return EndOf(WIRE_END_UNREADABLE);
    const bool is_outermost = !registers_.interrupted && registers_.fp == 0;
    if (is_outermost || unwind::IsAtProgramStart(registers_, read_)) return WIRE_END_OF_STACK;
    if (guess_ == WIRE_END_OF_STACK) guess_ = WIRE_END_NO_ROW;
    return StepByFramePointer();
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
  const std::size_t most_frames_;
  unwind::Registers registers_;
  wire_unwind_end guess_ = WIRE_END_OF_STACK;  // why a frame was guessed; END_OF_STACK: none was
  bool has_derived_ = false;
  bool is_by_fp_ = false;  // a checked frame pointer has led to the frame
};

}  // namespace perftape::record
