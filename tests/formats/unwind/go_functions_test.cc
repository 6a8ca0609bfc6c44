// SPDX-License-Identifier: Apache-2.0
// Tables of Go binaries, whose functions are known by the names in the pc-line table.
#include "formats/unwind/go_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/formats/unwind/table_text.h"
#include "tests/support/frame_builder.h"
#include "tests/support/go_table.h"

namespace perftape::unwind {
namespace {

using namespace std::string_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::Pair;
using Rows = std::vector<std::pair<std::uint64_t, std::string>>;

constexpr std::uint64_t kText = FrameBuilder::kText;
constexpr std::uint64_t kSize = 0x20;            // of each function
const std::string kMoveToSp = "\x48\x89\xdc";    // mov %rbx,%rsp
const std::string kLoadSp = "\x49\x8b\x66\x38";  // mov 0x38(%r14),%rsp
const std::string kOtherStack = "fp+16 fp-16 bx? ra-8 other stack";

struct Function {
  std::string name;
  std::string code;
  std::string instructions = {};
  std::vector<GoValue> stack_use = {};  // not empty: the function is not in .debug_frame
};

// A Go binary of these functions.
ElfBuilder GoBinary(const std::vector<Function>& functions, std::uint16_t machine = EM_X86_64) {
  FrameBuilder frames(FrameBuilder::Section::kDebugFrame);
  const auto common = frames.AddCommon({.letters = "", .version = 3});
  std::vector<GoFunction> names;
  std::string code;
  for (const Function& function : functions) {
    if (function.stack_use.empty()) {
      frames.AddFrame(common, kText + code.size(), kSize, function.instructions);
    }
    names.push_back({.entry = code.size(),
                     .name = function.name,
                     .file = "x.go",
                     .stack_use = function.stack_use});
    code += function.code + std::string(kSize - function.code.size(), '\x90');
  }
  frames.SetCode(code);
  ElfBuilder elf = frames.Program(machine);
  const GoTable table = MakeGoTable({.text_start = kText}, names, code.size());
  elf.AddSection({.name = ".gopclntab",
                  .flags = SHF_ALLOC,
                  .address = 0x410000,
                  .contents = std::string(reinterpret_cast<const char*>(table.table.data()),
                                          table.table.size())});
  return elf;
}

Rows RowsOfFunctions(const std::vector<Function>& functions) {
  return RowsOf(TableOf(GoBinary(functions).Build()));
}

TEST(GoFunctions, FunctionsSaveTheFramePointer) {
  // push %rbp; mov %rsp,%rbp; sub $0x10,%rsp
  const Function pushes = {
      "main.f", "\x55\x48\x89\xe5\x48\x83\xec\x10",
      Instructions(DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc + 7,
                   DW_CFA_def_cfa_offset, 32, DW_CFA_advance_loc + 8, DW_CFA_def_cfa_offset, 8)};
  EXPECT_THAT(RowsOfFunctions({pushes}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 1, "sp+16 fp-16 ra-8"),
                          Pair(kText + 8, "sp+32 fp-16 ra-8"), Pair(kText + 0x10, "sp+8 ra-8"),
                          Pair(kText + kSize, "none")));
  // sub $0x18,%rsp; mov %rbp,0x10(%rsp)
  const Function moves = {"main.g", "\x48\x83\xec\x18\x48\x89\x6c\x24\x10",
                          Instructions(DW_CFA_advance_loc + 4, DW_CFA_def_cfa_offset, 32)};
  EXPECT_THAT(RowsOfFunctions({moves}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 4, "sp+32 ra-8"),
                          Pair(kText + 9, "sp+32 fp-16 ra-8"), Pair(kText + kSize, "none")));
  // sub $0x118,%rsp; mov %rbp,0x110(%rsp)
  const Function moves_far = {
      "main.h", "\x48\x81\xec\x18\x01\0\0\x48\x89\xac\x24\x10\x01\0\0"s,
      Instructions(DW_CFA_advance_loc + 7, DW_CFA_def_cfa_offset, 0xa0, 0x02)};
  EXPECT_THAT(RowsOfFunctions({moves_far}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 7, "sp+288 ra-8"),
                          Pair(kText + 15, "sp+288 fp-16 ra-8"), Pair(kText + kSize, "none")));
}

TEST(GoFunctions, OtherFramesSaveNone) {
  const Function pushes_another = {"main.f", "\x50\x90",
                                   Instructions(DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16)};
  EXPECT_THAT(RowsOfFunctions({pushes_another}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 1, "sp+16 ra-8"),
                          Pair(kText + kSize, "none")));
}

TEST(GoFunctions, ACallOnAnotherStackLeadsToTheFrameOfTheFramePointer) {
  for (const char* name : {"runtime.systemstack", "runtime.asmcgocall", "runtime.nanotime1.abi0",
                           "runtime.walltime", "time.now"}) {
    EXPECT_THAT(RowsOfFunctions({{name, "\x90\x90" + kMoveToSp}, {"main.f", ""}}),
                ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 5, kOtherStack),
                            Pair(kText + kSize, "sp+8 ra-8"), Pair(kText + 2 * kSize, "none")))
        << name;
  }
}

