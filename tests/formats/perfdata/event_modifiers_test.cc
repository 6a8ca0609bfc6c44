// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_modifiers.h"

#include <gtest/gtest.h>

#include "formats/perfdata/abi.h"

namespace perftape::perfdata {
namespace {

constexpr std::uint64_t kDefault = kDisabled | kExcludeGuest;

std::uint64_t FlagsOf(std::string_view letters) {
  EventAttr attr{.flags = kDefault};
  ApplyModifiers(letters, attr);
  return attr.flags & ~std::uint64_t{kDisabled};
}

std::uint64_t Precise(std::uint64_t level) {
  return level << kPreciseIpShift;
}

// The attributes of `perf record -vv -e cpu-clock:LETTERS` of perf 6.1.
TEST(EventModifiers, ChangeTheAttributeAsInPerf) {
  EXPECT_EQ(FlagsOf(""), kExcludeGuest);
  EXPECT_EQ(FlagsOf("u"), kExcludeKernel | kExcludeHv | kExcludeGuest);
  EXPECT_EQ(FlagsOf("k"), kExcludeUser | kExcludeHv);
  EXPECT_EQ(FlagsOf("h"), kExcludeUser | kExcludeKernel);
  EXPECT_EQ(FlagsOf("hu"), kExcludeKernel | kExcludeGuest);
  EXPECT_EQ(FlagsOf("uk"), kExcludeHv | kExcludeGuest);
  EXPECT_EQ(FlagsOf("G"), kExcludeHost);
  EXPECT_EQ(FlagsOf("H"), kExcludeGuest);
  EXPECT_EQ(FlagsOf("GH"), 0U);
  EXPECT_EQ(FlagsOf("Gp"), kExcludeHost | Precise(1));
  EXPECT_EQ(FlagsOf("D"), kPinned);
  EXPECT_EQ(FlagsOf("e"), kExclusive);
  EXPECT_EQ(FlagsOf("I"), kExcludeIdle);
  EXPECT_EQ(FlagsOf("W"), 0U);
  EXPECT_EQ(FlagsOf("p"), kExcludeGuest | Precise(1));
  EXPECT_EQ(FlagsOf("upp"), kExcludeKernel | kExcludeHv | kExcludeGuest | Precise(2));
  EXPECT_EQ(FlagsOf("P"), Precise(3));
}

TEST(EventModifiers, OfAGroupApplyToThoseOfTheEvent) {
  EventAttr attr{.flags = kDefault};
  ApplyModifiers("u", attr);
  ApplyGroupModifiers("kD", attr);
  EXPECT_EQ(attr.flags, kDefault | kExcludeHv | kPinned);
}

TEST(EventModifiers, ReadValuesWithTheirIds) {
  EventAttr attr;
  ApplyModifiers("S", attr);
  EXPECT_EQ(attr.sample_type, kRead);
  EXPECT_EQ(attr.read_format, kReadId);
}

TEST(EventModifiers, AreLettersEachOnceAndUpToThreeP) {
  for (const char* valid : {"u", "ukhGHpPSDIWe", "ppp", "pupkp"}) {
    EXPECT_TRUE(AreValidModifiers(valid)) << valid;
  }
  for (const char* wrong : {"", "uu", "pppp", "x", "u ", "uDD"}) {
    EXPECT_FALSE(AreValidModifiers(wrong)) << wrong;
  }
}

TEST(EventModifiers, EndTheName) {
  EXPECT_EQ(WithoutModifiers("cpu-clock:upp"), "cpu-clock");
  EXPECT_EQ(WithoutModifiers("cpu-clock"), "cpu-clock");
  EXPECT_EQ(WithoutModifiers("skb:kfree_skb"), "skb:kfree_skb");
  EXPECT_EQ(WithoutModifiers("skb:kfree_skb:k"), "skb:kfree_skb");
}

}  // namespace
}  // namespace perftape::perfdata
