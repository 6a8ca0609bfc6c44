// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kallsyms_symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/convert/symbolize/one_mapping.h"

namespace perftape::symbolize {
namespace {

constexpr std::uint64_t kText = 0xffffffff81000000;

std::shared_ptr<const KernelTable> Table(BuildId id = {}) {
  return std::make_shared<const KernelTable>(
      "kallsyms",
      kallsyms::Kallsyms::Parse("ffffffff81000000 T _stext\n"
                                "ffffffff81000000 T _text\n"
                                "ffffffff81000100 t do_idle\n"
                                "ffffffff82000000 T _etext\n"
                                "ffffffffc0341000 t nft_do_chain\t[nf_tables]\n"
                                "ffffffffc0341080 t nft_last\t[nf_tables]\n"
                                "ffffffffc0351000 t bpf_prog_1_f\t[bpf]\n")
          .value(),
      id);
}

// Resolves names for a recording of which only the profile is known.
std::string NameBy(const std::shared_ptr<const KernelTable>& table, const convert::Profile& profile,
                   std::uint64_t offset) {
  KallsymsSymbolizer symbolizer(table, KernelOf(profile));
  return NameAt(symbolizer, profile, offset);
}

// Returns a profile of the kernel, recorded with _text at `text`.
convert::Profile Kernel(std::uint64_t text, std::string build_id = {}) {
  return ProfileOf({.filename = "[kernel.kallsyms]",
                    .build_id = std::move(build_id),
                    .start = text,
                    .file_offset = text,
                    .type = convert::MappingType::kKernel});
}

TEST(KallsymsSymbolizer, NamesKernelAndBpfByAddressInTheSameBoot) {
  const auto table = Table();
  const convert::Profile profile = Kernel(kText);
  EXPECT_EQ(NameBy(table, profile, 0xffffffff81000123), "do_idle");
  EXPECT_EQ(NameBy(table, profile, 0xffffffffc0351004), "bpf_prog_1_f");
  EXPECT_EQ(NameBy(table, profile, 0xffffffffb0000000), "(no symbol)");
  KallsymsSymbolizer symbolizer(table, KernelOf(profile));
  EXPECT_EQ(NameWithOffsetAt(symbolizer, profile, 0xffffffff81000123), "do_idle+0x23");
}

// A System.map, and addresses of a boot that moved the kernel. Nothing was recorded of it.
TEST(KallsymsSymbolizer, NamesOnlyCode) {
  const auto table = std::make_shared<const KernelTable>(
      "System.map", kallsyms::Kallsyms::Parse("ffffffff81000000 T _stext\n"
                                              "ffffffff81000100 t do_idle\n"
                                              "ffffffff81000200 d table_in_code\n"
                                              "ffffffff81000300 t after\n"
                                              "ffffffff82000000 T _etext\n"
                                              "ffffffff82649000 t not_code\n"
                                              "ffffffff83000000 T _sinittext\n"
                                              "ffffffff83000010 t start_kernel\n"
                                              "ffffffff83001000 T _einittext\n"
                                              "ffffffff86649000 b variable\n"
                                              "ffffffffc0351000 t of_module\t[m]\n")
                        .value());
  const convert::Profile profile = ProfileOf({.filename = "[kernel.kallsyms]",
                                              .limit = ~std::uint64_t{0},
                                              .type = convert::MappingType::kKernel});
  KallsymsSymbolizer symbolizer(table, {});
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffff81000123), "do_idle");
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffff83000020), "start_kernel");
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffffc0351004), "of_module");
  for (const std::uint64_t address :
       {0xffffffff81000210, 0xffffffff82000000, 0xffffffff82649010, 0xffffffff866497af}) {
    EXPECT_EQ(NameAt(symbolizer, profile, address), "(no symbol)") << address;
  }
  const auto warning = [&](std::vector<FileOffset> offsets) {
    return symbolizer.Resolve(profile, convert::MappingId{1}, offsets).value().warning;
  };
  EXPECT_EQ(warning({{0xffffffff81000123}, {0xffffffff81000310}, {0xffffffff866497af}}), "");
  EXPECT_EQ(warning({{0xffffffffc0351004}}), "");
  EXPECT_THAT(warning({{0xffffffff81000123}, {0xffffffff866497af}}),
              testing::StartsWith("1 of 2 kernel addresses are outside the code in System.map"));
}

