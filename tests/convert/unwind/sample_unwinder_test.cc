// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/sample_unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

#include "formats/perfdata/abi.h"
#include "tests/support/elf_builder.h"
#include "tests/support/frame_builder.h"
#include "tests/support/gap_program.h"

namespace perftape::offline_unwind {
namespace {

using perfdata::CpuMode;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using testing::ElementsAre;
using unwind::FrameBuilder;
using unwind::Machine;
using unwind::WalkEnd;

constexpr std::uint64_t kStack = 0x7ffc0000;
constexpr std::uint64_t kLoaded = 0x7f0000000000;  // where the program is mapped

// A program with two functions of 0x20 bytes: one at its entry, one without a caller.
class SampleUnwinderTest : public testing::Test {
 protected:
  SampleUnwinderTest() {
    FrameBuilder frames;
    const auto common = frames.AddCommon({});
    frames.AddFrame(common, FrameBuilder::kText, 0x20, "");
    frames.AddFrame(common, FrameBuilder::kText + 0x20, 0x20, "\x07\x10");  // DW_CFA_undefined 16
    image_ = frames.Program().Build();
    file_.emplace(elf::ElfFile::FromBytes(image_).value());
    const elf::Segment& text = TextOf(*file_);
    dso_.path = "/bin/app";
    region_ = {
        .start = kLoaded, .end = kLoaded + 0x10000, .page_offset = text.offset.value, .dso = &dso_};
    text_ = kLoaded + FrameBuilder::kText - text.address.value;
    format_.sample_type = perfdata::kRegsUser | perfdata::kStackUser;
    format_.regs_user_mask = 0x1c0;  // BP, SP, IP
  }

  static const elf::Segment& TextOf(const elf::ElfFile& file) {
    for (const elf::Segment& segment : file.segments()) {
      if (segment.executable) return segment;
    }
    throw std::runtime_error("no code");
  }

  SampleUnwinder Unwinder(std::optional<unwind::Machine> machine = unwind::Machine::kX86_64,
                          PackedLocations* locations = nullptr,
                          const CompiledRules* compiled = nullptr) {
    return SampleUnwinder(
        {.machine = machine,
         .regions_of = [this](const SampledProcess&) { return std::vector{region_}; },
         .table_of = [this](const perfdata::Dso& dso) -> const BinaryTable& {
           return tables_.TableOf(dso.path, {});
         },
         .locations = locations,
         .compiled = compiled});
  }

  perfdata::Sample SampleAt(std::uint64_t pc) {
    registers_ = {0, kStack, pc};
    return {.ip = pc,
            .callchain = WordArray(chain_),
            .regs_user_abi = 2,
            .regs_user = WordArray(registers_),
            .stack_user = std::as_bytes(std::span(stack_))};
  }

