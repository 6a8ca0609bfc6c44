// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/matchers.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr auto kNative = std::endian::native;
constexpr std::uint32_t kCpus = 2;

std::vector<std::byte> BytesOf(std::string_view text) {
  const Bytes bytes = AsBytes(text);
  return {bytes.begin(), bytes.end()};
}

BuildId SomeBuildId() {
  return *BuildId::FromHex("0102030405060708090a0b0c0d0e0f1011121314");
}

Event SomeEvent(std::string name, std::vector<std::uint64_t> ids) {
  EventAttr attr;
  attr.config = ids.front();
  return {.attr = attr, .format = FormatOf(attr), .ids = std::move(ids), .name = std::move(name)};
}

// One of each that has a type.
std::vector<Feature> EachFeature() {
  return {
      {FeatureBit::kHostname, TextFeature{"machine"}},
      {FeatureBit::kNrCpus, NrCpus{.available = kCpus, .online = 1}},
      {FeatureBit::kTotalMem, TotalMem{16384}},
      {FeatureBit::kCmdline, Cmdline{{"/usr/bin/perf", "record", "-a"}}},
      {FeatureBit::kEventDesc,
       EventDesc{{SomeEvent("cycles", {1, 2, 3}), SomeEvent("cpu-clock:u", {4})}}},
      {FeatureBit::kCpuTopology, CpuTopology{{"0-1"},
                                             {"0", "1"},
                                             {{.core = 0, .socket = 0}, {.core = 1, .socket = 0}},
                                             {"0-1"},
                                             {7, 8}}},
      {FeatureBit::kNumaTopology, NumaTopology{{{0, 100, 50, "0"}, {1, 200, 20, "1"}}}},
      {FeatureBit::kPmuMappings, PmuMappings{{{1, "software"}, {2, "tracepoint"}}}},
      {FeatureBit::kSampleTime, SampleTime{.first_ns = 5, .last_ns = 6}},
      {FeatureBit::kClockid, ClockResolution{1}},
      {FeatureBit::kClockData,
       ClockData{.version = 1, .clockid = 1, .wall_ns = 8, .clockid_ns = 9}},
      {FeatureBit::kBuildId, BuildIds{{{CpuMode::kKernel, SomeBuildId(), "[kernel.kallsyms]"},
                                       {CpuMode::kUser, *BuildId::FromHex("0011"), "/bin/ls"}}}},
      {FeatureBit::kBpfProgInfo,
       BpfProgInfo{{{.arrays = 3, .info = BytesOf("some info"), .data = BytesOf("data")}}}},
  };
}

std::vector<std::byte> Encoded(const FeatureValue& value) {
  std::vector<std::byte> bytes;
  EncodeFeature(value, bytes);
  return bytes;
}

template <class Value>
Value DecodedAs(FeatureBit bit, Bytes section, std::endian order = kNative,
                std::uint32_t cpus = kCpus) {
  return std::get<Value>(DecodeFeature(bit, section, order, cpus).value());
}

TEST(Feature, DecodesToWhatWasEncoded) {
  for (const Feature& feature : EachFeature()) {
    const std::vector<std::byte> bytes = Encoded(feature.value);
    const Result<FeatureValue> decoded = DecodeFeature(feature.bit, bytes, kNative, kCpus);
    ASSERT_THAT(decoded, IsOk()) << FeatureName(feature.bit);
    EXPECT_EQ(decoded->index(), feature.value.index()) << FeatureName(feature.bit);
    EXPECT_EQ(Encoded(*decoded), bytes) << FeatureName(feature.bit);
  }
}

// CPU_TOPOLOGY and BUILD_ID have places where they may end; a cut anywhere must still be harmless,
// which the address sanitizer sees.
TEST(Feature, IsTruncatedWhereverItIsCut) {
  for (const Feature& feature : EachFeature()) {
    const bool may_end_early =
        feature.bit == FeatureBit::kCpuTopology || feature.bit == FeatureBit::kBuildId;
    const std::vector<std::byte> bytes = Encoded(feature.value);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::vector<std::byte> piece(bytes.begin(),
                                         bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const Result<FeatureValue> decoded = DecodeFeature(feature.bit, piece, kNative, kCpus);
      if (may_end_early && decoded) continue;
      EXPECT_THAT(decoded, FailsWith(ErrorCode::kTruncated)) << FeatureName(feature.bit) << size;
    }
  }
}