TEST(KallsymsSymbolizer, CountsFromTheStartOfTheMapping) {
  const convert::Profile profile = ProfileOf({.filename = "[kernel.kallsyms]",
                                              .start = 0,
                                              .file_offset = kText,
                                              .type = convert::MappingType::kKernel});
  const auto table = Table();
  // As old perfs map it: from 0 on, so that offsets wrap around.
  EXPECT_EQ(NameBy(table, profile, 0xffffffff81000100 + kText), "do_idle");
}

TEST(KallsymsSymbolizer, MovesTheKernelsOwnSymbolsByWholeTwoMebibytes) {
  const auto table = Table();
  const convert::Profile profile = Kernel(kText + 0x5e00000);
  EXPECT_EQ(NameBy(table, profile, 0xffffffff81000123 + 0x5e00000), "do_idle");
}

TEST(KallsymsSymbolizer, NamesNoModulesByTheKernelsMoveOfAnotherBoot) {
  const auto table = Table();
  const convert::Profile profile = Kernel(kText + 0x5e00000);
  EXPECT_EQ(NameBy(table, profile, 0xffffffffc0341010 + 0x5e00000), "(no symbol)");
}

TEST(KallsymsSymbolizer, RefusesTheTableOfAnotherKernel) {
  const auto table = Table();
  EXPECT_EQ(NameBy(table, Kernel(kText + 0x1000), kText + 0x1100), "(wrong build id)");
}

TEST(KallsymsSymbolizer, ComparesBuildIdsIfBothAreKnown) {
  const auto table = Table(BuildId::From(AsBytes("abc")));
  EXPECT_EQ(NameBy(table, Kernel(kText, "78797a"), kText), "(wrong build id)");
  EXPECT_EQ(NameBy(table, Kernel(kText, "616263"), kText), "_text");
  EXPECT_EQ(NameBy(table, Kernel(kText), kText), "_text");
}

TEST(KallsymsSymbolizer, NamesAModulesMappingBySymbolsOfThatModuleOnly) {
  for (const char* filename : {"[nf_tables]", "/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz"}) {
    const convert::Profile profile = ProfileOf(
        {.filename = filename, .start = 0xffffffffc0341000, .type = convert::MappingType::kKernel});
    EXPECT_EQ(NameBy(Table(), profile, 0x10), "nft_do_chain") << filename;
    EXPECT_EQ(NameBy(Table(), profile, 0x10004), "(no symbol)") << filename;
  }
}

// In a recording of another boot, kernel and module have moved by different distances.
TEST(KallsymsSymbolizer, MovesEachModuleByItsOwnBase) {
  const convert::Profile profile = ProfileOf({.filename = "[nf_tables]",
                                              .start = 0xffffffffc0700000,
                                              .limit = 0xffffffffc0701000,
                                              .type = convert::MappingType::kKernel});
  const RecordedKernel kernel = {
      .reference = "_text",
      .reference_address = kText + 0x5e00000,
      .modules = {{"nf_tables", 0xffffffffc0700000, 0xffffffffc0701000}}};
  KallsymsSymbolizer symbolizer(Table(), kernel);
  EXPECT_EQ(NameAt(symbolizer, profile, 0x84), "nft_last");
}

TEST(KallsymsSymbolizer, RefusesAModuleThatWouldNotFitIntoTheRecordedOne) {
  const convert::Profile profile = ProfileOf({.filename = "[nf_tables]",
                                              .start = 0xffffffffc0341000,
                                              .limit = 0xffffffffc0341080,
                                              .type = convert::MappingType::kKernel});
  EXPECT_EQ(NameBy(Table(), profile, 0x10), "(wrong build id)");
}

TEST(KallsymsSymbolizer, ReportsHowFarTheKernelHasMoved) {
  const convert::Profile profile = Kernel(kText + 0x5e00000);
  KallsymsSymbolizer symbolizer(Table(), KernelOf(profile));
  const FileOffset offsets[] = {{kText + 0x5e00000}};
  const auto resolution = symbolizer.Resolve(profile, convert::MappingId{1}, offsets);
  ASSERT_TRUE(resolution);
  EXPECT_EQ(resolution->source, "kallsyms (build id unchecked, moved by -0x5e00000)");
}

}  // namespace
}  // namespace perftape::symbolize
