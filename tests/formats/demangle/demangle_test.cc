// SPDX-License-Identifier: Apache-2.0
#include "formats/demangle/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace perftape::demangle {
namespace {

TEST(Demangle, ASignatureHasParametersAndNoReturnType) {
  EXPECT_EQ(Demangle("_ZN4Tape4playIiEEvT_", Demangling::kSignature), "Tape::play<int>(int)");
  EXPECT_EQ(Demangle("_ZN4Tape4playEi.cold", Demangling::kSignature),
            "Tape::play(int) [clone .cold]");
}

// Names of clang 19 and GCC 14, as llvm-cxxfilt-19 shows them without parameters.
TEST(Demangle, ReadsConstraintsOfCpp20AndObjectParametersOfCpp23) {
  const std::pair<const char*, const char*> names[] = {
      {"_Z5twiceITk3NummEDaT_Q3NumIS0_E", "twice<unsigned long>"},
      {"_ZNH2Ex2meIS_EEmOT_i", "Ex::me<Ex>"},
      {"_ZN4shop5totalITk3NumiEEvT_", "shop::total<int>"},
      {"_Z1fITk3NumiTkN4shop4TextENS0_6StringEEvT_T0_", "f<int, shop::String>"},
      {"_ZZ1fvENKUlTk3NumT_E_clIiEEDaS0_", "f()::{lambda(auto:1)#1}::operator()<int>"},
      {"_ZN1XIiEF5equalES0_S0_", "X<int>::friend equal"},
      {"_Z1gIJidEQ3AllIJDpT_EEEvS0_", "g<int, double>"},
      {"_Z1gITpTk3NumJidEEvDpT_", "g<int, double>"},
      {"_ZN4shop4CartC1ITk3NumiEET_", "shop::Cart::Cart<int>"},
      {"_Z1fITk3NumiEvT_.cold", "f<int>"}};
  for (const auto& [mangled, plain] : names) {
    const std::string shown = Demangle(mangled);
    EXPECT_EQ(shown, plain);
  }
  EXPECT_EQ(Demangle("_Z5twiceITk3NummEDaT_Q3NumIS0_E", Demangling::kSimple), "twice");
  EXPECT_EQ(Demangle("_Z5twiceITk3NummEDaT_Q3NumIS0_E", Demangling::kFull),
            "auto twice<unsigned long>(unsigned long) requires Num<unsigned long>");
  EXPECT_EQ(Demangle("_ZNH2Ex2meIS_EEmOT_i", Demangling::kFull),
            "unsigned long Ex::me<Ex>(Ex&&, int)");
}

TEST(Demangle, LeavesWhatOnlyBeginsAsAName) {
  const std::string name = "_Z5twiceITk3NummEDaT_Q3NumIS0_E";
  for (std::size_t size = 3; size < name.size(); ++size) {
    const std::string cut = name.substr(0, size);
    const std::string shown = Demangle(cut);
    EXPECT_TRUE(shown == cut || shown == "twice" || shown == "twice<unsigned long>") << shown;
  }
  // Each reference doubles the text.
  std::string twice = "_Z1fITk3NumiE";
  for (int i = 0; i < 200; ++i) twice += "1AIS" + std::to_string(i % 10) + "_S_E";
  EXPECT_FALSE(Demangle(twice).empty());
}

TEST(Demangle, ReadsMethodsOfJavaAsPerfDoes) {
  EXPECT_EQ(Demangle("Lcom/shop/Cart;total(I[JLjava/lang/String;)J"),
            "com.shop.Cart.total(int, long[], java.lang.String)");
  EXPECT_EQ(Demangle("Lcom/shop/Cart$Item;<init>(ZD)V"),
            "com.shop.Cart$Item<init>(boolean, double)");
  EXPECT_EQ(Demangle("Lcom/shop/Cart;total()[[I", Demangling::kSimple), "com.shop.Cart.total");
  EXPECT_EQ(Demangle("Lcom/shop/Cart;::total"), "com/shop/Cart::total");
  EXPECT_EQ(Demangle("La/B;::c->La/D;::e"), "a/B::c->a/D::e");
  for (const char* name : {"Lcom/shop/Cart;total", "Lcom/shop/Cart;total(Q)V", "LazyCompile:*f a;b",
                           "L;x()V", "Lcom/shop/Cart;total(I"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

// tools/perf/util/demangle-ocaml.c
TEST(Demangle, ReadsOcamlAsPerfDoes) {
  EXPECT_EQ(Demangle("camlStdlib__List__map_123"), "Stdlib.List.map_123");
  EXPECT_EQ(Demangle("camlShop$2bx__$7e$24_9"), "Shop+x.~$_9");
  EXPECT_EQ(Demangle("camlShop__map_12__34"), "Shop.map_12.34");
  EXPECT_EQ(Demangle("caml_main_x"), "caml_main_x");
  EXPECT_EQ(Demangle("camlshop__x_1"), "camlshop__x_1");
}

TEST(Demangle, CompletesRustThatWasDemangledAsCpp) {
  EXPECT_EQ(Demangle("_$LT$app..S$u20$as$u20$core..fmt..Debug$GT$::fmt::h0123456789abcdef"),
            "<app::S as core::fmt::Debug>::fmt");
  EXPECT_EQ(Demangle("core::fmt::write::h0123456789abcdef"), "core::fmt::write");
  EXPECT_EQ(Demangle("core::fmt::write::h0123"), "core::fmt::write::h0123");
}

TEST(Demangle, HashesOfRustAreShownOnRequest) {
  EXPECT_EQ(DemangleWithHashes("_ZN4core3fmt5write17h0123456789abcdefE"),
            "core::fmt::write::h0123456789abcdef");
  EXPECT_EQ(DemangleWithHashes("_RNvCs15kBYyAo9fc_7mycrate3foo"), "mycrate[ca63f166dbe9294]::foo");
  EXPECT_EQ(DemangleWithHashes("_ZN4Tape4playEi"), "_ZN4Tape4playEi");
}

TEST(Demangle, ReadsCppAsPerfDoesWithoutParameters) {
  EXPECT_EQ(Demangle("_ZN4Tape4playEi"), "Tape::play");
  EXPECT_EQ(Demangle("_ZNKSt6vectorIiSaIiEE4sizeEv"),
            "std::vector<int, std::allocator<int> >::size");
}

TEST(Demangle, ReadsRustOfBothManglings) {
  EXPECT_EQ(Demangle("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
  EXPECT_EQ(Demangle("_RNvCs15kBYyAo9fc_7mycrate3foo"), "mycrate::foo");
}

// From RFC 2603 and rustc-demangle's tests, which use the same spelling.
TEST(Demangle, ReadsRustV0AsTheRfcHasIt) {
  const std::pair<const char*, const char*> names[] = {
      {"_RNvCs15kBYyAo9fc_7mycrate7example", "mycrate::example"},
      {"_RMC0INtC8arrayvec8ArrayVechKj7b_E", "<arrayvec::ArrayVec<u8, 123>>"},
      {"_RNvMC0INtC8arrayvec8ArrayVechKj7b_E3new", "<arrayvec::ArrayVec<u8, 123>>::new"},
      {"_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y",
       "utf8_idents::საჭმელად_გემრიელი_სადილი"},
      {"_RNCNCNgCs6DXkGYLi8lr_2cc5spawn00B5_", "cc::spawn::{closure#0}::{closure#0}"},
      {"_RNCINkXs25_NgCsbmNqQUJIY6D_4core5sliceINyB9_4IterhENuNgNoBb_4iter8iterator8Iterator9"
       "rpositionNCNgNpB9_6memchr7memrchrs_0E0Bb_",
       "<core::slice::Iter<u8> as core::iter::iterator::Iterator>::rposition::<core::slice::"
       "memchr::memrchr::{closure#1}>::{closure#0}"},
      {"_RINbNbCskIICzLVDPPb_5alloc5alloc8box_freeDINbNiB4_5boxed5FnBoxuEp6OutputuEL_"
       "ECs1iopQbuBiw2_3std",
       "alloc::alloc::box_free::<dyn alloc::boxed::FnBox<(), Output = ()>>"},
      {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>"},
      {"_RINvNtC3std3mem8align_ofFG_RL0_hEuE", "std::mem::align_of::<for<'a> fn(&'a u8)>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_8UnsignedKhb_E", "<const_generic::Unsigned<11>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_4BoolKb1_E", "<const_generic::Bool<true>>"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char<'v'>>"},
      {"_RNvNvMCs4fqI2P2rA04_13const_genericINtB4_3FooKpE3foo3FOO",
       "<const_generic::Foo<_>>::foo::FOO"},
      {"_RNvYNtC3foo3BarNtB2_3Baz3qux", "<foo::Bar as foo::Bar::Baz>::qux"},
      {"_RNSC3foo3barNtB2_3Baz", "foo::{shim:bar#0}"}};
  for (const auto& [mangled, plain] : names) EXPECT_EQ(Demangle(mangled), plain);
}

TEST(Demangle, ReadsD) {
  EXPECT_EQ(Demangle("_Dmain"), "D main");
  EXPECT_EQ(Demangle("_D4tape4playFaZv", Demangling::kFull), "tape.play(char)");
  EXPECT_EQ(Demangle("_D4tape4playMxFZv", Demangling::kFull), "tape.play() const");
  const std::string name = "_D4tape11__T4reelTaZ4reelFaZv";
  EXPECT_EQ(Demangle(name, Demangling::kFull), "tape.reel!(char).reel(char)");
  EXPECT_EQ(Demangle(name, Demangling::kTemplates), "tape.reel!(char).reel");
  EXPECT_EQ(Demangle(name, Demangling::kSimple), "tape.reel.reel");
  EXPECT_EQ(Demangle("_D4(ape4playFZv", Demangling::kSimple), "(ape.play()");
}

TEST(Demangle, ShowsParametersAndReturnTypesInFull) {
  EXPECT_EQ(Demangle("_ZN4Tape4playIiEEvT_", Demangling::kFull), "void Tape::play<int>(int)");
  EXPECT_EQ(Demangle("_ZNKSt6vectorIiSaIiEE4sizeEv", Demangling::kFull),
            "std::vector<int, std::allocator<int> >::size() const");
  EXPECT_EQ(Demangle("_ZN4Tape4playEi.cold", Demangling::kFull), "Tape::play(int) [clone .cold]");
}

TEST(Demangle, LeavesAllNamesAloneWhereNoneIsAskedFor) {
  for (const char* name : {"_ZN4Tape4playEi", "_RNvCs15kBYyAo9fc_7mycrate3foo", "_Dmain"}) {
    EXPECT_EQ(Demangle(name, Demangling::kNone), name);
  }
}

TEST(Demangle, SimplyLeavesOutTheArgumentsOfTemplatesAndFunctions) {
  const std::pair<const char*, const char*> names[] = {
      {"_ZN4Tape4playIiEEvT_", "Tape::play"},
      {"_ZNKSt6vectorIiSaIiEE4sizeEv", "std::vector::size"},
      {"_ZNSt8functionIFvvEEC2IRZ4mainEUlvE_vEEOT_", "std::function::function"},
      {"_ZNSt8functionIFvvEED1Ev", "std::function::~function"},
      {"_ZNSdC1EPSt15basic_streambufIcSt11char_traitsIcEE", "std::basic_iostream::basic_iostream"},
      {"_ZNSs6appendEPKc", "std::string::append"},
      {"_ZTVN3FooIiEE", "vtable for Foo"},
      {"_ZThn8_N3Foo3barEv", "non-virtual thunk to Foo::bar"},
      {"_ZGVZ4mainE1x", "guard variable for main::x"},
      {"_ZN3FooB5cxx113barEv", "Foo[abi:cxx11]::bar"},
      {"_ZN4Tape4playEi.cold", "Tape::play"},
      // In Rust names, brackets after a path are removed; brackets that are a path are not.
      {"_RINvNtC3std3mem8align_ofdE", "std::mem::align_of"},
      {"_RNvXs_C7mycrateINtC7mycrate3FoopEINtNtC3std7convert4FrompE4from",
       "<mycrate::Foo as std::convert::From>::from"},
      {"_RMCs4fqI2P2rA04_13const_genericINtB0_4CharKc76_E", "<const_generic::Char>"},
      {"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h"
       "05af221e174051e9E",
       "<Test + 'static as foo::Bar>::bar"}};
  for (const auto& [mangled, plain] : names) {
    EXPECT_EQ(Demangle(mangled, Demangling::kSimple), plain);
  }
}

TEST(Demangle, SimplyKeepsWhatOnlyLooksLikeArguments) {
  const std::pair<const char*, const char*> names[] = {
      {"_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f"},
      {"_ZN3FooltERKS_", "Foo::operator<"},
      {"_ZlsRSoRK3Foo", "operator<<"},
      {"_ZN3FoolsIiEEvT_", "Foo::operator<<"},
      {"_ZN3FooptEv", "Foo::operator->"},
      {"_ZN3FooclEi", "Foo::operator()"},
      {"_ZN3FooixEm", "Foo::operator[]"},
      {"_ZN3FoocvbEv", "Foo::operator bool"},
      {"_ZN1AcvT_IiEEv", "A::operator int"},
      {"_ZN1AIiEcvS_IcEEv", "A::operator A"},
      {"_ZZ4mainENKUliE_clEi", "main::{lambda()#1}::operator()"},
      {"_ZZN3FooIiE3barEvENKUlRKT_E_clIcEEDaS2_", "Foo::bar::{lambda()#1}::operator()"}};
  for (const auto& [mangled, plain] : names) {
    EXPECT_EQ(Demangle(mangled, Demangling::kSimple), plain);
  }
}

TEST(Demangle, CountsClonesAsTheFunction) {
  EXPECT_EQ(Demangle("_ZN4Tape4playEi.cold"), "Tape::play");
}

TEST(Demangle, LeavesOtherNamesAlone) {
  for (const char* name : {"", "main", "_start", "_Z", "_R", "_D", "_Zebra", "_Rust", "_DYNAMIC",
                           "_ZN4Tape", "__libc_start", "$s4main3fooyyF"}) {
    EXPECT_EQ(Demangle(name), name);
  }
}

// f<pair<int, int>, pair<that, that>, pair<that, that>, …>: each argument is a pair of the previous
// argument with itself.
std::string Doubled(int times) {
  std::string name = "_Z1fISt4pairIiiE";
  for (int i = 0; i < times; ++i) {
    const std::string last = std::string("S") + "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i] + "_";
    name += "S0_I" + last + last + "E";
  }
  return name + "EvT_";
}

TEST(Demangle, KeepsANameThatWouldExpandToGigabytes) {
  EXPECT_EQ(Demangle(Doubled(1)),
            "f<std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> > >");
  EXPECT_EQ(Demangle(Doubled(30)), Doubled(30));
  EXPECT_EQ(Demangle("_ZN4Tape4playEi"), "Tape::play");
}

// Each "B_" repeats the whole name.
TEST(Demangle, LeavesARustNameThatHoldsItselfAlone) {
  for (const char* name : {"_RNvB_3foo", "_RINvC1a1bB_E", "_RNvNvNvB_1a1b1c"}) {
    for (const Demangling how : {Demangling::kSimple, Demangling::kTemplates, Demangling::kFull}) {
      EXPECT_EQ(Demangle(name, how), name);
    }
  }
}

TEST(Demangle, LeavesAVeryLongNameAlone) {
  std::string name = "_Z1f";
  for (int i = 0; i < 50'000; ++i) name += 'P';
  name += 'i';
  for (const Demangling how : {Demangling::kSimple, Demangling::kTemplates, Demangling::kFull}) {
    EXPECT_EQ(Demangle(name, how), name);
  }
}

TEST(Demangle, ReadsNamesOfMoreThanAThousandCharacters) {
  std::string name = "_ZN", plain;
  for (int i = 0; i < 200; ++i) {
    name += "6length";
    plain += "length::";
  }
  EXPECT_EQ(Demangle(name + "1fEv", Demangling::kFull), plain + "f()");
  EXPECT_EQ(Demangle(name + "1fEv", Demangling::kSimple), plain + "f");
}

}  // namespace
}  // namespace perftape::demangle
