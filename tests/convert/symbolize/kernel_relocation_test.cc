// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/kernel_relocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace perftape::symbolize {
namespace {

using testing::HasSubstr;

using SymbolAddresses = std::map<std::string, std::uint64_t, std::less<>>;

constexpr std::uint64_t kText = 0xffffffff81000000;

KernelMove Move(const RecordedKernel& recorded, const SymbolAddresses& addresses,
                BuildId build_id = {}) {
  return MoveOf(recorded, {.build_id = build_id, .address_of = [&](std::string_view name) {
                             const auto at = addresses.find(name);
                             return at == addresses.end() ? std::nullopt
                                                          : std::optional(at->second);
                           }});
}

// Returns a kernel whose code has 0xe01ef2 bytes.
RecordedKernel KernelAt(std::uint64_t text) {
  return {.reference = "_text", .reference_address = text, .limit = text + 0xe01ef2};
}
SymbolAddresses SymbolsAt(std::uint64_t text) {
  return {{"_text", text}, {"_stext", text}, {"_etext", text + 0xe01ef2}};
}

TEST(MoveOf, IsTheDistanceOfTheReferenceSymbol) {
  EXPECT_EQ(Move(KernelAt(kText), SymbolsAt(kText)).distance, 0U);
  EXPECT_EQ(Move(KernelAt(kText), SymbolsAt(kText + 0x5e00000)).distance, 0x5e00000U);
  EXPECT_EQ(Move(KernelAt(kText + 0x5e00000), SymbolsAt(kText)).distance, -0x5e00000ULL);
}

TEST(MoveOf, IsNoneWhereTheKernelCannotHaveMovedSo) {
  EXPECT_THAT(Move(KernelAt(kText + 0x1000), SymbolsAt(kText)).reason,
              HasSubstr("of another kernel"));
  EXPECT_FALSE(Move(KernelAt(kText), SymbolsAt(0xffff800080000000)).distance);
  EXPECT_FALSE(Move(KernelAt(0xd0000000), SymbolsAt(kText)).distance);
  EXPECT_FALSE(Move(KernelAt(0xc000000000000000), SymbolsAt(0xd0000000)).distance);
}

TEST(MoveOf, IsByLessOnOtherMachines) {
  EXPECT_TRUE(Move(KernelAt(0xffff800008010000), SymbolsAt(0xffff800008000000)).distance);  // arm64
  EXPECT_TRUE(Move(KernelAt(0x100000), SymbolsAt(0x3ff00104000)).distance);                 // s390
  EXPECT_FALSE(Move(KernelAt(0x100000), SymbolsAt(0x101000)).distance);
}

// Every x86-64 kernel starts at a multiple of 2 MiB, so that alone is no proof.
TEST(MoveOf, IsNoneWhereTheCodeEndsElsewhere) {
  SymbolAddresses addresses = SymbolsAt(kText);
  addresses["_etext"] += 0x1000;
  const KernelMove move = Move(KernelAt(kText), addresses);
  EXPECT_FALSE(move.distance);
  EXPECT_THAT(move.reason,
              HasSubstr("_etext is 0xe02ef2 after the kernel's start, but the recorded "
                        "end is 0xe01ef2 after it"));
}

TEST(MoveOf, AcceptsTheEndOfDataAsEnd) {
  RecordedKernel recorded = KernelAt(kText);
  recorded.limit = kText + 0x1c45d40;
  SymbolAddresses addresses = SymbolsAt(kText);
  addresses["_edata"] = kText + 0x1c45d40;
  EXPECT_TRUE(Move(recorded, addresses).distance);
}

// If perf finds no end, it records the start of the next mapping as the end, as on ppc64.
TEST(MoveOf, DoesNotEndAtTheNextMapping) {
  RecordedKernel recorded = {
      .reference = "_text", .reference_address = 0xc000000000000000, .limit = 0xc008000000210000};
  EXPECT_TRUE(Move(recorded, SymbolsAt(0xc000000000000000)).distance);
}

TEST(MoveOf, IsNoneForAnotherBuildId) {
  RecordedKernel recorded = KernelAt(kText);
  recorded.build_id = BuildId::From(AsBytes("abc"));
  EXPECT_EQ(Move(recorded, SymbolsAt(kText), BuildId::From(AsBytes("xyz"))).reason,
            "of the kernel with build id 78797a, but the recorded one is 616263");
  EXPECT_EQ(Move(recorded, SymbolsAt(kText), BuildId::From(AsBytes("abc"))).reason,
            "by build id, not moved");
  EXPECT_EQ(Move(recorded, SymbolsAt(kText)).reason, "build id unchecked, not moved");
}

TEST(MoveOf, IsUncheckedWhereNothingWasRecorded) {
  EXPECT_EQ(Move({}, SymbolsAt(kText)).distance, 0U);
}

TEST(MoveOf, IsNoneWithoutASymbolOfReference) {
  EXPECT_THAT(Move(KernelAt(kText), {{"do_idle", kText}}).reason, HasSubstr("neither _text nor"));
}

// perf before 3.16 used _stext on some machines.
TEST(MoveOf, GoesByTheSymbolThatWasRecorded) {
  const RecordedKernel recorded = {.reference = "_stext", .reference_address = kText + 0x200000};
  EXPECT_EQ(Move(recorded, {{"_text", kText}, {"_stext", kText + 0x200000}}).distance, 0U);
}

}  // namespace
}  // namespace perftape::symbolize