  std::vector<std::byte> image_;
  std::optional<elf::ElfFile> file_;
  BinaryTables tables_{
      [this](const std::string&, const BuildId&) -> Result<const elf::ElfFile*> { return &*file_; },
      {}};
  perfdata::Dso dso_;
  perfdata::Region region_;
  perfdata::SampleFormat format_;
  std::uint64_t text_ = 0;
  std::vector<std::uint64_t> registers_, chain_, stack_;
};

TEST_F(SampleUnwinderTest, MakesACallchain) {
  stack_ = {text_ + 0x30};
  SampleUnwinder unwinder = Unwinder();
  const auto chain = unwinder.Unwind(SampleAt(text_ + 4), format_, CpuMode::kUser, {.pid = 7});
  ASSERT_TRUE(chain);
  EXPECT_THAT(chain->words, ElementsAre(kContextUser, text_ + 4, text_ + 0x30));
  EXPECT_FALSE(chain->is_cut);
  EXPECT_EQ(unwinder.report().whole(), 1);
}

TEST_F(SampleUnwinderTest, KeepsTheKernelPart) {
  stack_ = {text_ + 0x30};
  chain_ = {kContextKernel, 0xffffffff81000010, 0xffffffff81000020, kContextUser, 0x1234};
  SampleUnwinder unwinder = Unwinder();
  const auto chain = unwinder.Unwind(SampleAt(text_ + 4), format_, CpuMode::kKernel, {.pid = 7});
  ASSERT_TRUE(chain);
  EXPECT_THAT(chain->words, ElementsAre(kContextKernel, 0xffffffff81000010, 0xffffffff81000020,
                                        kContextUser, text_ + 4, text_ + 0x30));
}

// A signal's handler, the trampoline that it returns to at 0x21, and the interrupted function.
TEST_F(SampleUnwinderTest, SubtractsNothingFromInterruptedFrames) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, FrameBuilder::kText, 0x20, "");
  frames.AddFrame(common, FrameBuilder::kText + 0x40, 0x20, "\x07\x10");  // DW_CFA_undefined 16
  const auto signal = frames.AddCommon({.letters = "zRS"});
  frames.AddFrame(signal, FrameBuilder::kText + 0x20, 0x20, "");
  image_ = frames.Program().Build();
  file_.emplace(elf::ElfFile::FromBytes(image_).value());
  stack_ = {text_ + 0x21, text_ + 0x50};
  PackedLocations locations;
  SampleUnwinder unwinder = Unwinder(unwind::Machine::kX86_64, &locations);
  const auto chain = unwinder.Unwind(SampleAt(text_ + 4), format_, CpuMode::kUser, {.pid = 7});
  ASSERT_TRUE(chain);
  EXPECT_THAT(chain->words,
              ElementsAre(kContextUser, text_ + 4, text_ + 0x21, kContextUser, text_ + 0x50));
  ASSERT_EQ(chain->locations.size(), 3U);
  for (const auto& [word, address] :
       {std::pair{chain->locations[1], text_ + 0x21}, {chain->locations[2], text_ + 0x50}}) {
    EXPECT_EQ(locations.Unpack(word).address, address);
    EXPECT_TRUE(locations.Unpack(word).is_outer_instruction);
  }
  EXPECT_FALSE(locations.Unpack(chain->locations[0]).is_outer_instruction);
}

TEST_F(SampleUnwinderTest, PacksTheLocationsOfUserFrames) {
  stack_ = {text_ + 0x30};
  chain_ = {kContextKernel, 0xffffffff81000010, kContextUser, 0x1234};
  PackedLocations locations;
  SampleUnwinder unwinder = Unwinder(unwind::Machine::kX86_64, &locations);
  const auto chain = unwinder.Unwind(SampleAt(text_ + 4), format_, CpuMode::kKernel, {.pid = 7});
  ASSERT_TRUE(chain);
  EXPECT_EQ(chain->kernel_words, 2U);
  ASSERT_EQ(chain->locations.size(), 2U);
  EXPECT_EQ(locations.Unpack(chain->locations[0]).address, text_ + 4);
  EXPECT_EQ(locations.Unpack(chain->locations[1]).address, text_ + 0x2f);  // the call
  EXPECT_EQ(locations.Unpack(chain->locations[1]).region, region_);
  // An address in no mapping is a frame, too, if it was interrupted.
  const auto unmapped = unwinder.Unwind(SampleAt(0x1000), format_, CpuMode::kUser, {.pid = 7});
  ASSERT_TRUE(unmapped);
  ASSERT_EQ(unmapped->locations.size(), 1U);
  EXPECT_EQ(locations.Unpack(unmapped->locations[0]).region.dso, nullptr);
  EXPECT_EQ(locations.Unpack(unmapped->locations[0]).address, 0x1000U);
}

TEST_F(SampleUnwinderTest, CutsWhereTheCopyEnds) {
  SampleUnwinder unwinder = Unwinder();
  const auto chain = unwinder.Unwind(SampleAt(text_ + 4), format_, CpuMode::kUser, {.pid = 7});
  ASSERT_TRUE(chain);
  EXPECT_THAT(chain->words, ElementsAre(kContextUser, text_ + 4));
  EXPECT_TRUE(chain->is_cut);
  EXPECT_EQ(unwinder.report().EndedAs(WalkEnd::kUnreadable), 1);
}

