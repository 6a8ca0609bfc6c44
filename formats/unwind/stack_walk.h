// SPDX-License-Identifier: Apache-2.0
// The walk of one sample's stack: from the registers of the interrupted code to the outermost
// caller. The caller of the walk knows what is mapped and what can be read.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"
#include "formats/unwind/machine_code.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/step.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

// perf unwinds this many frames (PERF_MAX_STACK_DEPTH in include/uapi/linux/perf_event.h).
inline constexpr std::size_t kMostFrames = 127;

// How a walk ended. Only with kEndOfStack the frames are the whole stack.
enum class WalkEnd : std::uint8_t {
  kEndOfStack,  // the outermost frame has no caller
  kNoTable,     // an address in no mapping, or in code with neither a table nor frame pointers
  kNoRule,      // code that its binary's table does not describe
  kUnreadable,  // a word that is not in the copy of the stack
  kTooDeep,     // there are more frames than asked for
  kNoProgress,  // a caller's frame would be below its callee's
};
inline constexpr std::size_t kWalkEnds = 6;

// How the code at an address keeps its caller.
enum class FramesBy : std::uint8_t {
  kNothing,       // there is no code
  kUnknown,       // there is code of a binary that was not found
  kTable,         // the binary has an unwind table
  kFramePointer,  // it has none (compiled just in time, built without): the frame pointer is tried
};

struct Code {
  FramesBy frames_by = FramesBy::kNothing;
  const Rule* rule = nullptr;  // with kTable: the table's rule for the address
  // For IsReturnAddress. Null if it is not known.
  const Table* table = nullptr;
  const elf::ElfFile* binary = nullptr;
  ImageAddress address = {};  // in both
};

// Whether a return address that a rule kInGap has led to is accepted. `code` is that of the address
// minus one. A call must end there, and it must not be the first instruction of a function: in the
// child of glibc's clone the word at the top of the stack is the function that the thread will run,
// and the function before that may end with a call that never returns.
bool IsReturnAddress(Machine machine, const Code& code);

// The same for a return address that a frame pointer has led to, `pc`, and any code. In code that
// was compiled at run time it may be the return entry of an interpreter, too. Nothing if its bytes
// are not known: such code is neither in a file nor in a copy of the stack.
template <ReadsWords Read>
std::optional<bool> FollowsCall(Machine machine, const Code& code, std::uint64_t pc,
                                const Read& read) {
  if (code.table != nullptr && code.binary != nullptr) return IsReturnAddress(machine, code);
  const std::optional<std::uint64_t> word = read(pc - kCallBytes);
  if (!word) return std::nullopt;
  static_assert(sizeof *word == kCallBytes);
  if (EndsWithCall(machine, std::as_bytes(std::span(&*word, 1)))) return true;
  return IsReturnEntry(machine, read(pc).value_or(0));
}

// Whether the stack is as execve(2) leaves it: argc, pointers to the arguments above it, and a null
// pointer (x86-64 psABI 3.4.1; arm64 has the same).
template <ReadsWords Read>
bool IsAtProgramStart(const Registers& registers, const Read& read) {
  constexpr std::uint64_t kMostArguments = 0xffff;
  if (!registers.interrupted || registers.fp != 0) return false;
  const std::optional<std::uint64_t> count = read(registers.sp);
  const std::optional<std::uint64_t> first = read(registers.sp + kWordSize);
  if (!count || !first || *count == 0 || *count > kMostArguments || *first <= registers.sp) {
    return false;
  }
  return read(registers.sp + (*count + 1) * kWordSize) == std::uint64_t{0};
}

// Finds the code at an address of the process.
template <class Find>
concept FindsCode = requires(Find find, RuntimeAddress address) {
  { find(address) } -> std::same_as<Code>;
};

struct WalkedFrame {
  // As in a callchain: the interrupted instruction, or a return address.
  std::uint64_t pc = 0;
  // The frame was interrupted: it is the first one, or a signal handler ran on top of it.
  bool interrupted = false;
};

// Whether a frame that calls others has no return address: it was interrupted, or it is the
// trampoline on which the handler of a signal returns. No code calls that.
inline bool IsOuterInstruction(std::span<const WalkedFrame> frames, std::size_t frame) {
  const bool is_trampoline = frame + 1 < frames.size() && frames[frame + 1].interrupted;
  return frame > 0 && (frames[frame].interrupted || is_trampoline);
}

// A copied part of a stack, as a reader of words. Words outside of it cannot be read.
class StackCopy {
 public:
  // `bytes` are those from the address `start` on, and must outlive this object.
  StackCopy(std::uint64_t start, Bytes bytes) : start_(start), bytes_(bytes) {}

  std::optional<std::uint64_t> operator()(std::uint64_t address) const {
    const std::uint64_t offset = address - start_;  // huge if the address is below
    if (bytes_.size() < sizeof(std::uint64_t) || offset > bytes_.size() - sizeof(std::uint64_t)) {
      return std::nullopt;
    }
    return LoadFixed<std::uint64_t>(bytes_.data() + offset, std::endian::little);
  }

  bool IsBelow(std::uint64_t address) const { return address < start_; }

 private:
  std::uint64_t start_;
  Bytes bytes_;
};

// The frame that a function keeps at its frame pointer: the caller's frame pointer, then the return
// address. On x86-64 the caller's stack pointer is after them. On aarch64 it is not known; this is
// the lowest possible one.
inline constexpr Rule kFramePointerRule = {.cfa_offset = 16,
                                           .fp_offset = -16,
                                           .ra_offset = -8,
                                           .cfa = CfaRule::kFramePointer,
                                           .flags = 0,
                                           .addend = 0,
                                           .bx_words = Rule::kBxUnknown};

