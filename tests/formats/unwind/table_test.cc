// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/formats/unwind/table_text.h"
#include "tests/support/frame_builder.h"
#include "tests/support/matchers.h"

namespace perftape::unwind {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using Common = FrameBuilder::Common;
using Section = FrameBuilder::Section;

constexpr std::uint64_t kText = FrameBuilder::kText;

// push %rbp; mov %rsp,%rbp; ...; ret
const std::string kWithFramePointer = Instructions(
    DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset + 6, 2, DW_CFA_advance_loc + 3,
    DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc + 10, DW_CFA_def_cfa, 7, 8);
const std::string kEnd = Instructions(DW_CFA_undefined, 16);

Table TableOfFrames(const FrameBuilder& frames) {
  return TableOf(frames.Program().Build());
}

TEST(Table, HasTheRowsOfAFunction) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x20, kWithFramePointer);
  const Table table = TableOfFrames(frames);
  EXPECT_THAT(RowsOf(table),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 1, "sp+16 fp-16 ra-8"),
                          Pair(kText + 4, "fp+16 fp-16 ra-8"), Pair(kText + 14, "sp+8 fp-16 ra-8"),
                          Pair(kText + 0x20, "none")));
  EXPECT_EQ(table.base().value, kText);
  EXPECT_EQ(table.machine(), Machine::kX86_64);
}

TEST(Table, FindsTheRuleOfEachAddress) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x20, kWithFramePointer);
  const Table table = TableOfFrames(frames);
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText - 1})), "none");
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText})), "sp+8 ra-8");
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText + 3})), "sp+16 fp-16 ra-8");
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText + 13})), "fp+16 fp-16 ra-8");
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText + 0x1f})), "sp+8 fp-16 ra-8");
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText + 0x20})), "none");
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText + (std::uint64_t{1} << 32)})), "none");
  EXPECT_EQ(OneLine(Table().Find(ImageAddress{0})), "none");
}

TEST(Table, SortsFunctions) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText + 0x100, 0x10, kEnd);
  frames.AddFrame(common, kText, 0x10, "");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x10, "none"),
                          Pair(kText + 0x100, "end"), Pair(kText + 0x110, "none")));
}

// push %rbx; pop %rbx; ret
const std::string kAssembler = "\x53\x5b\xc3";

ElfBuilder ProgramWithCode(const FrameBuilder& frames, std::uint64_t at, const std::string& code) {
  ElfBuilder elf = frames.Program();
  const auto text =
      elf.AddSection({.name = ".text",
                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                      .address = kText,
                      .contents = std::string(at, '\x90') + code + std::string(64, '\x90'),
                      .offset = 0x1000});
  elf.AddSymbol({.name = "assembler", .value = kText + at, .size = code.size(), .section = text});
  return elf;
}

TEST(Table, DerivesRulesForFunctionsWithoutFrames) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x10, "");
  EXPECT_THAT(RowsOf(TableOf(ProgramWithCode(frames, 0x20, kAssembler).Build())),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x10, "none"),
                          Pair(kText + 0x20, "sp+8 bx? ra-8 derived"),
                          Pair(kText + 0x21, "sp+16 bx? ra-8 derived"),
                          Pair(kText + 0x22, "sp+8 bx? ra-8 derived"), Pair(kText + 0x23, "none")));
}

TEST(Table, DerivesRulesOfABinaryWithoutAnyFrames) {
  EXPECT_THAT(
      RowsOf(TableOf(ProgramWithCode(FrameBuilder(), 0, kAssembler).Build())),
      ElementsAre(Pair(kText, "sp+8 bx? ra-8 derived"), Pair(kText + 1, "sp+16 bx? ra-8 derived"),
                  Pair(kText + 2, "sp+8 bx? ra-8 derived"), Pair(kText + 3, "none")));
}

