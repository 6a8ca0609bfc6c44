// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/frame_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/formats/unwind/table_text.h"
#include "tests/support/frame_builder.h"

namespace perftape::unwind {
namespace {

using testing::ElementsAre;

constexpr int kBreg6 = DW_OP_breg0 + 6, kBreg7 = DW_OP_breg0 + 7, kBreg16 = DW_OP_breg0 + 16;

// The rules of the rows of a function of 0x1000 bytes, with the usual CIE.
std::vector<std::string> Rules(const std::string& instructions, FrameBuilder::Common common = {},
                               std::uint16_t machine = EM_X86_64) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon(common), FrameBuilder::kText, 0x1000, instructions);
  std::vector<std::string> rules;
  for (const auto& [address, rule] : RowsOf(TableOf(frames.Program(machine).Build()))) {
    if (address != FrameBuilder::kText + 0x1000) rules.push_back(rule);
  }
  return rules;
}

// The rule of a function with one row.
std::string RuleAfter(const std::string& instructions) {
  const std::vector<std::string> rules = Rules(instructions);
  return rules.size() == 1 ? rules.front() : "rows: " + std::to_string(rules.size());
}

// DW_CFA_def_cfa_expression with these bytes.
template <class... Byte>
std::string Cfa(Byte... expression) {
  return Instructions(DW_CFA_def_cfa_expression, sizeof...(expression), expression...);
}

TEST(FrameProgram, AdvancesByAllWidths) {
  EXPECT_THAT(Rules(Instructions(DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16,
                                 DW_CFA_advance_loc1, 200, DW_CFA_def_cfa_offset, 24,
                                 DW_CFA_advance_loc2, 0, 1, DW_CFA_def_cfa_offset, 32,
                                 DW_CFA_advance_loc4, 0, 1, 0, 0, DW_CFA_def_cfa_offset, 40)),
              ElementsAre("sp+8 ra-8", "sp+16 ra-8", "sp+24 ra-8", "sp+32 ra-8", "sp+40 ra-8"));
}

TEST(FrameProgram, MultipliesWithTheAlignmentOfCode) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({.code_alignment = 4}), FrameBuilder::kText, 0x100,
                  Instructions(DW_CFA_advance_loc + 3, DW_CFA_def_cfa_offset, 16));
  EXPECT_EQ(TableOf(frames.Program().Build()).rows()[1].pc, 12);
}

TEST(FrameProgram, SetsTheLocation) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({.augmentation = std::string(1, DW_EH_PE_udata4)});
  // The start is absolute here, so it is written as such.
  std::string body = FrameBuilder::WordOf(frames.contents().size() + 4 - common, 4) +
                     FrameBuilder::WordOf(FrameBuilder::kText, 4) + FrameBuilder::WordOf(0x100, 4) +
                     '\0' + Instructions(DW_CFA_set_loc) +
                     FrameBuilder::WordOf(FrameBuilder::kText + 0x40, 4) +
                     Instructions(DW_CFA_def_cfa_offset, 16);
  ElfBuilder elf;
  elf.AddSegment({.offset = 0x1000, .address = FrameBuilder::kText, .size = 0x1000});
  elf.AddSection({.name = ".eh_frame",
                  .flags = SHF_ALLOC,
                  .address = FrameBuilder::kSection,
                  .contents = frames.contents() + FrameBuilder::WordOf(body.size(), 4) + body});
  const Table table = TableOf(elf.Build());
  ASSERT_EQ(table.rows().size(), 3);
  EXPECT_EQ(table.rows()[1].pc, 0x40);
}

TEST(FrameProgram, RemembersAndRestoresStates) {
  EXPECT_THAT(
      Rules(Instructions(DW_CFA_def_cfa_offset, 16, DW_CFA_offset + 6, 2, DW_CFA_remember_state,
                         DW_CFA_advance_loc + 8, DW_CFA_def_cfa, 6, 24, DW_CFA_restore + 6,
                         DW_CFA_advance_loc + 1, DW_CFA_restore_state)),
      ElementsAre("sp+16 fp-16 ra-8", "fp+24 ra-8", "sp+16 fp-16 ra-8"));
}

