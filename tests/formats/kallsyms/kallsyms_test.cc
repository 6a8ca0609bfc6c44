// SPDX-License-Identifier: Apache-2.0
#include "formats/kallsyms/kallsyms.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/support/temp_dir.h"

namespace perftape::kallsyms {
namespace {

constexpr char kText[] =
    "0000000000000000 A fixed_percpu_data\n"
    "ffffffff81000000 T srso_alias_untrain_ret\n"
    "ffffffff81000000 T _stext\n"
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t do_one_initcall\n"
    "ffffffff81000200 W arch_weak\n"
    "ffffffff81000210 R __rodata_marker\n"
    "ffffffff82000000 T _etext\n"
    "ffffffffc0341000 t nft_do_chain\t[nf_tables]\n"
    "ffffffffc0341100 t nft_last\t[nf_tables]\n"
    "ffffffffc0351000 t bpf_prog_6deef7357e7b4530_on_cpu\t[bpf]\n";

Kallsyms Parsed(std::string text) {
  auto parsed = Kallsyms::Parse(std::move(text));
  if (!parsed) throw std::runtime_error(parsed.error().message);
  return *std::move(parsed);
}

std::string Find(const Kallsyms& kallsyms, std::uint64_t address) {
  const Symbol* symbol = kallsyms.Find({address});
  if (symbol == nullptr) return "(none)";
  const std::string module = symbol->module.empty() ? "" : " [" + std::string(symbol->module) + "]";
  return std::string(symbol->name) + module;
}

TEST(Kallsyms, FindsTheSymbolAtOrBeforeAnAddress) {
  const Kallsyms kallsyms = Parsed(kText);
  EXPECT_EQ(Find(kallsyms, 0xffffffff81000100), "do_one_initcall");
  EXPECT_EQ(Find(kallsyms, 0xffffffff810001ff), "do_one_initcall");
  EXPECT_EQ(Find(kallsyms, 0xffffffff81000200), "arch_weak");
  EXPECT_EQ(Find(kallsyms, 0xffffffff80ffffff), "(none)");
}

// As editors and PowerShell save a copy.
TEST(Kallsyms, ReadsUtf16AndLineEndsOfWindows) {
  std::string utf16 = "\xff\xfe";
  for (const char c : std::string_view("ffffffff81000000 T _text\r\nffffffff81000010 t work\r\n")) {
    utf16.push_back(c);
    utf16.push_back('\0');
  }
  EXPECT_EQ(Find(Parsed(utf16), 0xffffffff81000018), "work");
  EXPECT_EQ(Find(Parsed("\xef\xbb\xbf"
                        "ffffffff81000000 T _text\n"),
                 0xffffffff81000000),
            "_text");
}

TEST(Kallsyms, ReadsTheModule) {
  const Kallsyms kallsyms = Parsed(kText);
  EXPECT_EQ(Find(kallsyms, 0xffffffffc0341010), "nft_do_chain [nf_tables]");
  EXPECT_EQ(Find(kallsyms, 0xffffffffc0351004), "bpf_prog_6deef7357e7b4530_on_cpu [bpf]");
}

TEST(Kallsyms, PrefersTheLastSymbolAsPerfDoes) {
  EXPECT_EQ(Find(Parsed(kText), 0xffffffff81000000), "_text");
}

TEST(Kallsyms, PrefersKernelSymbolsToBuiltInModules) {
  const Kallsyms kallsyms = Parsed(
      "c000000000054930 T optinsn_slot\n"
      "c000000000064930 T optprobe_template_entry\n"
      "c000000000054930 t kprobe_optinsn_page\t[__builtin__kprobes]\n");
  EXPECT_EQ(Find(kallsyms, 0xc000000000054930), "optinsn_slot");
  EXPECT_EQ(Find(kallsyms, 0xc00000000006492f), "optinsn_slot");
}

TEST(Kallsyms, FindsTheCodeRangeOfAModule) {
  const Kallsyms kallsyms = Parsed(kText);
  const auto extent = kallsyms.ModuleExtent("nf_tables");
  ASSERT_TRUE(extent);
  EXPECT_EQ(extent->start.value, 0xffffffffc0341000);
  EXPECT_EQ(extent->limit.value, 0xffffffffc0343000);
  EXPECT_FALSE(kallsyms.ModuleExtent("unknown"));
}

TEST(Kallsyms, DoesNotLetTheLastSymbolSwallowTheGapBehindIt) {
  const Kallsyms kallsyms = Parsed(kText);
  EXPECT_EQ(Find(kallsyms, 0xffffffff82000fff), "_etext");
  EXPECT_EQ(Find(kallsyms, 0xffffffff82001000), "(none)");
  EXPECT_EQ(Find(kallsyms, 0xffffffffc0342fff), "nft_last [nf_tables]");
  EXPECT_EQ(Find(kallsyms, 0xffffffffc0343000), "(none)");
  EXPECT_EQ(Find(kallsyms, 0xffffffffc0352000), "(none)");
  EXPECT_EQ(Find(kallsyms, ~std::uint64_t{0}), "(none)");
}

TEST(Kallsyms, LeavesOutConstantsAndAbsoluteSymbols) {
  EXPECT_EQ(Find(Parsed(kText), 0xffffffff81000210), "arch_weak");
  EXPECT_EQ(Find(Parsed(kText), 0), "(none)");
}

TEST(Kallsyms, SortsWhatComesUnsorted) {
  const Kallsyms kallsyms = Parsed("ffffffff81000200 t b\nffffffff81000100 t a\n");
  EXPECT_EQ(Find(kallsyms, 0xffffffff81000180), "a");
  EXPECT_EQ(Find(kallsyms, 0xffffffff81000200), "b");
}

TEST(Kallsyms, FindsReferenceSymbolsThatAliasesHide) {
  const Kallsyms kallsyms = Parsed(kText);
  EXPECT_EQ(kallsyms.AddressOf("_stext"), RuntimeAddress{0xffffffff81000000});
  EXPECT_EQ(kallsyms.AddressOf("_etext"), RuntimeAddress{0xffffffff82000000});
  EXPECT_EQ(kallsyms.AddressOf("__rodata_marker"), RuntimeAddress{0xffffffff81000210});
}

TEST(Kallsyms, HasNoAddressForPartsOfNamesModulesAndAbsoluteSymbols) {
  const Kallsyms kallsyms = Parsed(kText);
  EXPECT_EQ(kallsyms.AddressOf("_ste"), std::nullopt);
  EXPECT_EQ(kallsyms.AddressOf("nft_last"), std::nullopt);
  EXPECT_EQ(kallsyms.AddressOf("fixed_percpu_data"), std::nullopt);
  EXPECT_EQ(kallsyms.AddressOf(""), std::nullopt);
}

TEST(Kallsyms, ExplainsWhyAllAddressesAreZero) {
  const auto parsed = Kallsyms::Parse("0000000000000000 T _text\n0000000000000000 t start\n");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kPermission);
  EXPECT_NE(parsed.error().message.find("kernel.kptr_restrict"), std::string::npos);
  EXPECT_NE(parsed.error().message.find("CAP_SYSLOG"), std::string::npos);
}

TEST(Kallsyms, RefusesWhatHoldsNoSymbol) {
  for (const char* text : {"", "\n", "no symbols here\n", "ffffffff81000000\n", "zz T a\n",
                           "11112222333344445 T too_long\n", "ffffffff81000000 T \n"}) {
    const auto parsed = Kallsyms::Parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kCorrupt) << text;
  }
}

