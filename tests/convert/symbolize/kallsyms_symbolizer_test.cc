// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kallsyms_symbolizer.h"

#include <gtest/gtest.h>

#include "tests/convert/symbolize/one_mapping.h"

namespace perftape {
namespace {

constexpr std::uint64_t kText = 0xffffffff81000000;

KallsymsSymbolizer Symbols(BuildId id = {}) {
  return KallsymsSymbolizer(
      kallsyms::Kallsyms::Parse("ffffffff81000000 T _stext\n"
                                "ffffffff81000000 T _text\n"
                                "ffffffff81000100 t do_idle\n"
                                "ffffffff82000000 T _etext\n"
                                "ffffffffc0341000 t nft_do_chain\t[nf_tables]\n"
                                "ffffffffc0351000 t bpf_prog_1_f\t[bpf]\n")
          .value(),
      id);
}

// The kernel, recorded with _text at `text`.
Profile Kernel(std::uint64_t text, std::string build_id = {}) {
  return ProfileOf({.filename = "[kernel.kallsyms]",
                    .build_id = std::move(build_id),
                    .start = text,
                    .file_offset = text,
                    .kind = MappingKind::kKernel});
}

TEST(KallsymsSymbolizer, NamesKernelAndBpfByAddressInTheSameBoot) {
  KallsymsSymbolizer symbolizer = Symbols();
  const Profile profile = Kernel(kText);
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffff81000123), "do_idle");
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffffc0351004), "bpf_prog_1_f");
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffffb0000000), "(no symbol)");
}

TEST(KallsymsSymbolizer, CountsFromTheStartOfTheMapping) {
  const Profile profile = ProfileOf({.filename = "[kernel.kallsyms]",
                                     .start = 0,
                                     .file_offset = kText,
                                     .kind = MappingKind::kKernel});
  KallsymsSymbolizer symbolizer = Symbols();
  // As old perfs map it: from 0 on, so that offsets wrap around.
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffff81000100 + kText), "do_idle");
}

TEST(KallsymsSymbolizer, MovesTheKernelsOwnSymbolsByWholeTwoMebibytes) {
  KallsymsSymbolizer symbolizer = Symbols();
  const Profile profile = Kernel(kText + 0x5e00000);
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffff81000123 + 0x5e00000), "do_idle");
}

TEST(KallsymsSymbolizer, NamesNoModulesOfAnotherBoot) {
  KallsymsSymbolizer symbolizer = Symbols();
  const Profile profile = Kernel(kText + 0x5e00000);
  EXPECT_EQ(NameAt(symbolizer, profile, 0xffffffffc0341010 + 0x5e00000), "(no symbol)");
}

TEST(KallsymsSymbolizer, RefusesTheTableOfAnotherKernel) {
  KallsymsSymbolizer symbolizer = Symbols();
  EXPECT_EQ(NameAt(symbolizer, Kernel(kText + 0x1000), kText + 0x1100), "(wrong build id)");
}

TEST(KallsymsSymbolizer, ComparesBuildIdsWhereBothAreKnown) {
  KallsymsSymbolizer symbolizer = Symbols(BuildId::From(AsBytes("abc")));
  EXPECT_EQ(NameAt(symbolizer, Kernel(kText, "78797a"), kText), "(wrong build id)");
  EXPECT_EQ(NameAt(symbolizer, Kernel(kText, "616263"), kText), "_text");
  EXPECT_EQ(NameAt(symbolizer, Kernel(kText), kText), "_text");
}

TEST(KallsymsSymbolizer, NamesAModulesMappingBySymbolsOfThatModuleOnly) {
  KallsymsSymbolizer symbolizer = Symbols();
  for (const char* filename : {"[nf_tables]", "/lib/modules/6.1.0/kernel/net/nf-tables.ko.xz"}) {
    const Profile profile = ProfileOf(
        {.filename = filename, .start = 0xffffffffc0341000, .kind = MappingKind::kKernel});
    EXPECT_EQ(NameAt(symbolizer, profile, 0x10), "nft_do_chain") << filename;
    EXPECT_EQ(NameAt(symbolizer, profile, 0x10004), "(no symbol)") << filename;
  }
}

}  // namespace
}  // namespace perftape
