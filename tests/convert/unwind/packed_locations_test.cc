// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/packed_locations.h"

#include <gtest/gtest.h>

#include "formats/perfdata/abi.h"

namespace perftape::offline_unwind {
namespace {

class PackedLocationsTest : public testing::Test {
 protected:
  std::uint64_t WordOf(const perfdata::Region& region, std::uint64_t address) {
    return PackedLocations::Pack(locations_.Add(region).value(), address - region.start).value();
  }

  perfdata::Dso libc_ = {.path = "/lib/libc.so.6", .build_id = {}, .symbol = {}};
  perfdata::Dso app_ = {.path = "/bin/app", .build_id = {}, .symbol = {}};
  PackedLocations locations_;
};

TEST_F(PackedLocationsTest, AreEqualInAllProcesses) {
  const perfdata::Region high = {
      .start = 0x7f9000, .end = 0x7fa000, .page_offset = 0x2000, .dso = &libc_};
  const perfdata::Region low = {
      .start = 0x7e9000, .end = 0x7ea000, .page_offset = 0x2000, .dso = &libc_};
  const std::uint64_t word = WordOf(high, 0x7f9123);
  EXPECT_EQ(WordOf(low, 0x7e9123), word);
  EXPECT_EQ(WordOf(high, 0x7f9123), word);
  // The lowest address counts, whichever process was first.
  EXPECT_EQ(locations_.Unpack(word).region, low);
  EXPECT_EQ(locations_.Unpack(word).address, 0x7e9123);
}

TEST_F(PackedLocationsTest, DifferByFileOffsetAndSize) {
  const perfdata::Region region = {
      .start = 0x5000, .end = 0x6000, .page_offset = 0x1000, .dso = &libc_};
  perfdata::Region other = region;
  other.dso = &app_;
  EXPECT_NE(WordOf(region, 0x5010), WordOf(other, 0x5010));
  other = region;
  other.page_offset = 0x2000;
  EXPECT_NE(WordOf(region, 0x5010), WordOf(other, 0x5010));
  other = region;
  other.end = 0x7000;
  EXPECT_NE(WordOf(region, 0x5010), WordOf(other, 0x5010));
  EXPECT_NE(WordOf(region, 0x5010), WordOf(region, 0x5011));
}

TEST_F(PackedLocationsTest, OfMemoryWithoutAFileDifferByAddress) {
  const perfdata::Dso memory = {.path = "//anon", .build_id = {}, .symbol = {}};
  const perfdata::Region low = {.start = 0x5000, .end = 0x6000, .page_offset = 0, .dso = &memory};
  const perfdata::Region high = {.start = 0x8000, .end = 0x9000, .page_offset = 0, .dso = &memory};
  const std::uint64_t at_low = WordOf(low, 0x5010);
  const std::uint64_t at_high = WordOf(high, 0x8010);
  EXPECT_EQ(locations_.Unpack(at_low).address, 0x5010);
  EXPECT_EQ(locations_.Unpack(at_high).address, 0x8010);
}

TEST_F(PackedLocationsTest, KnowOuterInstructions) {
  const perfdata::Region region = {
      .start = 0x5000, .end = 0x6000, .page_offset = 0x1000, .dso = &libc_};
  const std::uint64_t word = WordOf(region, 0x5010);
  const std::uint64_t outer = PackedLocations::AsOuterInstruction(word);
  EXPECT_NE(outer, word);
  EXPECT_LT(outer, perfdata::kContextMax);
  EXPECT_EQ(locations_.Unpack(outer).address, 0x5010);
  EXPECT_TRUE(locations_.Unpack(outer).is_outer_instruction);
  EXPECT_FALSE(locations_.Unpack(word).is_outer_instruction);
}

TEST_F(PackedLocationsTest, HoldAddressesOfNoMapping) {
  const auto index = locations_.AddUnmapped(0xffff'1234'5678'0000);
  const std::uint64_t word = PackedLocations::Pack(index.value(), 0).value();
  EXPECT_LT(word, perfdata::kContextMax);
  EXPECT_EQ(locations_.Unpack(word).region.dso, nullptr);
  EXPECT_EQ(locations_.Unpack(word).address, 0xffff'1234'5678'0000);
  EXPECT_EQ(locations_.AddUnmapped(0xffff'1234'5678'0000), index);
  EXPECT_NE(locations_.AddUnmapped(0x10), index);
}

TEST_F(PackedLocationsTest, RefuseWhatAWordCannotHold) {
  EXPECT_EQ(PackedLocations::Pack(0, std::uint64_t{1} << 40), std::nullopt);
  EXPECT_NE(PackedLocations::Pack(0, (std::uint64_t{1} << 40) - 1), std::nullopt);
}

}  // namespace
}  // namespace perftape::offline_unwind
