// SPDX-License-Identifier: Apache-2.0
#include "record/probes/probed_binary.h"

#include <elf.h>
#include <gmock/gmock.h>

#include <string>

#include "tests/support/elf_builder.h"
#include "tests/support/go_table.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/xz.h"

namespace perftape::record {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kCodeAddress = 0x401000;

// A program whose code is at file offset = address - 0x400000.
class ProbedBinaryTest : public testing::Test {
 protected:
  ProbedBinaryTest() { StartElf(std::string()); }

  void StartElf(const std::string& code) {
    elf_ = ElfBuilder();
    text_ = elf_.AddSection({.name = ".text",
                             .flags = SHF_ALLOC | SHF_EXECINSTR,
                             .address = kCodeAddress,
                             .size = 0x400,
                             .contents = code,
                             .offset = 0x1000});
    elf_.AddSegment({.offset = 0x1000, .address = kCodeAddress, .size = 0x400});
  }

  void Add(const char* name, std::uint64_t value, std::uint64_t size = 0x10) {
    elf_.AddSymbol({.name = name, .value = kCodeAddress + value, .size = size, .section = text_});
  }

  ProbedBinary Open() { return ProbedBinary::Open(dir_.Write("program", elf_.Build())).value(); }

  std::vector<std::uint64_t> OffsetsOf(std::string_view name) {
    std::vector<std::uint64_t> offsets;
    const auto found = Open().FindFunction(name, 0);
    if (!found) return offsets;
    for (const ProbedOffset& at : *found) offsets.push_back(at.offset);
    return offsets;
  }

