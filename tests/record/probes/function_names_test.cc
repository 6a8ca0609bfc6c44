// SPDX-License-Identifier: Apache-2.0
#include "record/probes/function_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perftape::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(SplitClone, SeparatesCopiesPartsAndColdCode) {
  const auto expect = [](const char* symbol, const char* base, CloneKind kind) {
    const CloneName clone = SplitClone(symbol);
    EXPECT_EQ(clone.base, base) << symbol;
    EXPECT_EQ(clone.kind, kind) << symbol;
    EXPECT_EQ(std::string(clone.base).append(clone.suffix), symbol);
  };
  expect("parse", "parse", CloneKind::kNone);
  expect("parse.constprop.0", "parse", CloneKind::kWhole);
  expect("parse.isra.0.constprop.12", "parse", CloneKind::kWhole);
  expect("parse.llvm.123456", "parse", CloneKind::kWhole);
  expect("parse.part.0", "parse", CloneKind::kPart);
  expect("parse.isra.0.cold", "parse", CloneKind::kCold);
  expect("nested.0", "nested.0", CloneKind::kNone);
  expect(".cold", ".cold", CloneKind::kNone);
}

TEST(IsSpellingOf, KnowsEachFormOfACppName) {
  constexpr const char* kTotal = "_ZN4shop4Cart5totalIiEET_S2_";
  for (const char* name :
       {"int shop::Cart::total<int>(int)", "shop::Cart::total<int>(int)", "shop::Cart::total<int>",
        "shop::Cart::total", "shop::Cart::total(int)", "shop::Cart::total< int >( int )"}) {
    EXPECT_TRUE(IsSpellingOf(CanonicalName(name), kTotal)) << name;
  }
  for (const char* name : {"shop::Cart::tot", "Cart::total", "shop::Cart::total<double>",
                           "shop::Cart::total<int>(long)"}) {
    EXPECT_FALSE(IsSpellingOf(CanonicalName(name), kTotal)) << name;
  }
}

TEST(IsSpellingOf, KnowsOperators) {
  EXPECT_TRUE(IsSpellingOf("a::Cart::operator<", "_ZNK1a4CartltERKS0_"));
  EXPECT_TRUE(IsSpellingOf(CanonicalName("a::Cart::operator<(a::Cart const&) const"),
                           "_ZNK1a4CartltERKS0_"));
  EXPECT_TRUE(
      IsSpellingOf(CanonicalName("a::Cart::operator<(const a::Cart &)"), "_ZNK1a4CartltERKS0_"));
  EXPECT_TRUE(IsSpellingOf("a::Cart::operator int", "_ZNK1a4CartcviEv"));
  EXPECT_TRUE(IsSpellingOf("a::Cart::operator new", "_ZN1a4CartnwEm"));
}

TEST(IsSpellingOf, IgnoresTagsAndExpandsStrings) {
  constexpr const char* kName =
      "_ZN1a4nameB5cxx11ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE";
  for (const char* name :
       {"a::name", "a::name[abi:cxx11]", "a::name(std::string const&)",
        "a::name(const std::string&)",
        "a::name[abi:cxx11](std::__cxx11::basic_string<char, std::char_traits<char>, "
        "std::allocator<char> > const&)"}) {
    EXPECT_TRUE(IsSpellingOf(CanonicalName(name), kName)) << name;
  }
}

TEST(IsSpellingOf, KnowsAnonymousNamespaces) {
  for (const char* name : {"a::(anonymous namespace)::f", "a::{anonymous}::f(int)"}) {
    EXPECT_TRUE(IsSpellingOf(CanonicalName(name), "_ZN1a12_GLOBAL__N_11fEi")) << name;
  }
}

TEST(IsSpellingOf, KnowsRustWithAndWithoutHash) {
  constexpr const char* kLegacy = "_ZN1r4shop4free17h0123456789abcdefE";
  EXPECT_TRUE(IsSpellingOf("r::shop::free", kLegacy));
  EXPECT_TRUE(IsSpellingOf("r::shop::free::h0123456789abcdef", kLegacy));
  EXPECT_FALSE(IsSpellingOf("r::shop::free::h0000000000000000", kLegacy));
  constexpr const char* kV0 = "_RNvMNtCs6GmmlP4bgsG_1r4shopINtB2_4CartyE3addB4_";
  for (const char* name : {"<r::shop::Cart<u64>>::add", "r::shop::Cart<u64>::add",
                           "<r::shop::Cart>::add", "r::shop::Cart::add"}) {
    EXPECT_TRUE(IsSpellingOf(CanonicalName(name), kV0)) << name;
  }
}

TEST(IsSpellingOf, KnowsTypeArgumentsOfGo) {
  for (const char* name : {"main.Map[go.shape.int]", "main.Map[...]", "main.Map"}) {
    EXPECT_TRUE(IsSpellingOf(CanonicalName(name), "main.Map[go.shape.int]")) << name;
  }
  EXPECT_TRUE(IsSpellingOf("gopkg.in/yaml.v3.Unmarshal", "gopkg.in/yaml%2ev3.Unmarshal"));
}

TEST(CanonicalName, PutsConstBehindItsType) {
  EXPECT_EQ(CanonicalName("f(const char *, const unsigned long &, const std::vector<const int> &)"),
            CanonicalName("f(char const*,unsigned long const&,std::vector<int const> const&)"));
  EXPECT_EQ(CanonicalName("f(void)"), "f()");
}

TEST(NecessaryIdentifier, IsInEachSymbolOfTheFunction) {
  EXPECT_EQ(NecessaryIdentifier("shop::Widget::~Widget"), "Widget");
  EXPECT_EQ(NecessaryIdentifier("shop::Cart::operator<"), "shop");
  EXPECT_EQ(NecessaryIdentifier("std::string::append"), "append");
  EXPECT_EQ(NecessaryIdentifier("operator new"), "");
  EXPECT_EQ(NecessaryIdentifier("*alloc*"), "");  // of std::allocator, which is "Sa"
}

TEST(KernelFunctions, AreTheCodeInKallsyms) {
  EXPECT_THAT(DecodeKernelFunctions("0000000000000000 T vfs_read\n"
                                    "0000000000000000 t __pfx_vfs_read\n"
                                    "0000000000000000 D jiffies\n"
                                    "0000000000000000 t nft_do_chain\t[nf_tables]\n"
                                    "0000000000000000 t bpf_prog_1_x\t[bpf]\n"
                                    "0000000000000000 W arch_probe\n"
                                    "0000000000000000 t vfs_read\n"),
              ElementsAre("arch_probe", "nft_do_chain", "vfs_read"));
}

TEST(KernelFunctions, SkipDamagedLines) {
  EXPECT_THAT(DecodeKernelFunctions("\n0\n0 T\n0 T \nnothing\n"), testing::SizeIs(testing::Le(1)));
  EXPECT_THAT(DecodeKernelFunctions(""), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
