// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/record/records.h"

namespace perftape::record {
namespace {

using perfdata::CpuMode;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using testing::ElementsAre;
using testing::IsEmpty;

class HitRegionsTest : public testing::Test {
 protected:
  void Map(std::uint32_t pid, std::uint64_t start, std::uint64_t length, std::string_view name) {
    Observe(RecordOf(perfdata::Mmap2{.pid = pid,
                                     .tid = pid,
                                     .start = start,
                                     .length = length,
                                     .build_id = {},
                                     .filename = name},
                     0, MiscOf(CpuMode::kUser)));
  }
  void MapKernel(std::uint64_t start, std::uint64_t length, std::string_view name) {
    Observe(RecordOf(
        perfdata::Mmap{.pid = 0xffffffff, .start = start, .length = length, .filename = name}, 0,
        MiscOf(CpuMode::kKernel)));
  }

  // Returns what a sample with this chain hits.
  std::vector<std::string> Hit(std::uint32_t pid, const std::vector<std::uint64_t>& chain) {
    const bool in_kernel = chain.at(0) == kContextKernel;
    return Observe(
        SampleOf({.ip = chain.at(1), .pid = pid, .tid = pid, .callchain = WordArray(chain)},
                 in_kernel ? CpuMode::kKernel : CpuMode::kUser));
  }

  std::vector<std::string> Observe(Bytes record) {
    std::vector<std::string> hits;
    const auto add = [&](std::uint32_t, const perfdata::Region& region) -> Status {
      hits.push_back(region.dso->path);
      return {};
    };
    EXPECT_TRUE(regions_.Observe(perfdata::AsRecord(record).value(), kTestFormat, add));
    return hits;
  }

  HitRegions regions_;
};

TEST_F(HitRegionsTest, ReportsEachRegionOnce) {
  Map(1, 0x10000, 0x40000, "/app");
  Map(1, 0x7f0000, 0x1000, "/lib");
  EXPECT_THAT(Hit(1, {kContextUser, 0x10010, 0x7f0010, 0x10020, 0x4fff0}),
              ElementsAre("/app", "/lib"));
  EXPECT_THAT(Hit(1, {kContextUser, 0x10030, 0x7f0fff}), IsEmpty());
}

TEST_F(HitRegionsTest, ReportsNeighbours) {
  Map(1, 0x10000, 0x1000, "/first");
  Map(1, 0x11000, 0x1000, "/second");
  EXPECT_THAT(Hit(1, {kContextUser, 0x10fff, 0x11000}), ElementsAre("/first", "/second"));
}

TEST_F(HitRegionsTest, DistinguishesProcessesAndTheirStates) {
  Map(1, 0x10000, 0x1000, "/app");
  Map(2, 0x10000, 0x1000, "/other");
  EXPECT_THAT(Hit(1, {kContextUser, 0x10010}), ElementsAre("/app"));
  EXPECT_THAT(Hit(2, {kContextUser, 0x10010}), ElementsAre("/other"));
  Map(1, 0x10000, 0x1000, "/loaded-later");
  EXPECT_THAT(Hit(1, {kContextUser, 0x10010}), ElementsAre("/loaded-later"));
}

TEST_F(HitRegionsTest, FindsFramesInTheSpaceOfTheirMode) {
  constexpr std::uint64_t kText = 0xffffffff81000000;
  MapKernel(kText, 0x100000, "[kernel.kallsyms]_text");
  Map(1, 0x10000, 0x1000, "/app");
  EXPECT_THAT(Hit(1, {kContextKernel, kText + 1, 0x10010, kContextUser, kText + 2, 0x10010}),
              ElementsAre("[kernel.kallsyms]", "/app"));
}

TEST_F(HitRegionsTest, ReportsThemAgainAfterForgetting) {
  Map(1, 0x10000, 0x1000, "/app");
  EXPECT_THAT(Hit(1, {kContextUser, 0x10010}), ElementsAre("/app"));
  regions_.ForgetSeen();
  EXPECT_THAT(Hit(1, {kContextUser, 0x10010}), ElementsAre("/app"));
}

TEST_F(HitRegionsTest, IgnoresWhatIsNotMapped) {
  Map(1, 0x10000, 0x1000, "/app");
  EXPECT_THAT(Hit(1, {kContextUser, 0x20000, 0x0fff0, 0x11000}), IsEmpty());
  EXPECT_THAT(Hit(7, {kContextUser, 0x10010}), IsEmpty());
}

}  // namespace
}  // namespace perftape::record