TEST(Table, EndsAtTheStartOfABoostContext) {
  // mov %rdi,%rax; ret; where a context begins: push %rbp; jmp *%rbx; and where it ends: hlt
  const std::string code = "\x48\x89\xf8\xc3\x55\xff\xe3\xf4";
  const auto rows_of = [&](const std::string& name) {
    ElfBuilder elf = FrameBuilder().Program();
    const auto text = elf.AddSection({.name = ".text",
                                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                                      .address = kText,
                                      .contents = code + std::string(64, '\x90'),
                                      .offset = 0x1000});
    elf.AddSymbol({.name = name, .value = kText, .size = code.size(), .section = text});
    return RowsOf(TableOf(elf.Build()));
  };
  EXPECT_THAT(rows_of("make_fcontext"),
              ElementsAre(Pair(kText, "sp+8 bx? ra-8 derived"), Pair(kText + 4, "end"),
                          Pair(kText + 8, "none")));
  EXPECT_THAT(rows_of("another"),
              ElementsAre(Pair(kText, "sp+8 bx? ra-8 derived"), Pair(kText + 4, "none")));
}

// An assembler does not say what a symbol is.
TEST(Table, DerivesRulesAtGlobalLabelsOutsideOfFunctions) {
  const std::string code = "\x06" + kAssembler + "\x06" + kAssembler;  // 06 is no instruction
  ElfBuilder elf = FrameBuilder().Program();
  const auto text = elf.AddSection({.name = ".text",
                                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .address = kText,
                                    .contents = code + std::string(64, '\x90'),
                                    .offset = 0x1000});
  const auto add = [&](std::uint64_t at, unsigned char binding) {
    elf.AddSymbol({.name = "label" + std::to_string(at),
                   .value = kText + at,
                   .section = text,
                   .type = STT_NOTYPE,
                   .binding = binding});
  };
  add(1, STB_GLOBAL);
  add(2, STB_GLOBAL);
  add(5, STB_LOCAL);
  EXPECT_THAT(RowsOf(TableOf(elf.Build())),
              ElementsAre(Pair(kText + 1, "sp+8 bx? ra-8 derived"),
                          Pair(kText + 2, "sp+16 bx? ra-8 derived"),
                          Pair(kText + 3, "sp+8 bx? ra-8 derived"), Pair(kText + 4, "none")));
}

// Go's functions keep frame pointers, and change to other stacks.
TEST(Table, DerivesNoRulesForGo) {
  ElfBuilder elf = ProgramWithCode(FrameBuilder(), 0, kAssembler);
  elf.AddSection({.name = ".note.go.buildid", .type = SHT_NOTE, .size = 16});
  EXPECT_THAT(RowsOf(TableOf(elf.Build())), IsEmpty());
}

TEST(Table, MergesEqualNeighboursAndPaddingBetweenThem) {
  FrameBuilder frames;
  frames.SetCode(std::string(0x80, '\x90'));
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText, 0x10, "");
  frames.AddFrame(common, kText + 0x10, 0x11, "");
  frames.AddFrame(common, kText + 0x30, 0x10, "");  // 15 bytes after the one before
  frames.AddFrame(common, kText + 0x50, 0x10, "");  // 16 bytes
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x40, "none"),
                          Pair(kText + 0x50, "sp+8 ra-8"), Pair(kText + 0x60, "none")));
}

// glibc's __start_context, to which the function of a context returns, is outermost. A return
// address is looked up by the byte before it.
TEST(Table, EndsAtTheStartOfAContext) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText, 0x18, "");
  frames.AddFrame(common, kText + 0x20, 0x1a, "");
  frames.AddFrame(common, kText + 0x40, 0x10, "");
  frames.SetCode(std::string(0x20, '\x90') + "\x48\x89\xdc" + std::string(0x30, '\x90'));
  EXPECT_THAT(
      RowsOf(TableOfFrames(frames)),
      ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x1f, "end"), Pair(kText + 0x3a, "none"),
                  Pair(kText + 0x40, "sp+8 ra-8"), Pair(kText + 0x50, "none")));
  // A call may end there.
  frames.AddFrame(common, kText + 0x18, 8, "");
  EXPECT_EQ(OneLine(TableOfFrames(frames).Find(ImageAddress{kText + 0x1f})), "sp+8 ra-8");
}

