// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/stack_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "formats/unwind/step.h"
#include "tests/formats/unwind/table_text.h"
#include "tests/support/gap_program.h"

namespace perftape::unwind {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kStack = 0x7ffc0000;

// The words of a stack, by address.
using Words = std::map<std::uint64_t, std::uint64_t>;

auto ReaderOf(const Words& words) {
  return [&words](std::uint64_t address) -> std::optional<std::uint64_t> {
    const auto word = words.find(address);
    if (word == words.end()) return std::nullopt;
    return word->second;
  };
}

constexpr Rule RuleWith(CfaRule cfa, std::int32_t cfa_offset, std::int32_t fp_offset,
                        std::int32_t ra_offset, std::uint8_t flags = 0, std::uint8_t addend = 0) {
  return {.cfa_offset = cfa_offset,
          .fp_offset = fp_offset,
          .ra_offset = ra_offset,
          .cfa = cfa,
          .flags = flags,
          .addend = addend,
          .bx_words = Rule::kBxUnchanged};
}

constexpr Rule kEntry = RuleWith(CfaRule::kStackPointer, 8, Rule::kInRegister, -8);
constexpr Rule kPushed = RuleWith(CfaRule::kStackPointer, 16, -16, -8);
constexpr Rule kByFramePointer = RuleWith(CfaRule::kFramePointer, 16, -16, -8);

Registers At(std::uint64_t pc, std::uint64_t sp, std::uint64_t fp = 0) {
  return {.pc = pc, .sp = sp, .fp = fp};
}

TEST(Step, FindsTheCallerByTheStackPointer) {
  const Words stack = {{kStack, 0x401234}};
  Registers registers = At(0x401000, kStack, 5);
  EXPECT_EQ(Step(Machine::kX86_64, kEntry, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.sp, kStack + 8);
  EXPECT_EQ(registers.fp, 5);
  EXPECT_FALSE(registers.interrupted);
}

TEST(Step, FindsTheCallerByTheFramePointer) {
  const Words stack = {{kStack + 0x40, kStack + 0x80}, {kStack + 0x48, 0x401234}};
  Registers registers = At(0x401000, kStack, kStack + 0x40);
  EXPECT_EQ(Step(Machine::kX86_64, kByFramePointer, ReaderOf(stack), registers),
            StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.sp, kStack + 0x50);
  EXPECT_EQ(registers.fp, kStack + 0x80);
}

TEST(Step, KeepsTheFramePointerThatAnEpilogueHasPopped) {
  const Rule rule = RuleWith(CfaRule::kStackPointer, 16, -48, -8);
  const std::uint64_t words[] = {0x77, 0x401234};
  const StackCopy copy(kStack, std::as_bytes(std::span(words)));
  Registers registers = At(0x401000, kStack, kStack + 0x80);
  EXPECT_EQ(Step(Machine::kX86_64, rule, copy, registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.fp, kStack + 0x80);
  // Above the start of the copy it must be there.
  registers = At(0x401000, kStack, kStack + 0x80);
  EXPECT_EQ(Step(Machine::kX86_64, RuleWith(CfaRule::kStackPointer, 16, 16, -8), copy, registers),
            StepResult::kCaller);
  EXPECT_EQ(registers.fp, std::nullopt);
}

TEST(Step, NeedsTheFramePointerOnlyWhereARuleReadsIt) {
  const Words stack = {{kStack, 0x77}, {kStack + 8, 0x401234}};
  Registers registers = At(0x401000, kStack - 40, 5);
  const Rule saved_at_no_memory = RuleWith(CfaRule::kStackPointer, 56, -48, -8);
  EXPECT_EQ(Step(Machine::kX86_64, saved_at_no_memory, ReaderOf(stack), registers),
            StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.fp, std::nullopt);
  registers.sp = kStack;
  for (const Rule& rule : {kByFramePointer, RuleWith(CfaRule::kAtFramePointer, 16, -16, -8),
                           RuleWith(CfaRule::kStackPointer, 16, 0, -8, Rule::kFpFromFp)}) {
    EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kUnreadable);
  }
  EXPECT_EQ(Step(Machine::kX86_64, RuleWith(CfaRule::kStackPointer, 16, -16, -8), ReaderOf(stack),
                 registers),
            StepResult::kCaller);
  EXPECT_EQ(registers.fp, 0x77);
}

TEST(Step, FollowsARealignedStack) {
  Rule rule = RuleWith(CfaRule::kAtFramePointer, -8, 0, -8, Rule::kFpFromFp);
  const Words stack = {
      {kStack + 0x40, 0x77}, {kStack + 0x38, kStack + 0x100}, {kStack + 0xf8, 0x401234}};
  Registers registers = At(0x401000, kStack, kStack + 0x40);
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.sp, kStack + 0x100);
  EXPECT_EQ(registers.fp, 0x77);
  // OpenSSL's code keeps a pointer some words below the frame's end.
  rule = RuleWith(CfaRule::kAtStackPointer, 0x38, Rule::kInRegister, -8);
  rule.addend = 8;
  const Words other = {{kStack + 0x38, kStack + 0x100}, {kStack + 0x100, 0x405678}};
  registers = At(0x401000, kStack);
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(other), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x405678);
}