TEST(Feature, AbsurdCountsAreTruncatedNotAllocated) {
  const std::array<std::uint32_t, 4> all_ones = {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
  const Bytes section = std::as_bytes(std::span(all_ones));
  for (const FeatureBit bit :
       {FeatureBit::kHostname, FeatureBit::kCmdline, FeatureBit::kEventDesc,
        FeatureBit::kCpuTopology, FeatureBit::kNumaTopology, FeatureBit::kPmuMappings,
        FeatureBit::kBuildId, FeatureBit::kBpfProgInfo}) {
    EXPECT_THAT(DecodeFeature(bit, section, kNative, 0xffffffff), FailsWith(ErrorCode::kTruncated))
        << FeatureName(bit);
  }
}

TEST(Feature, WithoutATypeIsKeptAsItIs) {
  for (const FeatureBit bit : {FeatureBit::kCache, FeatureBit::kTracingData, FeatureBit{77}}) {
    const auto raw = DecodedAs<RawFeature>(bit, AsBytes("anything"));
    EXPECT_EQ(AsText(raw.payload), "anything");
    EXPECT_EQ(Encoded(raw), raw.payload);
  }
}

TEST(Feature, NamesItsBit) {
  EXPECT_EQ(FeatureName(FeatureBit::kTracingData), "TRACING_DATA");
  EXPECT_EQ(FeatureName(FeatureBit::kClockData), "CLOCK_DATA");
  EXPECT_EQ(FeatureName(FeatureBit::kClnSize), "CLN_SIZE");
  EXPECT_EQ(FeatureName(FeatureBit{0}), "feature 0");
  EXPECT_EQ(FeatureName(FeatureBit{77}), "feature 77");
}

TEST(TextFeature, IsPaddedAsPerfPadsIt) {
  const std::vector<std::byte> bytes = Encoded(TextFeature{"abc"});
  EXPECT_THAT(bytes, SizeIs(4 + 64));
  EXPECT_EQ(LoadFixed<std::uint32_t>(bytes.data(), kNative), 64U);
  // 63 characters and their NUL fill it; one more needs another 64.
  EXPECT_THAT(Encoded(TextFeature{std::string(63, 'x')}), SizeIs(4 + 64));
  EXPECT_THAT(Encoded(TextFeature{std::string(64, 'x')}), SizeIs(4 + 128));
}

TEST(TextFeature, ReadsAnyPaddingOrNone) {
  using namespace std::string_view_literals;
  EXPECT_EQ(DecodedAs<TextFeature>(FeatureBit::kArch, AsBytes("\3\0\0\0x86"sv)).text, "x86");
  EXPECT_EQ(DecodedAs<TextFeature>(FeatureBit::kArch, AsBytes("\5\0\0\0x86\0\0"sv)).text, "x86");
}

TEST(NrCpus, StoresTheAvailableOnesFirst) {
  const std::vector<std::byte> bytes = Encoded(NrCpus{.available = 8, .online = 3});
  EXPECT_EQ(LoadFixed<std::uint32_t>(bytes.data(), kNative), 8U);
  EXPECT_EQ(LoadFixed<std::uint32_t>(bytes.data() + 4, kNative), 3U);
}

TEST(EventDesc, GivesNamesAndIds) {
  const EventDesc original{{SomeEvent("cycles", {1, 2, 3}), SomeEvent("cpu-clock:u", {4})}};
  const auto decoded = DecodedAs<EventDesc>(FeatureBit::kEventDesc, Encoded(original));
  ASSERT_THAT(decoded.events, SizeIs(2));
  EXPECT_EQ(decoded.events[0].name, "cycles");
  EXPECT_THAT(decoded.events[0].ids, ElementsAre(1, 2, 3));
  EXPECT_EQ(decoded.events[1].name, "cpu-clock:u");
  EXPECT_EQ(decoded.events[1].attr.config, 4U);
}

TEST(EventDesc, OfABigEndianMachineReadsTheSame) {
  BigEndianBytes section;
  section.U32(1).U32(64);
  section.U32(1).U32(64).U64(9).Zeros(48);  // the attribute
  section.U32(2).U32(8).Text("dummy", 8).U64(5).U64(6);
  const auto decoded =
      DecodedAs<EventDesc>(FeatureBit::kEventDesc, section.bytes(), std::endian::big);
  ASSERT_THAT(decoded.events, SizeIs(1));
  EXPECT_EQ(decoded.events[0].name, "dummy");
  EXPECT_EQ(decoded.events[0].attr.config, 9U);
  EXPECT_THAT(decoded.events[0].ids, ElementsAre(5, 6));
}

CpuTopology TopologyWithoutDies() {
  return {.packages = {"0-1"},
          .cores = {"0", "1"},
          .cpus = {{3, 4}, {5, 6}},
          .dies = {},
          .die_of_cpu = {}};
}

TEST(CpuTopology, HadNoDiesBeforeLinux5_3) {
  const auto decoded =
      DecodedAs<CpuTopology>(FeatureBit::kCpuTopology, Encoded(TopologyWithoutDies()));
  EXPECT_EQ(decoded.cpus[1].socket, 6U);
  EXPECT_THAT(decoded.dies, IsEmpty());
  EXPECT_THAT(decoded.die_of_cpu, IsEmpty());
}

TEST(CpuTopology, HadNoIdsBeforeLinux4_4) {
  CpuTopology topology = TopologyWithoutDies();
  topology.cpus.clear();
  const auto decoded = DecodedAs<CpuTopology>(FeatureBit::kCpuTopology, Encoded(topology));
  EXPECT_THAT(decoded.cores, ElementsAre("0", "1"));
  EXPECT_THAT(decoded.cpus, IsEmpty());
}

TEST(CpuTopology, DoesNotTakeTheRecordsPaddingForDies) {
  std::vector<std::byte> bytes = Encoded(TopologyWithoutDies());
  bytes.resize(bytes.size() + 4);
  const auto decoded = DecodedAs<CpuTopology>(FeatureBit::kCpuTopology, bytes);
  EXPECT_THAT(decoded.cpus, SizeIs(2));
  EXPECT_THAT(decoded.dies, IsEmpty());
}

TEST(CpuTopology, HasRoomForTheCpusThatNrCpusTellsOf) {
  const std::vector<std::byte> bytes = Encoded(TopologyWithoutDies());
  EXPECT_THAT(DecodeFeature(FeatureBit::kCpuTopology, bytes, kNative, 3),
              FailsWith(ErrorCode::kTruncated));
}

TEST(BuildIds, HaveTheirModeAndTrueSize) {
  const BuildIds original{{{CpuMode::kKernel, SomeBuildId(), "[kernel.kallsyms]"},
                           {CpuMode::kUser, *BuildId::FromHex("0011"), "/bin/ls"}}};
  const auto decoded = DecodedAs<BuildIds>(FeatureBit::kBuildId, Encoded(original));
  ASSERT_THAT(decoded.entries, SizeIs(2));
  EXPECT_EQ(decoded.entries[0].mode, CpuMode::kKernel);
  EXPECT_EQ(decoded.entries[0].filename, "[kernel.kallsyms]");
  EXPECT_EQ(decoded.entries[1].build_id.hex(), "0011");
}

TEST(BuildIds, AreTruncatedByAnEntryThatSaysItHasNoSize) {
  const std::array<std::uint64_t, 2> entry = {0, 0};
  EXPECT_THAT(DecodeFeature(FeatureBit::kBuildId, std::as_bytes(std::span(entry)), kNative, 0),
              FailsWith(ErrorCode::kTruncated));
}

}  // namespace
}  // namespace perftape::perfdata