TEST(FrameProgram, ReadsAllOffsetsOfRegisters) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset_extended, 6, 3)), "sp+8 fp-24 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset_extended_sf, 6, 0x7e)), "sp+8 fp+16 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_GNU_negative_offset_extended, 6, 2)), "sp+8 fp+16 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset + 6, 2, DW_CFA_restore_extended, 6)), "sp+8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset + 6, 2, DW_CFA_same_value, 6)), "sp+8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset + 6, 2, DW_CFA_undefined, 6)), "sp+8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset + 16, 2)), "sp+8 ra-16");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset + 12, 2)), "sp+8 ra-8");  // r12
}

TEST(FrameProgram, ReadsAllDefinitionsOfTheCfa) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa_sf, 6, 0x7e)), "fp+16 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa_offset_sf, 0x7e)), "sp+16 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa_register, 6)), "fp+8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_GNU_args_size, 16)), "sp+8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa, 10, 0)), "r10+0 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa, 17, 0)), "unsupported");  // xmm0
}

TEST(FrameProgram, ReturnsFromAnExpressionToTheLastOffset) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa_offset, 24) + Cfa(kBreg6, 0x70, DW_OP_deref) +
                      Instructions(DW_CFA_def_cfa_register, 7)),
            "sp+24 ra-8");
}

TEST(FrameProgram, RecognizesExpressionsOfTheCfa) {
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 16)), "sp+16 ra-8");
  EXPECT_EQ(RuleAfter(Cfa(kBreg6, 0x70, DW_OP_deref)), "*(fp-16) ra-8");
  EXPECT_EQ(RuleAfter(Cfa(DW_OP_bregx, 6, 0x70, DW_OP_deref)), "*(fp-16) ra-8");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 40, DW_OP_deref, DW_OP_plus_uconst, 8)), "*(sp+40)+8 ra-8");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 40, DW_OP_deref, DW_OP_plus_uconst, 0x80, 2)), "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 8, DW_OP_breg0 + 9, 0, DW_OP_plus)), "sp+1*r9+8 ra-8");
  EXPECT_EQ(RuleAfter(Cfa(DW_OP_breg0 + 10, 0, DW_OP_deref)), "*(r10+0) ra-8");
  EXPECT_EQ(RuleAfter(Cfa(kBreg6, 0, DW_OP_deref, DW_OP_lit0 + 16, DW_OP_plus)), "*(fp+0)+16 ra-8");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 24, DW_OP_const1u, 16, DW_OP_minus)), "sp+8 ra-8");
}

// OpenSSL's bn_mul_mont, and other ways to write the same.
TEST(FrameProgram, RecognizesSumsOfRegisters) {
  constexpr int kBreg9 = DW_OP_breg0 + 9;
  const std::string_view expected = "*(sp+8*r9+8)+8 ra-8";
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 0, kBreg9, 0, DW_OP_lit0 + 8, DW_OP_mul, DW_OP_plus,
                          DW_OP_plus_uconst, 8, DW_OP_deref, DW_OP_plus_uconst, 8)),
            expected);
  EXPECT_EQ(RuleAfter(Cfa(kBreg9, 1, DW_OP_lit0 + 3, DW_OP_shl, kBreg7, 0, DW_OP_plus, DW_OP_deref,
                          DW_OP_lit0 + 8, DW_OP_plus)),
            expected);
  // Three registers, two words, no base, more than Rule can hold.
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 0, kBreg9, 0, DW_OP_plus, kBreg6, 0, DW_OP_plus)), "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 0, DW_OP_deref, DW_OP_deref)), "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(kBreg9, 0, DW_OP_lit0 + 8, DW_OP_mul)), "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(DW_OP_lit0 + 8)), "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 0, kBreg9, 0, DW_OP_lit0 + 9, DW_OP_shl, DW_OP_plus)),
            "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 0, DW_OP_plus)), "unsupported");
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 0, kBreg9, 0)), "unsupported");
}