TEST_F(SampleUnwinderTest, InventsNoCallerInAGapBetweenFunctions) {
  using unwind::GapProgram;
  image_ = GapProgram::Build();
  file_.emplace(elf::ElfFile::FromBytes(image_).value());
  const std::uint64_t bias = text_ - FrameBuilder::kText;
  SampleUnwinder unwinder = Unwinder();
  stack_ = {bias + GapProgram::kAfterCall};
  const std::uint64_t pc = bias + GapProgram::kGap;
  const auto parent = unwinder.Unwind(SampleAt(pc), format_, CpuMode::kUser, {.pid = 7});
  ASSERT_TRUE(parent);
  EXPECT_THAT(parent->words, ElementsAre(kContextUser, pc, bias + GapProgram::kAfterCall));
  EXPECT_FALSE(parent->is_cut);
  stack_ = {bias + GapProgram::kThread};
  const auto child = unwinder.Unwind(SampleAt(pc), format_, CpuMode::kUser, {.pid = 7});
  ASSERT_TRUE(child);
  EXPECT_THAT(child->words, ElementsAre(kContextUser, pc));
  EXPECT_TRUE(child->is_cut);
  EXPECT_EQ(unwinder.report().EndedAs(WalkEnd::kNoRule), 1);
}

TEST_F(SampleUnwinderTest, LeavesOtherSamplesAlone) {
  chain_ = {kContextUser, 0x1234};
  SampleUnwinder unwinder = Unwinder();
  perfdata::Sample sample = SampleAt(text_);
  sample.regs_user_abi = 0;
  EXPECT_FALSE(unwinder.Unwind(sample, format_, CpuMode::kKernel, {}));
  EXPECT_EQ(unwinder.report().samples(), 0);

  sample.regs_user_abi = 1;
  EXPECT_FALSE(unwinder.Unwind(sample, format_, CpuMode::kUser, {}));
  EXPECT_EQ(unwinder.report().of_32_bit, 1);

  SampleUnwinder other = Unwinder(std::nullopt);
  EXPECT_FALSE(other.Unwind(SampleAt(text_), format_, CpuMode::kUser, {}));
  EXPECT_EQ(other.report().unsupported, 1);
}

// A function of compiled code with a frame of 16 bytes, which was replaced in epoch 5 by one that
// the compiler has not described.
TEST_F(SampleUnwinderTest, UsesTheRulesOfCompiledCode) {
  constexpr std::uint64_t kCode = 0x5000;
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), FrameBuilder::kText, 0x20,
                  unwind::Instructions(unwind::DW_CFA_def_cfa_offset, 16));
  const std::vector<std::byte> image = frames.Program().Build();
  const elf::ElfFile file = elf::ElfFile::FromBytes(image).value();
  const unwind::Table table = unwind::Table::Build(file).value();
  const unwind::Table none;
  CompiledRules rules;
  rules.Add({.pid = 7,
             .start = kCode,
             .end = kCode + 0x20,
             .from_epoch = 2,
             .table = &table,
             .image = {FrameBuilder::kText}});
  rules.Add({.pid = 7,
             .start = kCode,
             .end = kCode + 0x20,
             .from_epoch = 5,
             .table = &none,
             .image = {}});
  rules.Finish();
  stack_ = {0, text_ + 0x25};
  SampleUnwinder unwinder = Unwinder(unwind::Machine::kX86_64, nullptr, &rules);
  const auto frames_in = [&](std::uint32_t pid, std::uint32_t epoch, std::uint64_t pc) {
    const auto chain = unwinder.Unwind(SampleAt(pc), format_, CpuMode::kUser,
                                       {.pid = pid, .epoch = epoch, .fingerprint = 1});
    return std::vector<std::uint64_t>(chain->words.begin(), chain->words.end());
  };
  EXPECT_THAT(frames_in(7, 3, kCode + 8), ElementsAre(kContextUser, kCode + 8, text_ + 0x25));
  EXPECT_THAT(frames_in(7, 1, kCode + 8), ElementsAre(kContextUser, kCode + 8));
  EXPECT_THAT(frames_in(7, 6, kCode + 8), ElementsAre(kContextUser, kCode + 8));
  EXPECT_THAT(frames_in(7, 3, kCode + 0x20), ElementsAre(kContextUser, kCode + 0x20));
  EXPECT_THAT(frames_in(8, 3, kCode + 8), ElementsAre(kContextUser, kCode + 8));
}