TEST(GoFunctions, CCallsBackOnTheStackOfTheGoroutine) {
  // sub $0x20,%rsp; mov %rbp,0x18(%rsp); mov %rbx,%rsp; 5 bytes; mov 0x38(%r14),%rsp
  const std::string code =
      "\x48\x83\xec\x20\x48\x89\x6c\x24\x18" + kMoveToSp + "\x90\x90\x90\x90\x90" + kLoadSp;
  const Function calls_back = {"runtime.cgocallback", code,
                               Instructions(DW_CFA_advance_loc + 4, DW_CFA_def_cfa_offset, 40,
                                            DW_CFA_advance_loc + 0x1b, DW_CFA_def_cfa_offset, 8)};
  EXPECT_THAT(RowsOfFunctions({calls_back}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 4, "sp+40 ra-8"),
                          Pair(kText + 9, "sp+40 fp-16 ra-8"), Pair(kText + 12, kOtherStack),
                          Pair(kText + 21, "sp+40 fp-16 ra-8"), Pair(kText + 31, "sp+8 ra-8"),
                          Pair(kText + kSize, "none")));
}

TEST(GoFunctions, AStrippedProgramHasTheSizesOfFramesInItsTable) {
  // sub $0x18,%rsp; mov %rbp,0x10(%rsp)
  const Function stripped = {
      "main.g", "\x48\x83\xec\x18\x48\x89\x6c\x24\x10", "", {{4, 0}, {0x1c, 0x18}, {kSize, 0}}};
  const Function switches = {"runtime.systemstack", kMoveToSp, "", {{kSize, 0}}};
  EXPECT_THAT(
      RowsOfFunctions({{"main.f", ""}, stripped, switches}),
      ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + kSize + 4, "sp+32 ra-8"),
                  Pair(kText + kSize + 9, "sp+32 fp-16 ra-8"),
                  Pair(kText + kSize + 0x1c, "sp+8 ra-8"), Pair(kText + 2 * kSize + 3, kOtherStack),
                  Pair(kText + 3 * kSize, "none")));
  // What a damaged table says is no frame.
  const Function damaged = {"main.h", "", "", {{8, -64}, {kSize, 0}}};
  EXPECT_THAT(RowsOfFunctions({{"main.f", ""}, damaged}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + kSize, "unsupported"),
                          Pair(kText + kSize + 8, "sp+8 ra-8"), Pair(kText + 2 * kSize, "none")));
}

TEST(GoFunctions, AThreadThatLeavesAGoroutineHasAnUnsureCaller) {
  for (const char* name : {"runtime.mcall", "runtime.morestack.abi0"}) {
    EXPECT_THAT(RowsOfFunctions({{name, kLoadSp}}),
                ElementsAre(Pair(kText, "sp+8 ra-8"),
                            Pair(kText + 4, "fp+16 fp-16 bx? ra-8 unsure,other stack"),
                            Pair(kText + kSize, "none")))
        << name;
  }
}

TEST(GoFunctions, ThreadsAndGoroutinesBeginInTheRuntime) {
  for (const char* name : {"runtime.goexit", "runtime.mstart", "runtime.rt0_go.abi0"}) {
    EXPECT_THAT(RowsOfFunctions({{name, ""}}),
                ElementsAre(Pair(kText, "end"), Pair(kText + kSize, "none")))
        << name;
  }
  EXPECT_THAT(
      RowsOfFunctions({{"runtime.clone", kMoveToSp}}),
      ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 3, "end"), Pair(kText + kSize, "none")));
}

TEST(GoFunctions, AHandlerReturnsToTheKernelFromOneByteBefore) {
  for (const char* name : {"runtime.sigreturn", "runtime.sigreturn__sigaction"}) {
    EXPECT_THAT(RowsOfFunctions({{"main.f", ""}, {name, ""}}),
                ElementsAre(Pair(kText, "sp+8 ra-8"),
                            Pair(kText + kSize - 1, "*(sp+160) fp@sp+120 bx? ra@sp+168 signal"),
                            Pair(kText + 2 * kSize, "none")))
        << name;
  }
}

TEST(GoFunctions, NamesOfOtherPackagesMeanNothing) {
  EXPECT_THAT(RowsOfFunctions({{"main.systemstack", kMoveToSp}, {"systemstack", kMoveToSp}}),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 2 * kSize, "none")));
  // A file that is not of Go.
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, kSize, "");
  const std::vector<std::byte> image = frames.Program().Build();
  const auto file = elf::ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  EXPECT_FALSE(GoFunctions::Read(*file, Machine::kX86_64).is_go());
}

TEST(GoFunctions, OnArm64AChainEndsWhereTheStackChanges) {
  const Rows rows = RowsOf(TableOf(GoBinary({{"runtime.systemstack", ""}}, EM_AARCH64).Build()));
  EXPECT_THAT(rows, Contains(Pair(kText, "unsupported")));
}

TEST(GoFunctions, WithoutCodeAChainEndsWhereTheStackChanges) {
  FrameBuilder frames(FrameBuilder::Section::kDebugFrame);
  const auto common = frames.AddCommon({.letters = "", .version = 3});
  frames.AddFrame(common, kText, kSize, "");
  ElfBuilder elf = frames.Program();
  const GoTable table = MakeGoTable(
      {.text_start = kText}, {{.entry = 0, .name = "runtime.systemstack", .file = "x"}}, kSize);
  elf.AddSection({.name = ".gopclntab",
                  .flags = SHF_ALLOC,
                  .address = 0x410000,
                  .contents = std::string(reinterpret_cast<const char*>(table.table.data()),
                                          table.table.size())});
  EXPECT_THAT(RowsOf(TableOf(elf.Build())), Contains(Pair(kText, "unsupported")));
}

}  // namespace
}  // namespace perftape::unwind