// A bit for each register that the caller has elsewhere; rbx, rbp and rsp have rules.
TEST(FrameProgram, NotesTheOtherRegistersThatAreSaved) {
  const auto changed = [](const std::string& instructions) {
    FrameState state;
    const dwarf::Cursor at(std::as_bytes(std::span(instructions)), 0, std::endian::little);
    ProgramContext context;
    context.return_register = 16;
    context.data_alignment = -8;
    context.initial.changed = 1U << 15;
    FrameProgram program(at, context, 0);
    while (program.NextRow()) state = program.state();
    return state.changed & ~(1U << 15);
  };
  EXPECT_EQ(changed(Instructions(DW_CFA_offset + 12, 2, DW_CFA_undefined, 9)), 0x1200U);
  EXPECT_EQ(changed(Instructions(DW_CFA_offset + 3, 2, DW_CFA_offset + 6, 2, DW_CFA_offset + 7, 2)),
            0U);
  EXPECT_EQ(changed(Instructions(DW_CFA_offset + 12, 2, DW_CFA_restore + 12)), 0U);
  EXPECT_EQ(changed(Instructions(DW_CFA_offset + 12, 2, DW_CFA_same_value, 12)), 0U);
  EXPECT_EQ(changed(Instructions(DW_CFA_offset_extended, 40, 2)), 0U);
}

TEST(FrameProgram, RecognizesLinkageTables) {
  for (const int push_end : {11, 10, 9}) {
    EXPECT_EQ(
        RuleAfter(Cfa(kBreg7, 8, kBreg16, 0, DW_OP_lit0 + 15, DW_OP_and, DW_OP_lit0 + push_end,
                      DW_OP_ge, DW_OP_lit0 + 3, DW_OP_shl, DW_OP_plus)),
        "sp+8,+8@" + std::to_string(push_end) + " ra-8");
  }
  EXPECT_EQ(RuleAfter(Cfa(kBreg7, 8, kBreg16, 0, DW_OP_lit0 + 7, DW_OP_and, DW_OP_lit0 + 11,
                          DW_OP_ge, DW_OP_lit0 + 3, DW_OP_shl, DW_OP_plus)),
            "unsupported");
}

TEST(FrameProgram, ReadsSignalFrames) {
  // As __restore_rt of glibc on x86-64: the kernel's ucontext is on the stack.
  const std::string restore =
      Cfa(kBreg7, 0xa0, 1, DW_OP_deref) + Instructions(DW_CFA_expression, 6, 3, kBreg7, 0xf8, 0,
                                                       DW_CFA_expression, 16, 3, kBreg7, 0xa8, 1);
  EXPECT_THAT(Rules(restore, {.letters = "zRS", .instructions = ""}),
              ElementsAre("*(sp+160) fp@sp+120 ra@sp+168 signal"));
}

TEST(FrameProgram, ReadsRealignedStacks) {
  // GCC: lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10
  EXPECT_EQ(
      RuleAfter(Cfa(kBreg6, 0x78, DW_OP_deref) + Instructions(DW_CFA_expression, 6, 2, kBreg6, 0)),
      "*(fp-8) fp@fp+0 ra-8");
}

TEST(FrameProgram, CountsExpressionsFromTheCfaWhereItCan) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_expression, 6, 2, kBreg7, 0)), "sp+8 fp-8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa, 6, 16, DW_CFA_expression, 16, 2, kBreg6, 8)),
            "fp+16 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_expression, 6, 2, DW_OP_breg0 + 3, 0)), "unsupported");
}

TEST(FrameProgram, KnowsTheReturnAddressOfVfork) {
  // It is in rdi while the child runs.
  EXPECT_THAT(
      Rules(Instructions(DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 5,
                         DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 8, DW_CFA_offset + 16, 1)),
      ElementsAre("sp+8 ra-8", "sp+0", "sp+8 ra-8"));
}

TEST(FrameProgram, KnowsTheFrameOfTheDynamicLinkersTrampoline) {
  // _dl_runtime_resolve_xsavec aligns the stack; rbx keeps where it began.
  EXPECT_THAT(Rules(Instructions(DW_CFA_def_cfa_offset, 32, DW_CFA_offset + 3, 4,
                                 DW_CFA_advance_loc + 3, DW_CFA_def_cfa_register, 3)),
              ElementsAre("sp+32 bx-32 ra-8", "bx+32 bx-32 ra-8"));
}

