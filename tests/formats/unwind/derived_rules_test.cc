// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/derived_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "formats/unwind/rule_text.h"
#include "tests/support/machine_code.h"

namespace perftape::unwind {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The rows of code at 0x1000, as "OFFSET CFA FP", in one function or in those given.
std::vector<std::string> Rows(std::string_view hex, std::vector<FunctionExtent> functions = {}) {
  const std::string bytes = MachineCode(hex);
  if (functions.empty()) functions = {{.start = 0x1000, .end = 0x1000 + bytes.size()}};
  std::vector<std::string> texts;
  for (const DerivedRow& row : DeriveRules({.start = 0x1000, .bytes = AsBytes(bytes)}, functions)) {
    const RuleText text = TextOf(row.rule, RegisterNamesOf(Machine::kX86_64));
    texts.push_back(std::to_string(row.start - 0x1000) + " " + text.cfa +
                    (text.fp.empty() ? "" : " " + text.fp));
  }
  return texts;
}
const std::vector<FunctionExtent> kNoSymbols = {{.start = 1, .end = 2}};

TEST(DerivedRules, FollowPushAndSub) {
  EXPECT_THAT(Rows("53"           // push %rbx
                   "55"           // push %rbp
                   "48 83 ec 28"  // sub $40,%rsp
                   "31 ed"        // xor %ebp,%ebp
                   "ff c5"        // 1: inc %ebp
                   "ff cf"        // dec %edi
                   "75 fa"        // jnz 1b
                   "48 83 c4 28"  // add $40,%rsp
                   "5d 5b c3"),   // pop %rbp; pop %rbx; ret
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "2 rsp+24 c-24", "6 rsp+64 c-24",
                          "18 rsp+24 c-24", "19 rsp+16 rbp", "20 rsp+8 rbp", "21 none"));
}

TEST(DerivedRules, UseTheFramePointerOnlyIfItKeepsTheFrame) {
  EXPECT_THAT(
      Rows("55 48 89 e5"  // push %rbp; mov %rsp,%rbp
           "48 83 e4 e0"  // and $-32,%rsp
           "90 c9 c3"),   // nop; leave; ret
      ElementsAre("0 rsp+8 rbp", "1 rsp+16 c-16", "4 rbp+16 c-16", "10 rsp+8 rbp", "11 none"));
  // It is used for something else.
  EXPECT_THAT(Rows("55 48 89 e5 31 ed 5d c3"),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 c-16", "4 rbp+16 c-16", "6 rsp+16 c-16",
                          "7 rsp+8 rbp", "8 none"));
}

TEST(DerivedRules, EndWhereTheStackPointerIsUnknown) {
  EXPECT_THAT(Rows("48 83 e4 f0 90 c3"), ElementsAre("0 rsp+8 rbp", "4 none"));  // and $-16,%rsp
  EXPECT_THAT(Rows("48 8b 67 30 c3"), IsEmpty());                          // mov 48(%rdi),%rsp
  EXPECT_THAT(Rows("58 ff e0"), ElementsAre("0 rsp+8 rbp", "1 none"));     // pops its return
  EXPECT_THAT(Rows("50 06 58 c3"), ElementsAre("0 rsp+8 rbp", "1 none"));  // unknown byte
}

TEST(DerivedRules, AreMissingForWhatReturnsWithAnotherStack) {
  EXPECT_THAT(Rows("50 c3"), IsEmpty());     // push %rax; ret
  EXPECT_THAT(Rows("c2 08 00"), IsEmpty());  // ret $8
}

TEST(DerivedRules, AreMissingWherePathsDisagree) {
  // test %edi,%edi; jz 1f; push %rbx; 1: nop; jmp 1b
  EXPECT_THAT(Rows("85 ff 74 01 53 90 eb fd"), ElementsAre("0 rsp+8 rbp", "5 none"));
}

TEST(DerivedRules, HoldBehindIndirectJumps) {
  // push %rbx; jmp *%rax; and the targets: pop %rbx; ret
  EXPECT_THAT(Rows("53 ff e0 5b c3"),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "4 rsp+8 rbp", "5 none"));
  // Two such jumps with different frames.
  EXPECT_THAT(Rows("85 ff 74 02 ff e0 53 ff e0 c3"),
              ElementsAre("0 rsp+8 rbp", "7 rsp+16 rbp", "9 none"));
}

TEST(DerivedRules, HoldBehindIndirectJumpsWithoutSymbols) {
  // push %rbx; test %esi,%esi; jz 1f; jmp *(%rdi,%rax,8); xor %eax,%eax; pop %rbx; ret;
  // 1: pop %rbx; ret
  EXPECT_THAT(Rows("53 85 f6 74 07 ff 24 c7 31 c0 5b c3 5b c3", kNoSymbols),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "11 rsp+8 rbp", "12 rsp+16 rbp",
                          "13 rsp+8 rbp", "14 none"));
}

TEST(DerivedRules, EndWithTheFunction) {
  // push %rbx; call; and the next function: ret
  const std::vector<FunctionExtent> two = {{.start = 0x1000, .end = 0x1006},
                                           {.start = 0x1006, .end = 0x1007}};
  EXPECT_THAT(Rows("53 e8 00 10 00 00 c3", two),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "6 rsp+8 rbp", "7 none"));
}

