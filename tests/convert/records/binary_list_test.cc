// SPDX-License-Identifier: Apache-2.0
#include "convert/records/binary_list.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::records {

static bool operator==(const ListedBinary& a, const ListedBinary& b) {
  return a.path == b.path && a.build_id == b.build_id && a.is_sampled == b.is_sampled;
}

namespace {

using perfdata::CpuMode;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;

constexpr BuildId kIdA{.bytes = {1, 2, 3}, .size = 20}, kIdB{.bytes = {4}, .size = 20};

std::vector<ListedBinary> Listed(PerfDataBuilder& file, BinaryScan scan) {
  const perfdata::Reader reader = file.Open();
  auto binaries = ListBinaries(reader, scan);
  EXPECT_THAT(binaries, IsOk());
  return binaries ? *std::move(binaries) : std::vector<ListedBinary>();
}

PerfDataBuilder FileWithTwoBinaries() {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddFeature(perfdata::FeatureBit::kBuildId,
                  perfdata::BuildIds{{{.build_id = kIdA, .filename = "/a"}}});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/b"});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x2000, .path = "/a"});
  file.AddSample({.ip = 0x1500, .pid = 7, .tid = 7});
  return file;
}

TEST(ListBinaries, ReadsOnlyTheFeatureIfAsked) {
  PerfDataBuilder file = FileWithTwoBinaries();
  EXPECT_THAT(Listed(file, BinaryScan::kFeature), ElementsAre(ListedBinary{"/a", kIdA, false}));
}

TEST(ListBinaries, AddsMappedBinariesAfterThoseOfTheFeature) {
  PerfDataBuilder file = FileWithTwoBinaries();
  EXPECT_THAT(Listed(file, BinaryScan::kRecords),
              ElementsAre(ListedBinary{"/a", kIdA, false}, ListedBinary{"/b", {}, true}));
}

TEST(ListBinaries, TakesBuildIdsFromRecords) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddBuildId("/b", kIdB);
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "/b"});
  EXPECT_THAT(Listed(file, BinaryScan::kRecords), ElementsAre(ListedBinary{"/b", kIdB, false}));
}

TEST(ListBinaries, NamesCompiledCodeByItsPerfMap) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x1000, .path = "//anon"});
  file.AddSample({.ip = 0x1001, .pid = 7, .tid = 7});
  EXPECT_THAT(Listed(file, BinaryScan::kRecords),
              ElementsAre(ListedBinary{"/tmp/perf-7.map", {}, true}));
}

}  // namespace
}  // namespace perftape::records