TEST(Table, MarksTheRulesOfShortGapsThatHaveCode) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText, 0x18, "");
  frames.AddFrame(common, kText + 0x20, 0x18, kEnd);
  frames.SetCode(std::string(0x18, '\xc3') + "\x48\x85\xc0\x74\x03\xc3\x90\x90");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x18, "sp+8 ra-8 unsure"),
                          Pair(kText + 0x20, "end"), Pair(kText + 0x38, "none")));
  frames.SetCode("");  // a slim copy
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x18, "sp+8 ra-8 unsure"),
                          Pair(kText + 0x20, "end"), Pair(kText + 0x38, "none")));
}

TEST(Table, NoCodeContinuesTheFrameOfASignal) {
  FrameBuilder frames;
  const auto signal = frames.AddCommon({.letters = "zRS"});
  frames.AddFrame(signal, kText, 0x18, "");
  frames.AddFrame(signal, kText + 0x20, 0x18, "");
  frames.SetCode(std::string(0x38, '\xc3'));
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8 signal"), Pair(kText + 0x18, "none"),
                          Pair(kText + 0x20, "sp+8 ra-8 signal"), Pair(kText + 0x38, "none")));
}

TEST(Table, DoesNotExtendTheEndOfTheStack) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText, 0x1e, kEnd);
  frames.AddFrame(common, kText + 0x20, 0x10, "");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "end"), Pair(kText + 0x1e, "none"),
                          Pair(kText + 0x20, "sp+8 ra-8"), Pair(kText + 0x30, "none")));
}

TEST(Table, PrefersTheFirstOfOverlappingFunctions) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText + 0x20, 0x10, kEnd);
  frames.AddFrame(common, kText, 0x40, kWithFramePointer);
  frames.AddFrame(common, kText + 0x28, 0x40, Instructions(DW_CFA_def_cfa_offset, 32));
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 1, "sp+16 fp-16 ra-8"),
                          Pair(kText + 4, "fp+16 fp-16 ra-8"), Pair(kText + 14, "sp+8 fp-16 ra-8"),
                          Pair(kText + 0x20, "end"), Pair(kText + 0x30, "sp+8 fp-16 ra-8"),
                          Pair(kText + 0x40, "sp+32 ra-8"), Pair(kText + 0x68, "none")));
}

TEST(Table, LeavesOutDiscardedFunctionsAndThoseOutsideOfCode) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, 0, 0x10, "");
  frames.AddFrame(common, kText, 0, "");
  frames.AddFrame(common, kText - 0x10, 0x10, "");
  frames.AddFrame(common, kText + FrameBuilder::kTextSize, 0x10, "");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)), IsEmpty());
}

TEST(Table, EndsAFunctionWithItsSegment) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText + 0xff0, 0x7fffffff, "");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText + 0xff0, "sp+8 ra-8"), Pair(kText + 0x1000, "none")));
}

TEST(Table, ContinuesAfterAZeroBetweenEntries) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddZero();
  frames.AddFrame(common, kText, 0x10, "");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x10, "none")));
}

TEST(Table, ReadsDebugFrameOnlyWhereEhFrameHasNothing) {
  FrameBuilder eh_frames;
  eh_frames.AddFrame(eh_frames.AddCommon({}), kText, 0x10, "");
  for (const auto length : {FrameBuilder::Length::k32Bits, FrameBuilder::Length::k64Bits}) {
    FrameBuilder frames(Section::kDebugFrame, length);
    const auto common = frames.AddCommon({.letters = "", .version = 4});
    frames.AddFrame(common, kText, 0x20, Instructions(DW_CFA_def_cfa_offset, 32));
    frames.AddFrame(common, kText, 0x10, kEnd);
    ElfBuilder elf = eh_frames.Program();
    frames.AddTo(elf);
    EXPECT_THAT(RowsOf(TableOf(elf.Build())),
                ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x10, "sp+32 ra-8"),
                            Pair(kText + 0x20, "none")));
  }
}