TEST(DerivedRules, BeginAtFunctionsWithoutSymbols) {
  // sub $8,%rsp; call 1f; add $8,%rsp; ret; nop; 1: push %rbx; pop %rbx; ret; nop; push...
  EXPECT_THAT(Rows("48 83 ec 08 e8 06 00 00 00 48 83 c4 08 c3 90"
                   "53 5b c3 90 53 5b c3",
                   kNoSymbols),
              ElementsAre("0 rsp+8 rbp", "4 rsp+16 rbp", "13 rsp+8 rbp", "16 rsp+16 rbp",
                          "17 rsp+8 rbp", "20 rsp+16 rbp", "21 rsp+8 rbp", "22 none"));
  // Not behind code that is not known, and not for what never returns: data.
  EXPECT_THAT(Rows("50 06 53 5b c3", kNoSymbols), IsEmpty());
  EXPECT_THAT(Rows("00 00 00 00 00 00", kNoSymbols), IsEmpty());
  // A call may not return: what is behind its padding may be another function.
  EXPECT_THAT(Rows("48 83 ec 08 e8 00 10 00 00 90 31 c0 c3", kNoSymbols), IsEmpty());
}

TEST(DerivedRules, GoOnBehindACallAndThePaddingOfALoop) {
  // push %rbx; call; nop; 1: dec %edi; jnz 1b; pop %rbx; ret
  EXPECT_THAT(Rows("53 e8 00 10 00 00 90 ff cf 75 fc 5b c3", kNoSymbols),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "12 rsp+8 rbp", "13 none"));
}

TEST(DerivedRules, BeginBehindACallThatDoesNotReturn) {
  // 1: ret; nop; sub $8,%rsp; call 1b; nop; and another function: push %rbx; pop %rbx; ret
  EXPECT_THAT(Rows("c3 90 48 83 ec 08 e8 f5 ff ff ff 90 53 5b c3", kNoSymbols),
              ElementsAre("0 rsp+8 rbp", "6 rsp+16 rbp", "11 none", "12 rsp+8 rbp", "13 rsp+16 rbp",
                          "14 rsp+8 rbp", "15 none"));
  // Without a frame it is a part of a function that is not known: 1: ret; call 1b; nop.
  EXPECT_THAT(Rows("c3 90 e8 f9 ff ff ff 90", kNoSymbols), ElementsAre("0 rsp+8 rbp", "1 none"));
}

// musl's a_crash: the compiler does not know that it does not return.
TEST(DerivedRules, GoOnBehindAHalt) {
  // push %rbx; test %edi,%edi; jz 1f; hlt; pop %rbx; ret; 1: pop %rbx; ret
  EXPECT_THAT(Rows("53 85 ff 74 03 f4 5b c3 5b c3"),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "7 rsp+8 rbp", "8 rsp+16 rbp",
                          "9 rsp+8 rbp", "10 none"));
}

TEST(DerivedRules, AreMissingForPartsOfFunctions) {
  EXPECT_THAT(Rows("31 c0 5b c3", kNoSymbols), IsEmpty());        // pops the return address
  EXPECT_THAT(Rows("48 89 44 24 40 c3", kNoSymbols), IsEmpty());  // stores above it
  EXPECT_THAT(Rows("48 89 04 24 c3", kNoSymbols), IsEmpty());     // replaces it
}

TEST(DerivedRules, OfKnownCodeSurviveAWrongGuess) {
  // push %rbx; 1: pop %rbx; ret; and what has no symbol: jmp 1b
  EXPECT_THAT(Rows("53 5b c3 eb fc", {{.start = 0x1000, .end = 0x1003}}),
              ElementsAre("0 rsp+8 rbp", "1 rsp+16 rbp", "2 rsp+8 rbp", "3 none"));
}

TEST(DerivedRules, BeginAgainBehindUnknownCode) {
  std::string hex = "06 c3";  // unknown; ret
  for (int i = 0; i < 14; ++i) hex += " 90";
  EXPECT_THAT(Rows(hex + " 53 5b c3", kNoSymbols),
              ElementsAre("16 rsp+8 rbp", "17 rsp+16 rbp", "18 rsp+8 rbp", "19 none"));
}

TEST(DerivedRules, BeginAtLabels) {
  const std::vector<FunctionExtent> label = {{.start = 0x1002, .end = 0x1002}};
  EXPECT_THAT(Rows("06 06 53 5b c3", label),
              ElementsAre("2 rsp+8 rbp", "3 rsp+16 rbp", "4 rsp+8 rbp", "5 none"));
  EXPECT_THAT(Rows("06 06 5b c3", label), IsEmpty());  // a part of a function
}

// Each call could be the end of a function, and each is tried.
TEST(DerivedRules, AreBoundedForCodeOfManyCalls) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += MachineCode("e8 00 00 00 10 90 53");
  const auto rows = DeriveRules({.start = 0x1000, .bytes = AsBytes(bytes)}, {});
  EXPECT_TRUE(rows.empty() || rows.back().rule == Rule());
}

TEST(DerivedRules, AreMarkedAsDerived) {
  const std::string bytes = MachineCode("c3");
  const std::vector<FunctionExtent> function = {{.start = 0x1000, .end = 0x1001}};
  const auto rows = DeriveRules({.start = 0x1000, .bytes = AsBytes(bytes)}, function);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].rule.flags, Rule::kDerived);
  EXPECT_EQ(rows[1].rule, Rule());
}

// Every byte sequence is accepted.
TEST(DerivedRules, EndForDamagedCode) {
  std::string bytes;
  std::uint32_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    random = random * 1664525 + 1013904223;
    bytes += static_cast<char>(random >> 24);
  }
  for (std::size_t size = 0; size < bytes.size(); size += 997) {
    const auto rows =
        DeriveRules({.start = 0, .bytes = AsBytes(std::string_view(bytes).substr(0, size))}, {});
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1].start, rows[i].start);
    EXPECT_TRUE(rows.empty() || rows.back().rule == Rule());
  }
}

}  // namespace
}  // namespace perftape::unwind
