// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/this_boot.h"

#include <gtest/gtest.h>

namespace perftape::symbolize {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

BootFacts Here() {
  return {.boot_id = "boot-2",
          .host = "earth",
          .kernel_release = "6.1.0",
          .kernel_build_id = BuildId::From(AsBytes("abc")),
          .kernel_text = 0xffffffff9a000000,
          .booted_ns = 1000 * kSecond};
}

// Returns a recording made here by root, a minute after booting.
BootFacts Recorded() {
  BootFacts facts = Here();
  facts.boot_id.clear();
  facts.booted_ns.reset();
  facts.made_ns = 1060 * kSecond;
  return facts;
}

TEST(DifferenceOfBoots, IsNoneForARecordingMadeHereSinceBooting) {
  EXPECT_EQ(DifferenceOfBoots(Recorded(), Here()), "");
}

TEST(DifferenceOfBoots, IsNoneForAUserWhoSeesNoKernelAddresses) {
  BootFacts recorded = Recorded(), here = Here();
  recorded.kernel_build_id = {};
  recorded.kernel_text = here.kernel_text = 0;
  EXPECT_EQ(DifferenceOfBoots(recorded, here), "");
}

TEST(DifferenceOfBoots, IsNoneForWhatCameThroughAPipe) {
  BootFacts recorded = Recorded();
  recorded.made_ns.reset();
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()), "");
}

TEST(DifferenceOfBoots, DetectsAnotherMachine) {
  BootFacts recorded = Recorded();
  recorded.host = "moon";
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()), "it was recorded on host moon");
}

TEST(DifferenceOfBoots, DetectsAnotherKernel) {
  BootFacts recorded = Recorded();
  recorded.kernel_build_id = BuildId::From(AsBytes("xyz"));
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()),
            "it was recorded on the kernel with build id 78797a");
  recorded.kernel_release = "6.2.0";
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()), "it was recorded on kernel 6.2.0");
}

TEST(DifferenceOfBoots, DetectsAnotherKernelAddress) {
  BootFacts recorded = Recorded();
  recorded.kernel_text += 2 << 20;
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()),
            "the kernel was at another address when it was recorded: in another boot");
}

TEST(DifferenceOfBoots, DetectsARecordingBeforeTheBoot) {
  BootFacts recorded = Recorded();
  recorded.made_ns = 990 * kSecond;
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()), "it was recorded before this machine was booted");
}

TEST(DifferenceOfBoots, RejectsARecordingWithoutAHost) {
  BootFacts recorded = Recorded();
  recorded.host.clear();
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()),
            "it does not say on which machine it was recorded");
  EXPECT_NE(DifferenceOfBoots({}, Here()), "");
}

TEST(DifferenceOfBoots, IsDecidedByTheIdOfTheBootWhereThereIsOne) {
  EXPECT_EQ(DifferenceOfBoots({.boot_id = "boot-2"}, Here()), "");
  BootFacts recorded = Recorded();
  recorded.boot_id = "boot-1";
  EXPECT_EQ(DifferenceOfBoots(recorded, Here()), "it was recorded in another boot");
}

TEST(FactsOfThisBoot, NameThisMachine) {
  const BootFacts facts = FactsOfThisBoot();
  EXPECT_FALSE(facts.host.empty());
  EXPECT_FALSE(facts.kernel_release.empty());
  EXPECT_TRUE(facts.booted_ns);
}

// As of a recorder that was killed before it wrote the features.
TEST(MayBeOfBoot, IsTrueWithoutAHostIfNothingContradicts) {
  BootFacts recorded = Recorded();
  recorded.host.clear();
  EXPECT_NE(DifferenceOfBoots(recorded, Here()), "");
  EXPECT_TRUE(MayBeOfBoot(recorded, Here()));
  recorded.kernel_build_id = {};
  EXPECT_TRUE(MayBeOfBoot(recorded, Here()));
  recorded.kernel_text += 0x1000000;
  EXPECT_FALSE(MayBeOfBoot(recorded, Here()));
  recorded = Recorded();
  EXPECT_FALSE(MayBeOfBoot(recorded, Here()));  // the host decides
  recorded.host.clear();
  recorded.kernel_build_id = BuildId::From(AsBytes("xyz"));
  EXPECT_FALSE(MayBeOfBoot(recorded, Here()));
}

}  // namespace
}  // namespace perftape::symbolize