// The masks of perf record --call-graph dwarf.
constexpr std::uint64_t kX86Mask = 0xff0fff;
constexpr std::uint64_t kArm64Mask = 0x1ffffffff;

TEST(MachineOf, PrefersTheRecordedMachine) {
  EXPECT_EQ(MachineOf("x86_64", kArm64Mask), Machine::kX86_64);
  EXPECT_EQ(MachineOf("aarch64", kX86Mask), Machine::kAArch64);
  EXPECT_EQ(MachineOf("", kX86Mask), Machine::kX86_64);
  EXPECT_EQ(MachineOf("", kArm64Mask), Machine::kAArch64);
  EXPECT_EQ(MachineOf("s390x", kArm64Mask), std::nullopt);
  EXPECT_EQ(MachineOf("", 0), std::nullopt);
}

TEST(RegistersOf, FindsTheRegistersByTheirBits) {
  std::vector<std::uint64_t> words(33);
  std::iota(words.begin(), words.end(), 1000);
  const perfdata::Sample sample{.regs_user = WordArray(words)};
  const auto x86 = RegistersOf(sample, kX86Mask, Machine::kX86_64);
  ASSERT_TRUE(x86);
  EXPECT_EQ(x86->fp, 1006);
  EXPECT_EQ(x86->sp, 1007);
  EXPECT_EQ(x86->pc, 1008);
  EXPECT_EQ(x86->link, 1005);
  EXPECT_EQ(x86->bx, 1001);
  const auto arm = RegistersOf(sample, kArm64Mask, Machine::kAArch64);
  ASSERT_TRUE(arm);
  EXPECT_EQ(arm->fp, 1029);
  EXPECT_EQ(arm->link, 1030);
  EXPECT_EQ(arm->bx, std::nullopt);
  EXPECT_EQ(arm->sp, 1031);
  EXPECT_EQ(arm->pc, 1032);
  // Only BP, SP and IP.
  const auto few = RegistersOf(sample, 0x1c0, Machine::kX86_64);
  ASSERT_TRUE(few);
  EXPECT_EQ(few->fp, 1000);
  EXPECT_EQ(few->pc, 1002);
  EXPECT_EQ(few->link, std::nullopt);
}

TEST(RegistersOf, NeedsInstructionAndStackPointer) {
  const std::uint64_t words[] = {1, 2};
  const perfdata::Sample sample{.regs_user = WordArray(words)};
  EXPECT_FALSE(RegistersOf(sample, 0x140, Machine::kX86_64));  // no SP
  EXPECT_FALSE(RegistersOf(sample, 0x1c0, Machine::kX86_64));  // fewer words than bits
  EXPECT_TRUE(RegistersOf(sample, 0x180, Machine::kX86_64));
}

TEST(AbiOf, TellsKernelThreadsAnd32BitProcesses) {
  EXPECT_EQ(AbiOf({.regs_user_abi = 0}), RegistersAbi::kNone);
  EXPECT_EQ(AbiOf({.regs_user_abi = 1}), RegistersAbi::k32Bit);
  EXPECT_EQ(AbiOf({.regs_user_abi = 2}), RegistersAbi::k64Bit);
  // With vector registers.
  EXPECT_EQ(AbiOf({.regs_user_abi = 5}), RegistersAbi::k32Bit);
  EXPECT_EQ(AbiOf({.regs_user_abi = 6}), RegistersAbi::k64Bit);
}

}  // namespace
}  // namespace perftape::offline_unwind