  TempDir dir_;
  ElfBuilder elf_;
  std::uint16_t text_ = 0;
};

TEST_F(ProbedBinaryTest, CopiesOfAFunctionBelongToItColdCodeDoesNot) {
  Add("parse", 0);
  Add("parse.constprop.0", 0x10);
  Add("parse.part.0", 0x20);
  Add("parse.cold", 0x30);
  Add("lonely.part.0", 0x40);
  EXPECT_THAT(OffsetsOf("parse"), ElementsAre(0x1000, 0x1010));
  EXPECT_THAT(OffsetsOf("parse.cold"), ElementsAre(0x1030));
  EXPECT_THAT(OffsetsOf("lonely"), ElementsAre(0x1040));
  EXPECT_THAT(Open().MatchingFunctions("*"), ElementsAre("lonely", "parse"));
}

TEST_F(ProbedBinaryTest, ClonesAreFoundByReadableNameToo) {
  Add("_ZN1a4pushEi", 0);
  Add("_ZN1a4pushEi.isra.0", 0x10);
  Add("_ZN1a4pushEi.cold", 0x20);
  EXPECT_THAT(OffsetsOf("a::push(int)"), ElementsAre(0x1000, 0x1010));
  EXPECT_THAT(OffsetsOf("a::push(int) [clone .cold]"), ElementsAre(0x1020));
  EXPECT_THAT(OffsetsOf("_ZN1a4pushEi"), ElementsAre(0x1000, 0x1010));
}

TEST_F(ProbedBinaryTest, AConstructorThatCallsAnotherIsNotCountedTwice) {
  std::string code(0x10, '\x90');
  code.replace(0, 5, std::string("\xe8\x0b\0\0\0", 5));  // call 0x401010
  StartElf(code);
  Add("_ZN1aC1Ev", 0);     // a complete object, calls the next
  Add("_ZN1aC2Ev", 0x10);  // a base object
  Add("_ZN1aD0Ev", 0x20);  // deletes, has the code of the next inline
  Add("_ZN1aD1Ev", 0x30);
  EXPECT_THAT(OffsetsOf("a::a"), ElementsAre(0x1010));
  EXPECT_THAT(OffsetsOf("a::~a()"), ElementsAre(0x1020, 0x1030));
  EXPECT_THAT(OffsetsOf("_ZN1aC1Ev"), ElementsAre(0x1000));
}

TEST_F(ProbedBinaryTest, GlobsMatchReadableNames) {
  Add("_ZN4shop4Cart3addEi", 0);
  Add("_ZN4shop4Cart5totalIiEET_S2_", 0x10);
  Add("main", 0x20);
  const ProbedBinary binary = Open();
  EXPECT_THAT(binary.MatchingFunctions("shop::Cart::*"),
              ElementsAre("shop::Cart::add(int)", "shop::Cart::total<int>(int)"));
  EXPECT_THAT(binary.MatchingFunctions("*::add"), ElementsAre("shop::Cart::add(int)"));
  EXPECT_THAT(binary.MatchingFunctions("_ZN4shop4Cart3*"), ElementsAre("_ZN4shop4Cart3addEi"));
  EXPECT_THAT(binary.MatchingFunctions("none*"), IsEmpty());
}

TEST_F(ProbedBinaryTest, FunctionsOfMiniDebugInfoAreFound) {
  ElfBuilder embedded;
  const auto text = embedded.AddSection({.name = ".text",
                                         .type = SHT_NOBITS,
                                         .flags = SHF_ALLOC | SHF_EXECINSTR,
                                         .address = kCodeAddress,
                                         .size = 0x400});
  embedded.AddSymbol({.name = "hidden", .value = kCodeAddress + 0x50, .size = 8, .section = text});
  elf_.AddSection(
      {.name = ".gnu_debugdata", .contents = Xz(std::string(AsText(embedded.Build())))});
  EXPECT_THAT(OffsetsOf("hidden"), ElementsAre(0x1050));
  EXPECT_THAT(Open().MatchingFunctions("hid*"), ElementsAre("hidden"));
}

TEST_F(ProbedBinaryTest, FunctionsOfADebugFileBesideItAreFound) {
  elf_.SetBuildId("0123456789");
  elf_.AddSection({.name = ".gnu_debuglink", .contents = std::string("p.debug\0\0\0\0\0", 12)});
  ElfBuilder debug;
  debug.SetBuildId("0123456789");
  const auto text = debug.AddSection({.name = ".text",
                                      .type = SHT_NOBITS,
                                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                                      .address = kCodeAddress,
                                      .size = 0x400});
  debug.AddSymbol({.name = "apart", .value = kCodeAddress + 0x60, .size = 8, .section = text});
  dir_.Write(".debug/p.debug", debug.Build());
  EXPECT_THAT(OffsetsOf("apart"), ElementsAre(0x1060));
}

// Functions of Go at 0x401000 and 0x401020, one of C behind them.
void AddGoTable(ElfBuilder& elf) {
  const GoTable table = MakeGoTable({.text_start = kCodeAddress},
                                    {{.entry = 0, .name = "main.main", .file = "main.go"},
                                     {.entry = 0x20, .name = "main.(*T).Get", .file = "main.go"}},
                                    0x40);
  elf.AddSection({.name = ".gopclntab",
                  .flags = SHF_ALLOC,
                  .address = 0x405000,
                  .contents = std::string(AsText(table.table)),
                  .offset = 0x5000});
}

TEST_F(ProbedBinaryTest, FunctionsOfAStrippedGoProgramAreFound) {
  AddGoTable(elf_);
  EXPECT_THAT(OffsetsOf("main.main"), ElementsAre(0x1000));
  EXPECT_THAT(OffsetsOf("main.(*T).Get"), ElementsAre(0x1020));
  EXPECT_THAT(Open().MatchingFunctions("main.*"), ElementsAre("main.(*T).Get", "main.main"));
}

TEST_F(ProbedBinaryTest, CodeOfGoIsToldFromCodeOfC) {
  AddGoTable(elf_);
  Add("c_function", 0x80);
  const ProbedBinary binary = Open();
  EXPECT_TRUE(binary.IsGoCode(0x1000));
  EXPECT_TRUE(binary.IsGoCode(0x1020));
  EXPECT_FALSE(binary.IsGoCode(0x1080));
}

TEST_F(ProbedBinaryTest, WithoutItsTableAllCodeOfAGoProgramIsGos) {
  Add("f", 0x80);
  EXPECT_FALSE(Open().IsGoCode(0x1080));
  elf_.AddSection({.name = ".note.go.buildid", .type = SHT_NOTE, .contents = "id"});
  EXPECT_TRUE(Open().IsGoCode(0x1080));
}

using namespace std::string_literals;

TEST(DirectBranches, OfX86CountFromTheNextInstruction) {
  const std::string code = "\x90\xe8\x0a\0\0\0\xe9\xf0\xff\xff\xff"s;
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_X86_64), ElementsAre(0x1010, 0xffb));
}

TEST(DirectBranches, OfArm64CountInstructions) {
  const std::string code = "\x1f\x20\x03\xd5\x03\0\0\x94\xff\xff\xff\x17"s;
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_AARCH64), ElementsAre(0x1010, 0x1004));
}

TEST(DirectBranches, EndWithTheCode) {
  const std::string code = "\xe8\x0a\0\0\0"s;
  for (std::size_t size = 0; size < code.size(); ++size) {
    EXPECT_THAT(DirectBranches(AsBytes(code).first(size), 0x1000, EM_X86_64), IsEmpty());
  }
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_X86_64), Contains(0x100f));
  EXPECT_THAT(DirectBranches(AsBytes(code), 0x1000, EM_RISCV), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