TEST(Table, Reads64BitLengths) {
  FrameBuilder frames(Section::kEhFrame, FrameBuilder::Length::k64Bits);
  frames.AddFrame(frames.AddCommon({}), kText, 0x10, "");
  EXPECT_THAT(RowsOf(TableOfFrames(frames)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x10, "none")));
}

TEST(Table, FindsEhFrameWithoutSectionHeaders) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x10, "");
  frames.AddZero();
  frames.AddFrame(0, kText + 0x100, 0x10, "");  // behind the end
  constexpr std::uint64_t kHeader = FrameBuilder::kSection - 8;
  ElfBuilder elf;
  elf.AddSegment({.offset = 0x1000, .address = kText, .size = 0x800});
  const std::string header =
      Instructions(1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_omit, DW_EH_PE_omit) +
      FrameBuilder::WordOf(4, 4);
  elf.AddSection({.name = "frames", .contents = header + frames.contents(), .offset = 0x2000});
  elf.AddSegment({.offset = 0x2000,
                  .address = kHeader,
                  .size = header.size() + frames.contents().size(),
                  .flags = PF_R});
  elf.AddSegment(
      {.offset = 0x2000, .address = kHeader, .size = 8, .flags = PF_R, .type = PT_GNU_EH_FRAME});
  std::vector<std::byte> image = elf.Build();
  auto& file_header = *reinterpret_cast<Elf64_Ehdr*>(image.data());
  file_header.e_shoff = file_header.e_shnum = file_header.e_shstrndx = 0;
  EXPECT_THAT(RowsOf(TableOf(image)),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x10, "none")));
}

TEST(Table, IsEmptyWithoutCallFrameInformation) {
  const Table table = TableOf(ElfBuilder().Build());
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(OneLine(table.Find(ImageAddress{0})), "none");
}

// mold and lld write none for .plt.
TEST(Table, HasRulesOfLinkageTablesWithoutCallFrameInformation) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x20, "");
  ElfBuilder elf = frames.Program();
  elf.AddSection({.name = ".plt",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = kText + 0x40,
                  .contents = std::string(0x30, '\0')});
  EXPECT_THAT(RowsOf(TableOf(elf.Build())),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x20, "none"),
                          Pair(kText + 0x40, "sp+8,+8@11 ra-8"), Pair(kText + 0x70, "none")));
}

TEST(Table, PrefersTheCallFrameInformationOfALinkageTable) {
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x20, "");
  ElfBuilder elf = frames.Program();
  elf.AddSection({.name = ".plt.sec",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = kText,
                  .contents = std::string(0x20, '\0')});
  EXPECT_THAT(RowsOf(TableOf(elf.Build())),
              ElementsAre(Pair(kText, "sp+8 ra-8"), Pair(kText + 0x20, "none")));
}

TEST(Table, RefusesOtherProcessors) {
  const std::vector<std::byte> image = ElfBuilder(ET_EXEC, EM_386).Build();
  EXPECT_THAT(Table::Build(elf::ElfFile::FromBytes(image).value()),
              FailsWith(ErrorCode::kUnsupported, testing::_));
}

TEST(Table, KeepsAnyPrefixOfAFileReadable) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, kText, 0x20, kWithFramePointer);
  frames.AddFrame(common, kText + 0x20, 0x20, kEnd);
  const std::string all = frames.contents();
  for (std::size_t size = 0; size < all.size(); ++size) {
    ElfBuilder elf(ET_EXEC);
    elf.AddSegment({.offset = 0x1000, .address = kText, .size = FrameBuilder::kTextSize});
    elf.AddSection({.name = ".eh_frame",
                    .flags = SHF_ALLOC,
                    .address = FrameBuilder::kSection,
                    .contents = all.substr(0, size)});
    for (const auto& [address, rule] : RowsOf(TableOf(elf.Build()))) {
      EXPECT_LE(address, kText + 0x40);
    }
  }
}

}  // namespace
}  // namespace perftape::unwind