TEST(FrameProgram, KnowsHowFunctionsLeaveToAnExceptionHandler) {
  // _Unwind_Resume, after rbp has been restored: mov %rcx,%rsp; pop %rcx; jmp *%rcx.
  EXPECT_THAT(
      Rules(Instructions(DW_CFA_def_cfa, 2, 8, DW_CFA_advance_loc + 3, DW_CFA_def_cfa, 7, 8,
                         DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 0, DW_CFA_register, 16, 2)),
      ElementsAre("cx+8 ra-8", "sp+8 ra-8", "sp+0 ra@cx"));
}

TEST(FrameProgram, KnowsWhereRbxIsSavedNearTheCfa) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset + 3, 127)), "sp+8 bx-1016 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_offset_extended, 3, 0x80, 1)), "sp+8 bx? ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_undefined, 3)), "sp+8 bx? ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_same_value, 3)), "sp+8 ra-8");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_register, 3, 12)), "sp+8 bx? ra-8");
}

TEST(FrameProgram, HasNoRuleForWhatRuleCannotExpress) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_register, 16, 3)), "unsupported");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_register, 6, 5)), "unsupported");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_val_offset, 6, 0)), "unsupported");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_val_offset_sf, 6, 0)), "unsupported");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_val_expression, 6, 2, kBreg7, 0)), "unsupported");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_val_offset, 7, 0)), "sp+8 ra-8");  // Go's rsp
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 8)),
            "unsupported");
}

TEST(FrameProgram, EndsTheStackAtAnUndefinedReturnAddress) {
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_undefined, 16)), "end");
}

TEST(FrameProgram, KnowsNothingAfterADamagedInstruction) {
  EXPECT_THAT(Rules(Instructions(DW_CFA_advance_loc + 4, DW_CFA_def_cfa_offset, 16,
                                 DW_CFA_advance_loc + 4, 0x3f)),
              ElementsAre("sp+8 ra-8", "sp+16 ra-8", "none"));
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_restore_state)), "none");
  EXPECT_EQ(RuleAfter(std::string(100, DW_CFA_remember_state)), "none");
  EXPECT_EQ(RuleAfter(Instructions(DW_CFA_def_cfa)), "none");
}

TEST(FrameProgram, LeavesOutFunctionsOfADamagedCommonEntry) {
  EXPECT_THAT(Rules("", {.instructions = Instructions(0x3f)}), testing::IsEmpty());
  EXPECT_THAT(Rules("", {.version = 2}), testing::IsEmpty());
  EXPECT_THAT(Rules("", {.letters = "x"}), testing::IsEmpty());
}

TEST(FrameProgram, FollowsTheLinkRegisterOfAArch64) {
  const FrameBuilder::Common common = {.return_register = 30,
                                       .instructions = Instructions(DW_CFA_def_cfa, 31, 0)};
  // paciasp; stp x29, x30, [sp, -32]!; ...; ldp; autiasp
  const std::string instructions = Instructions(
      DW_CFA_advance_loc + 4, DW_CFA_AARCH64_negate_ra_state, DW_CFA_advance_loc + 4,
      DW_CFA_def_cfa_offset, 32, DW_CFA_offset + 29, 4, DW_CFA_offset + 30, 3,
      DW_CFA_advance_loc + 16, DW_CFA_restore + 30, DW_CFA_restore + 29, DW_CFA_def_cfa_offset, 0,
      DW_CFA_advance_loc + 4, DW_CFA_AARCH64_negate_ra_state);
  EXPECT_THAT(
      Rules(instructions, common, EM_AARCH64),
      ElementsAre("sp+0", "sp+0 signed", "sp+32 fp-32 ra-24 signed", "sp+0 signed", "sp+0"));
  EXPECT_THAT(Rules(Instructions(DW_CFA_undefined, 30), common, EM_AARCH64), ElementsAre("end"));
  EXPECT_THAT(Rules(Instructions(DW_CFA_def_cfa, 29, 16), common, EM_AARCH64),
              ElementsAre("fp+16"));
}

}  // namespace
}  // namespace perftape::unwind