// Replaces `frames` by the frames of a stack, leaf first, at most `most_frames`. The first one is
// always registers.pc. A caller outside of all code is left out. Ends after `most_frames` steps,
// whatever `find` and `read` return.
template <FindsCode Find, ReadsWords Read>
WalkEnd WalkStack(Machine machine, Registers registers, const Find& find, const Read& read,
                  std::size_t most_frames, std::vector<WalkedFrame>& frames);

// What follows is not part of the interface.

// The size that most stacks may grow to (RLIMIT_STACK). A register that points further away is not
// a frame pointer.
inline constexpr std::uint64_t kUsualStackLimit = std::uint64_t{8} << 20;

// The rule of a frame to which a frame pointer has led. A rule may find the frame by the word at
// the frame pointer, which is the caller's frame pointer, because the function has made the frame
// record of its callee (call_into_lisp of SBCL). The callee has restored the register from that
// word.
inline Rule AfterFramePointer(Rule rule) {
  if (rule.cfa != CfaRule::kAtFramePointer || rule.cfa_offset != 0) return rule;
  rule.cfa = CfaRule::kFramePointer;
  rule.cfa_offset = std::exchange(rule.addend, std::uint8_t{0});
  return rule;
}

// Whether the frame is the outermost one, by a zero in its frame pointer. In code without a rule
// the frame pointer may be an ordinary register, so the code must have been reached by a frame
// pointer, or be of a file that describes its other code.
template <ReadsWords Read>
bool IsOutermost(const Code& code, bool is_by_fp, const Registers& registers, const Read& read) {
  if (registers.fp != 0) return false;
  if (is_by_fp) return true;
  if (code.table == nullptr) return false;
  return !registers.interrupted || IsAtProgramStart(registers, read);
}

// Both functions step to the caller, or return how the walk ends.
template <ReadsWords Read>
std::optional<WalkEnd> StepByFramePointer(Machine machine, const Code& code, bool is_by_fp,
                                          const Read& read, Registers& registers) {
  if (!registers.fp) return WalkEnd::kUnreadable;
  // Compilers and the kernel clear the frame pointer of the outermost frame.
  if (IsOutermost(code, is_by_fp, registers, read)) return WalkEnd::kEndOfStack;
  // A frame pointer below the stack pointer is far above it, too, because the difference wraps.
  if (*registers.fp - registers.sp > kUsualStackLimit) return WalkEnd::kNoTable;
  switch (Step(machine, kFramePointerRule, read, registers)) {
    case StepResult::kCaller:
      return std::nullopt;
    case StepResult::kUnreadable:
      return WalkEnd::kUnreadable;
    case StepResult::kEnd:
    case StepResult::kNoRule:
    case StepResult::kNoProgress:
      break;
  }
  return WalkEnd::kNoTable;
}

template <ReadsWords Read>
std::optional<WalkEnd> StepByTable(Machine machine, const Code& code, bool is_by_fp,
                                   const Read& read, Registers& registers) {
  const Rule rule = is_by_fp ? AfterFramePointer(*code.rule) : *code.rule;
  switch (Step(machine, rule, read, registers)) {
    case StepResult::kCaller:
      return std::nullopt;
    case StepResult::kEnd:
      return WalkEnd::kEndOfStack;
    case StepResult::kNoRule:
      break;
    case StepResult::kUnreadable:
      return WalkEnd::kUnreadable;
    case StepResult::kNoProgress:
      return WalkEnd::kNoProgress;
  }
  return WalkEnd::kNoRule;
}

template <FindsCode Find, ReadsWords Read>
WalkEnd WalkStack(Machine machine, Registers registers, const Find& find, const Read& read,
                  std::size_t most_frames, std::vector<WalkedFrame>& frames) {
  frames.clear();
  bool is_from_gap = false, is_by_fp = false;
  while (true) {
    // The instruction before a return address is the call, which decides what is on the stack.
    const std::uint64_t executed = registers.pc - (registers.interrupted ? 0 : 1);
    const Code code = find(RuntimeAddress{executed});
    if (code.frames_by == FramesBy::kNothing && !frames.empty()) return WalkEnd::kNoTable;
    if (is_from_gap) {
      const Code call = registers.interrupted ? find(RuntimeAddress{registers.pc - 1}) : code;
      if (!IsReturnAddress(machine, call)) return WalkEnd::kNoRule;
    }
    if (is_by_fp && !FollowsCall(machine, code, registers.pc, read).value_or(true)) {
      return WalkEnd::kNoTable;
    }
    if (frames.size() >= most_frames) return WalkEnd::kTooDeep;
    frames.push_back({.pc = registers.pc, .interrupted = registers.interrupted});
    if (code.frames_by <= FramesBy::kUnknown) return WalkEnd::kNoTable;
    registers.pc = executed;  // the rule of a PLT entry depends on it
    const bool has_rule = code.frames_by == FramesBy::kTable;
    const std::optional<WalkEnd> end =
        has_rule ? StepByTable(machine, code, is_by_fp, read, registers)
                 : StepByFramePointer(machine, code, is_by_fp, read, registers);
    if (end) return *end;
    is_by_fp = !has_rule;
    is_from_gap = code.rule != nullptr && (code.rule->flags & Rule::kInGap) != 0;
  }
}

}  // namespace perftape::unwind