TEST(Step, CountsTheWordThatAPltEntryPushed) {
  Rule rule = RuleWith(CfaRule::kPlt, 8, Rule::kInRegister, -8);
  rule.addend = 11;
  const Words stack = {{kStack, 0x111111}, {kStack + 8, 0x222222}};
  Registers registers = At(0x40100a, kStack);
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x111111);
  registers = At(0x40100b, kStack);
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x222222);
}

TEST(Step, ReturnsToWhatASignalInterrupted) {
  // The kernel saved the registers at the stack pointer. The handler ran on a stack of its own.
  const Rule rule = RuleWith(CfaRule::kAtStackPointer, 160, 120, 168,
                             Rule::kSignalFrame | Rule::kFromStackPointer);
  const Words stack = {
      {kStack + 160, kStack - 0x1000}, {kStack + 168, 0x401234}, {kStack + 120, 0x77}};
  Registers registers = At(0x7f0000, kStack);
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.sp, kStack - 0x1000);
  EXPECT_EQ(registers.fp, 0x77);
  EXPECT_TRUE(registers.interrupted);
}

TEST(Step, UsesTheLinkRegisterOnce) {
  const Rule leaf = RuleWith(CfaRule::kStackPointer, 0, Rule::kInRegister, Rule::kInRegister);
  Registers registers = At(0x401000, kStack);
  registers.link = 0x00b7'0000'0040'1234;  // signed
  const Words nothing;
  EXPECT_EQ(Step(Machine::kAArch64, leaf, ReaderOf(nothing), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.sp, kStack);
  EXPECT_EQ(Step(Machine::kAArch64, leaf, ReaderOf(nothing), registers), StepResult::kNoRule);
}

TEST(Step, ReturnsFromVforkByARegister) {
  const Rule rule = RuleWith(CfaRule::kStackPointer, 0, Rule::kInRegister, Rule::kInRegister);
  Registers registers = At(0x401000, kStack);
  registers.link = 0x405678;
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(Words()), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x405678);
  EXPECT_EQ(registers.sp, kStack);
}

constexpr std::uint8_t kRax = 0, kRcx = 2, kR9 = 9, kR12 = 12;

