// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/vmlinux_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/elf_builder.h"

namespace perftape::symbolize {
namespace {

constexpr std::uint64_t kText = 0xffffffff81000000;
const BuildId kAbc = BuildId::From(AsBytes("abc"));

enum class Symbols : std::uint8_t { kKept, kStripped };

// Returns a kernel of 0x1000 bytes of code, at offset 0x200000 of its file.
elf::ElfFile Vmlinux(Symbols symbols = Symbols::kKept) {
  ElfBuilder elf;
  const auto text = elf.AddSection({.name = ".text",
                                    .flags = SHF_ALLOC | SHF_EXECINSTR,
                                    .address = kText,
                                    .size = 0x1000,
                                    .offset = 0x200000});
  elf.AddSegment({.offset = 0x200000, .address = kText, .size = 0x1000});
  if (symbols == Symbols::kKept) {
    elf.AddSymbol({.name = "_text", .value = kText, .section = text, .type = STT_NOTYPE});
    elf.AddSymbol({.name = "do_idle", .value = kText + 0x100, .size = 0x40, .section = text});
    elf.AddSymbol({.name = "_etext", .value = kText + 0x1000, .section = text, .type = STT_NOTYPE});
  }
  elf.SetBuildId("abc");
  static std::vector<std::vector<std::byte>> images;  // the files are views of these
  images.push_back(elf.Build());
  return elf::ElfFile::FromBytes(images.back()).value();
}

std::shared_ptr<ElfBinary> Binary(elf::ElfFile image, std::optional<elf::ElfFile> debug = {}) {
  DebugFile file;
  file.image = std::move(image);
  file.debug = std::move(debug);
  file.source = "vmlinux";
  return std::make_shared<ElfBinary>(std::move(file), SymbolOptions{});
}
std::shared_ptr<ElfBinary> WholeVmlinux() {
  return Binary(Vmlinux());
}

// Returns a profile of the kernel, recorded with _text at `text`.
convert::Profile KernelAt(std::uint64_t text) {
  return ProfileOf({.filename = "[kernel.kallsyms]_text",
                    .start = text,
                    .limit = text + 0x1000,
                    .file_offset = text,
                    .type = convert::MappingType::kKernel});
}
RecordedKernel RecordedAt(std::uint64_t text) {
  return {.reference = "_text", .reference_address = text, .limit = text + 0x1000};
}

std::string NameBy(const std::shared_ptr<ElfBinary>& vmlinux, const RecordedKernel& recorded,
                   std::uint64_t text, std::uint64_t behind_text) {
  VmlinuxSymbolizer symbolizer(vmlinux, recorded);
  return NameAt(symbolizer, KernelAt(text), text + behind_text);
}

TEST(VmlinuxSymbolizer, NamesTheKernelWhereItIsLinkedTo) {
  EXPECT_EQ(NameBy(WholeVmlinux(), RecordedAt(kText), kText, 0x120), "do_idle");
  EXPECT_EQ(NameBy(WholeVmlinux(), RecordedAt(kText), kText, 0x13f), "do_idle");
}

TEST(VmlinuxSymbolizer, NamesTheKernelWhereItHasMovedTo) {
  const std::uint64_t text = kText + 0x5e00000;
  EXPECT_EQ(NameBy(WholeVmlinux(), RecordedAt(text), text, 0x120), "do_idle");
}

TEST(VmlinuxSymbolizer, NamesNothingBehindItsCode) {
  const convert::Profile profile = ProfileOf({.filename = "[kernel.kallsyms]_text",
                                              .start = kText,
                                              .file_offset = kText,
                                              .type = convert::MappingType::kKernel});
  VmlinuxSymbolizer symbolizer(WholeVmlinux(), RecordedAt(kText));
  EXPECT_EQ(NameAt(symbolizer, profile, kText + 0x20000), "(no symbol)");
  EXPECT_EQ(NameAt(symbolizer, profile, 0), "(no symbol)");
}

TEST(VmlinuxSymbolizer, WarnsOfAKernelThatMoved) {
  const convert::Profile profile = ProfileOf({.filename = "[kernel.kallsyms]",
                                              .limit = ~std::uint64_t{0},
                                              .type = convert::MappingType::kKernel});
  VmlinuxSymbolizer symbolizer(WholeVmlinux(), {});
  const FileOffset offsets[] = {{kText + 0x120}, {kText + 0x5e00120}};
  EXPECT_THAT(symbolizer.Resolve(profile, convert::MappingId{1}, offsets).value().warning,
              testing::HasSubstr("1 of 2 kernel addresses are outside the code in vmlinux"));
}

TEST(VmlinuxSymbolizer, ReportsHowFarTheKernelHasMoved) {
  const std::uint64_t text = kText + 0x5e00000;
  VmlinuxSymbolizer symbolizer(WholeVmlinux(), RecordedAt(text));
  const FileOffset offsets[] = {{text + 0x120}};
  const auto resolution = symbolizer.Resolve(KernelAt(text), convert::MappingId{1}, offsets);
  ASSERT_TRUE(resolution);
  EXPECT_EQ(resolution->source, "vmlinux (symbols) (build id unchecked, moved by -0x5e00000)");
}

TEST(VmlinuxSymbolizer, RefusesTheFileOfAnotherBuild) {
  RecordedKernel recorded = RecordedAt(kText);
  recorded.build_id = kAbc;
  EXPECT_EQ(NameBy(WholeVmlinux(), recorded, kText, 0x120), "do_idle");
  recorded.build_id = BuildId::From(AsBytes("xyz"));
  EXPECT_EQ(NameBy(WholeVmlinux(), recorded, kText, 0x120), "(wrong build id)");
}

TEST(VmlinuxSymbolizer, RefusesAFileWhoseCodeEndsElsewhere) {
  RecordedKernel recorded = RecordedAt(kText);
  recorded.limit += 0x1000;
  EXPECT_EQ(NameBy(WholeVmlinux(), recorded, kText, 0x120), "(wrong build id)");
}

TEST(VmlinuxSymbolizer, RejectsAFileWithoutALoadAddress) {
  const auto stripped = Binary(Vmlinux(Symbols::kStripped));
  EXPECT_EQ(NameBy(stripped, RecordedAt(kText), kText, 0x120), "(wrong build id)");
}

TEST(VmlinuxSymbolizer, ReadsAStrippedVmlinuxFromItsDebugFile) {
  const auto both = Binary(Vmlinux(Symbols::kStripped), Vmlinux());
  const std::uint64_t text = kText + 0x5e00000;
  EXPECT_EQ(NameBy(both, RecordedAt(text), text, 0x120), "do_idle");
}

TEST(VmlinuxSymbolizer, ResolvesNothingInModules) {
  const convert::Profile module = ProfileOf({.filename = "[nf_tables]",
                                             .start = 0xffffffffc0341000,
                                             .type = convert::MappingType::kKernel});
  VmlinuxSymbolizer symbolizer(WholeVmlinux(), RecordedAt(kText));
  EXPECT_EQ(NameAt(symbolizer, module, 0x10), "(no symbol)");
}

}  // namespace
}  // namespace perftape::symbolize