TEST(Kallsyms, SkipsLinesThatAreNoSymbols) {
  const Kallsyms kallsyms = Parsed("garbage\nffffffff81000000 T f\n]\n1 T ]\n");
  EXPECT_EQ(kallsyms.symbols().size(), 1U);
  EXPECT_EQ(Find(kallsyms, 0xffffffff81000000), "f");
}

TEST(Kallsyms, ReadsWholeLinesWhereverTheTextIsCut) {
  const std::string text = kText;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto parsed = Kallsyms::Parse(text.substr(0, size));
    EXPECT_LE(parsed ? parsed->symbols().size() : 0, 8U) << size;
  }
}

TEST(Kallsyms, StaysValidWhenMoved) {
  Kallsyms kallsyms = Parsed("1 T f\n");  // short enough for the inline buffer of std::string
  const Kallsyms moved = std::move(kallsyms);
  EXPECT_EQ(Find(moved, 1), "f");
}

TEST(Kallsyms, NamesTheFileInItsErrors) {
  const TempDir dir;
  const auto read = Kallsyms::Read(dir.Write("symbols", "nothing\n"));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, (dir / "symbols").native() + ": contains no symbols");
}

TEST(Kallsyms, ReadsTheRunningKernelOrReportsWhyNot) {
  const auto read = Kallsyms::Read();
  if (!read) {
    EXPECT_NE(read.error().code, ErrorCode::kCorrupt) << read.error().message;
    return;
  }
  const auto text = read->AddressOf("_text");
  ASSERT_TRUE(text);
  EXPECT_NE(read->Find(*text), nullptr);
  EXPECT_GT(read->symbols().size(), 10000U);
}

}  // namespace
}  // namespace perftape::kallsyms