// As OpenSSL's ciphers and big numbers: the stack pointer is in rax, or in a word of the frame.
TEST(Step, FindsTheFrameByAnyRegisterThatNoCalleeHasSaved) {
  const Words stack = {
      {kStack, 0x401111}, {kStack + 0x28, kStack + 0x80}, {kStack + 0x78, 0x402222}};
  const auto start = [] {
    Registers registers = At(0x400000, kStack);
    registers.general[kRax] = kStack + 0x78;
    registers.general[kR9] = 4;
    registers.kept = 1U << kRax | 1U << kR9;
    return registers;
  };
  Rule in_rax = RuleWith(CfaRule::kRegister, 8, Rule::kInRegister, -8);
  in_rax.base = kRax;
  Registers registers = start();
  EXPECT_EQ(Step(Machine::kX86_64, kEntry, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(Step(Machine::kX86_64, in_rax, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x402222);
  EXPECT_EQ(registers.sp, kStack + 0x80);

  Rule indexed = RuleWith(CfaRule::kAtRegister, 8, Rule::kInRegister, -8);
  indexed.base = 7;  // rsp
  indexed.index = kR9;
  indexed.scale = 8;
  registers = start();
  EXPECT_EQ(Step(Machine::kX86_64, indexed, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x402222);

  Rule saves = kEntry;
  saves.changed = 1U << kR9;
  registers = start();
  EXPECT_EQ(Step(Machine::kX86_64, saves, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(Step(Machine::kX86_64, indexed, ReaderOf(stack), registers), StepResult::kNoRule);
  EXPECT_EQ(Step(Machine::kX86_64, in_rax, ReaderOf(stack), registers), StepResult::kCaller);
}

// struct sigcontext begins 40 bytes above the stack pointer of __restore_rt.
TEST(Step, FindsTheRegistersOfInterruptedCodeInASignalFrame) {
  Words stack = {{kStack + 168, 0x401111}};
  for (std::uint64_t word = 0; word < 16; ++word) stack[kStack + 40 + 8 * word] = 0x1000 + word;
  stack[kStack + 160] = kStack + 0x1000;
  const Rule restore = RuleWith(CfaRule::kAtStackPointer, 160, 120, 168,
                                Rule::kSignalFrame | Rule::kFromStackPointer);
  Registers registers = At(0x400000, kStack);
  ASSERT_EQ(Step(Machine::kX86_64, restore, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.kept, 0xffffU);
  EXPECT_EQ(registers.general[kR9], 0x1001U);
  EXPECT_EQ(registers.general[kR12], 0x1004U);
  EXPECT_EQ(registers.general[kRax], 0x100dU);
  EXPECT_EQ(registers.general[kRcx], 0x100eU);
}

// The last instructions of _Unwind_Resume: mov %rcx,%rsp; pop %rcx; jmp *%rcx.
TEST(Step, ReturnsByRcxFromAFunctionThatLeavesToAnExceptionHandler) {
  const Words stack = {{kStack + 0x100, 0x405678}};
  Registers registers = At(0x401000, kStack);
  registers.general[kRcx] = kStack + 0x100;
  registers.kept = 1U << kRcx;
  Rule marked = RuleWith(CfaRule::kRegister, 8, Rule::kInRegister, -8);
  marked.base = kRcx;
  marked.changed = 1U << kRcx;
  EXPECT_EQ(Step(Machine::kX86_64, marked, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x405678);
  EXPECT_EQ(registers.sp, kStack + 0x108);
  EXPECT_EQ(Step(Machine::kX86_64, marked, ReaderOf(stack), registers), StepResult::kNoRule);

  Rule jumps = RuleWith(CfaRule::kStackPointer, 0, Rule::kInRegister, Rule::kInRegister);
  jumps.flags = Rule::kReturnInCx;
  registers = At(0x401000, kStack);
  registers.link = 0x401111;
  EXPECT_EQ(Step(Machine::kX86_64, jumps, ReaderOf(stack), registers), StepResult::kNoRule);
  registers.cx = 0x405678;
  EXPECT_EQ(Step(Machine::kX86_64, jumps, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x405678);
  EXPECT_EQ(registers.sp, kStack);
}

TEST(Step, FollowsRbxToAFrameThatItMarks) {
  Rule saves = kEntry;
  saves.bx_words = -2;
  Rule marked = RuleWith(CfaRule::kRegister, 32, Rule::kInRegister, -8);
  marked.base = 3;
  marked.bx_words = -4;
  const Words stack = {
      {kStack - 8, 0x88}, {kStack, 0x401111}, {kStack + 0x100, 0x77}, {kStack + 0x118, 0x402222}};
  Registers registers = At(0x400000, kStack);
  EXPECT_EQ(Step(Machine::kX86_64, marked, ReaderOf(stack), registers), StepResult::kNoRule);
  registers.bx = kStack + 0x100;
  EXPECT_EQ(Step(Machine::kX86_64, kEntry, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401111);
  EXPECT_EQ(Step(Machine::kX86_64, marked, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x402222);
  EXPECT_EQ(registers.sp, kStack + 0x120);
  EXPECT_EQ(registers.bx, 0x77);

  registers = At(0x400000, kStack);
  EXPECT_EQ(Step(Machine::kX86_64, saves, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.bx, 0x88);
}

TEST(Step, EndsAndLeavesTheRegisters) {
  const Words stack = {{kStack, 0}, {kStack + 8, 0x401234}};
  const auto result_of = [&](const Rule& rule, std::uint64_t sp) {
    Registers registers = At(0x401000, sp);
    const StepResult result = Step(Machine::kX86_64, rule, ReaderOf(stack), registers);
    EXPECT_EQ(registers.pc, 0x401000);
    EXPECT_EQ(registers.sp, sp);
    return result;
  };
  EXPECT_EQ(result_of(RuleWith(CfaRule::kNone, 0, 0, 0), kStack), StepResult::kNoRule);
  EXPECT_EQ(result_of(RuleWith(CfaRule::kEndOfStack, 0, 0, 0), kStack), StepResult::kEnd);
  EXPECT_EQ(result_of(kEntry, kStack), StepResult::kEnd);  // the return address is 0
  EXPECT_EQ(result_of(kEntry, kStack + 16), StepResult::kUnreadable);
  EXPECT_EQ(result_of(RuleWith(CfaRule::kStackPointer, 0, Rule::kInRegister, 0), kStack + 8),
            StepResult::kNoProgress);
}

// The code of a test: a table at 0x1000, code without a table at 0x2000, a missing binary at
// 0x3000.
class Walk {
 public:
  Walk() : table_(Machine::kX86_64, ImageAddress{0x1000}, kRows, kRules, nullptr) {}

  // `compiled` is the address of a page of further code without a table.
  WalkEnd From(const Registers& registers, std::size_t most_frames = kMostFrames,
               std::uint64_t compiled = 0x2000) {
    const auto find = [&](RuntimeAddress address) -> Code {
      if (address.value >> 12 == compiled >> 12) return {.frames_by = FramesBy::kFramePointer};
      switch (address.value >> 12) {
        case 1:
          return {.frames_by = FramesBy::kTable, .rule = &table_.Find({address.value})};
        case 2:
          return {.frames_by = FramesBy::kFramePointer, .rule = nullptr};
        case 3:
          return {.frames_by = FramesBy::kUnknown, .rule = nullptr};
        default:
          return {};
      }
    };
    return WalkStack(Machine::kX86_64, registers, find,
                     StackCopy(kStack, std::as_bytes(std::span(words))), most_frames, frames_);
  }
  std::vector<std::uint64_t> frames() const {
    std::vector<std::uint64_t> addresses;
    for (const WalkedFrame& frame : frames_) addresses.push_back(frame.pc);
    return addresses;
  }

  std::vector<std::uint64_t> words;  // of the stack

 private:
  // 0x1000: at its entry; 0x1100: one word pushed; 0x1200: the outermost function; 0x1300: none.
  // 0x1400: with the frame pointer in a word.
  static constexpr Row kRows[] = {{0, 2},     {0x100, 3}, {0x200, 1},
                                  {0x300, 0}, {0x400, 4}, {0x500, 0}};
  static constexpr Rule kRules[] = {RuleWith(CfaRule::kNone, 0, Rule::kInRegister, 0),
                                    RuleWith(CfaRule::kEndOfStack, 0, Rule::kInRegister, 0), kEntry,
                                    kPushed, RuleWith(CfaRule::kAtFramePointer, 0, -16, -8, 0, 16)};
  Table table_;
  std::vector<WalkedFrame> frames_;
};

TEST(WalkStack, FindsAllCallers) {
  Walk walk;
  walk.words = {0x1110, 0, 0x1210};
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kEndOfStack);
  EXPECT_THAT(walk.frames(), ElementsAre(0x1000, 0x1110, 0x1210));
}

TEST(WalkStack, LooksUpACallerInItsCall) {
  Walk walk;
  walk.words = {0x1200};  // the call was the last instruction before 0x1200
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kUnreadable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x1000, 0x1200));
}

TEST(WalkStack, FollowsFramePointersInCodeWithoutATable) {
  Walk walk;
  walk.words = {0x77, kStack + 0x20, 0x2010, 0x77, 0, 0x1210};
  EXPECT_EQ(walk.From(At(0x2000, kStack, kStack + 8)), WalkEnd::kEndOfStack);
  EXPECT_THAT(walk.frames(), ElementsAre(0x2000, 0x2010, 0x1210));
}

TEST(WalkStack, DistrustsAFramePointerThatLeadsNowhere) {
  Walk walk;
  walk.words = {0x77, 0x77, 0x77};
  EXPECT_EQ(walk.From(At(0x2000, kStack, kStack + 8)), WalkEnd::kNoTable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x2000));
  EXPECT_EQ(walk.From(At(0x2000, kStack, 0x1234)), WalkEnd::kNoTable);
  EXPECT_EQ(walk.From(At(0x2000, kStack, kStack + 0x4000)), WalkEnd::kUnreadable);
  EXPECT_EQ(walk.From(At(0x2000, kStack, 0)), WalkEnd::kNoTable) << "it may be any number";
}

// As call_into_lisp of SBCL: its record at the frame pointer is that of the Lisp function, which
// has used the word there.
TEST(WalkStack, FollowsTheFramePointerWhereTheCalleeHasUsedItsWord) {
  Walk walk;
  walk.words = {0, kStack + 0x20, 0x1410, 0, kStack + 0x40, 0x1210, 0, 0, 0, 0x1110};
  EXPECT_EQ(walk.From(At(0x2000, kStack, kStack + 8)), WalkEnd::kEndOfStack);
  EXPECT_THAT(walk.frames(), ElementsAre(0x2000, 0x1410, 0x1210));
  // Interrupted there, the word is still the frame pointer.
  EXPECT_EQ(walk.From(At(0x1410, kStack, kStack + 0x20)), WalkEnd::kUnreadable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x1410, 0x1110));
}

// A function pointer, in code without a table and without frame pointers.
TEST(WalkStack, EndsAtAWordThatFollowsNoCall) {
  Walk walk;
  walk.words = {0x77, 0, kStack + 0x20, 0x90e8909090909090, 0, 0};
  EXPECT_EQ(walk.From(At(0x2000, kStack, kStack + 8), kMostFrames, kStack), WalkEnd::kNoTable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x2000));
  walk.words[3] = 0x00000000e8909090;
  EXPECT_EQ(walk.From(At(0x2000, kStack, kStack + 8), kMostFrames, kStack), WalkEnd::kEndOfStack);
  EXPECT_THAT(walk.frames(), ElementsAre(0x2000, kStack + 0x20));
}

TEST(WalkStack, EndsWhereAnUnknownFramePointerIsNeeded) {
  Walk walk;
  walk.words = {0x1210};
  Registers registers = At(0x1000, kStack);
  registers.fp.reset();
  EXPECT_EQ(walk.From(registers), WalkEnd::kEndOfStack);
  registers.pc = 0x2000;
  EXPECT_EQ(walk.From(registers), WalkEnd::kUnreadable);
}

TEST(Step, FollowsAFramePointerToAnotherStack) {
  const Words stack = {{kStack - 0x4000, 0x77}, {kStack - 0x3ff8, 0x401234}};
  Rule rule = kByFramePointer;
  Registers registers = At(0x401000, kStack, kStack - 0x4000);
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kNoProgress);
  rule.flags = Rule::kOtherStack;
  EXPECT_EQ(Step(Machine::kX86_64, rule, ReaderOf(stack), registers), StepResult::kCaller);
  EXPECT_EQ(registers.pc, 0x401234);
  EXPECT_EQ(registers.sp, kStack - 0x3ff0);
  EXPECT_EQ(registers.fp, 0x77);
  EXPECT_FALSE(registers.interrupted);
}

// The walk from the gap of a GapProgram, with a word on top of the stack.
WalkEnd WalkFromGap(std::uint64_t word, const elf::ElfFile* binary,
                    std::vector<WalkedFrame>& frames) {
  const std::vector<std::byte> image = GapProgram::Build();
  const auto file = elf::ElfFile::FromBytes(image);
  const Table table = TableOf(image);
  const auto find = [&](RuntimeAddress address) {
    const ImageAddress in_image{address.value};
    return Code{.frames_by = FramesBy::kTable,
                .rule = &table.Find(in_image),
                .table = &table,
                .binary = binary != nullptr ? binary : &*file,
                .address = in_image};
  };
  const std::uint64_t words[] = {word};
  return WalkStack(Machine::kX86_64, At(GapProgram::kGap, kStack), find,
                   StackCopy(kStack, std::as_bytes(std::span(words))), kMostFrames, frames);
}

// Behind a call that does not return. Rules that were derived from instructions have a flag.
TEST(IsReturnAddress, IsNoFirstInstructionOfAFunctionWhereverItsRuleIsFrom) {
  const auto file = elf::ElfFile::Owning(GapProgram::Build());
  constexpr ImageAddress kBase{GapProgram::kClone};
  constexpr std::uint32_t kFunction = GapProgram::kThread - GapProgram::kClone;
  const auto is_return_address = [&](const Rule& rule) {
    const std::vector<Row> rows = {{0, 1}, {kFunction, 2}, {kFunction + 16, 0}};
    const std::vector<Rule> rules = {Rule(), kPushed, rule};
    const Table table(Machine::kX86_64, kBase, rows, rules, nullptr);
    return IsReturnAddress(Machine::kX86_64, {.frames_by = FramesBy::kTable,
                                              .table = &table,
                                              .binary = &*file,
                                              .address = {GapProgram::kThread - 1}});
  };
  EXPECT_TRUE(is_return_address(kPushed));
  EXPECT_FALSE(is_return_address(kEntry));
  Rule derived = kEntry;
  derived.flags = Rule::kDerived;
  EXPECT_FALSE(is_return_address(derived));
}

TEST(WalkStack, InAGapItBelievesAReturnAddressOnlyAfterACall) {
  std::vector<WalkedFrame> frames;
  EXPECT_EQ(WalkFromGap(GapProgram::kAfterCall, nullptr, frames), WalkEnd::kEndOfStack);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[1].pc, GapProgram::kAfterCall);
  for (const std::uint64_t word : {GapProgram::kAfterMove, GapProgram::kClone + 3,
                                   GapProgram::kThread,  // behind a call that does not return
                                   std::uint64_t{0x10}}) {
    EXPECT_EQ(WalkFromGap(word, nullptr, frames), WalkEnd::kNoRule) << std::hex << word;
    EXPECT_EQ(frames.size(), 1U);
  }
}

TEST(WalkStack, WithoutCodeItBelievesNoReturnAddressInAGap) {
  FrameBuilder no_code;
  const std::vector<std::byte> image = no_code.Program().Build();
  const auto slim = elf::ElfFile::FromBytes(image);
  ASSERT_TRUE(slim);
  std::vector<WalkedFrame> frames;
  EXPECT_EQ(WalkFromGap(GapProgram::kAfterCall, &*slim, frames), WalkEnd::kNoRule);
  EXPECT_EQ(frames.size(), 1U);
}

TEST(WalkStack, SaysWhyItEnded) {
  Walk walk;
  walk.words = {0x1310};
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kNoRule);
  EXPECT_THAT(walk.frames(), ElementsAre(0x1000, 0x1310));
  walk.words = {0x3010};
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kNoTable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x1000, 0x3010));
  walk.words = {0x9010};  // in no mapping
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kNoTable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x1000));
  walk.words = {};
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kUnreadable);
  EXPECT_EQ(walk.From(At(0x9000, kStack)), WalkEnd::kNoTable);
  EXPECT_THAT(walk.frames(), ElementsAre(0x9000));
}

TEST(WalkStack, EndsAfterTheMostFrames) {
  Walk walk;
  walk.words.assign(1000, 0x1010);
  EXPECT_EQ(walk.From(At(0x1000, kStack)), WalkEnd::kTooDeep);
  EXPECT_EQ(walk.frames().size(), 127);
  EXPECT_EQ(walk.From(At(0x1000, kStack), 5), WalkEnd::kTooDeep);
  EXPECT_EQ(walk.frames().size(), 5);
}

TEST(StackCopy, ReadsOnlyWholeWordsOfTheCopy) {
  const std::uint64_t words[] = {0x1111, 0x2222};
  const StackCopy copy(kStack, std::as_bytes(std::span(words)));
  EXPECT_EQ(copy(kStack), 0x1111);
  EXPECT_EQ(copy(kStack + 8), 0x2222);
  EXPECT_EQ(copy(kStack + 9), std::nullopt);
  EXPECT_EQ(copy(kStack - 1), std::nullopt);
  EXPECT_EQ(copy(~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(StackCopy(kStack, {})(kStack), std::nullopt);
}

}  // namespace
}  // namespace perftape::unwind
