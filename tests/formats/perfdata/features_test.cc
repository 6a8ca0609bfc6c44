// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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

CacheInfo::Cache SomeCache() {
  return {.level = 1,
          .line_size = 64,
          .sets = 64,
          .ways = 8,
          .type = "Data",
          .size = "32K",
          .cpus = "0-1"};
}

// Returns one feature of each type.
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
      {FeatureBit::kBpfBtf, BpfBtf{{{.id = 9, .btf = BytesOf("types")}}}},
      {FeatureBit::kTracingData, TracingData{.version = "0.6", .formats = {}}},
      {FeatureBit::kGroupDesc, GroupDesc{{{.name = "pair", .leader = 0, .members = 2}}}},
      {FeatureBit::kAuxtrace, AuxtraceIndex{{{.file_offset = 4096, .size = 48}}}},
      {FeatureBit::kCache, CacheInfo{.version = 1, .caches = {SomeCache()}}},
      {FeatureBit::kMemTopology,
       MemTopology{.version = 1,
                   .block_size = 1 << 27,
                   .nodes = {{.node = 0, .size = 2, .bit_count = 65, .blocks = {3, 1}}}}},
      {FeatureBit::kDirFormat, DirFormat{1}},
      {FeatureBit::kCompressed,
       CompressionInfo{.version = 1, .type = 1, .level = 3, .ratio = 7, .mmap_len = 528384}},
      {FeatureBit::kCpuPmuCaps, CpuPmuCaps{{{"max_precise", "3"}}}},
      {FeatureBit::kPmuCaps, PmuCaps{{{{{"branches", "32"}, {"pmu_name", "x"}}, "cpu_core"}}}},
      {FeatureBit::kHybridTopology, HybridTopology{{{"cpu_core", "0-15"}, {"cpu_atom", "16"}}}},
      {FeatureBit::kCpuDomainInfo, CpuDomainInfo{17, 2, {{1, {{0, "SMT", "3", "0-1"}}}}}},
      {FeatureBit::kEMachine, ElfMachine{.machine = 62, .flags = 0}},
      {FeatureBit::kClnSize, CacheLineSize{64}},
      {FeatureBit::kMemoryRanges,
       MemoryRanges{{{.base = 0, .length = 0x80000000, .local_region = 1, .remote_region = 0xff},
                     {.base = 0x100000000, .length = 4096, .node = -1}}}},
      {FeatureBit::kSimpleperfMetaInfo, MetaInfo{{{"arch", "arm64"}, {"app_type", ""}}}},
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

// Features without a count may end at several offsets. A cut anywhere must be harmless, which the
// address sanitizer checks.
TEST(Feature, IsTruncatedWhereverItIsCut) {
  for (const Feature& feature : EachFeature()) {
    constexpr std::array kMayEndEarly = {
        FeatureBit::kAuxtrace,      FeatureBit::kCpuTopology,        FeatureBit::kBuildId,
        FeatureBit::kCpuDomainInfo, FeatureBit::kSimpleperfMetaInfo, FeatureBit::kEMachine,
        FeatureBit::kClnSize,       FeatureBit::kMemoryRanges};
    const bool may_end_early = std::ranges::find(kMayEndEarly, feature.bit) != kMayEndEarly.end();
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
        FeatureBit::kBuildId, FeatureBit::kBpfProgInfo, FeatureBit::kBpfBtf, FeatureBit::kGroupDesc,
        FeatureBit::kCache, FeatureBit::kCpuPmuCaps, FeatureBit::kPmuCaps,
        FeatureBit::kHybridTopology, FeatureBit::kCpuDomainInfo, FeatureBit::kSimpleperfMetaInfo}) {
    EXPECT_THAT(DecodeFeature(bit, section, kNative, 0xffffffff), FailsWith(ErrorCode::kTruncated))
        << FeatureName(bit);
  }
}

TEST(Feature, WithoutATypeIsKeptAsItIs) {
  for (const FeatureBit bit : {FeatureBit::kSimpleperfFile2, FeatureBit{77}}) {
    const auto raw = DecodedAs<RawFeature>(bit, AsBytes("anything"));
    EXPECT_EQ(AsText(raw.payload), "anything");
    EXPECT_EQ(Encoded(raw), raw.payload);
  }
}

TEST(Feature, NamesItsBit) {
  EXPECT_EQ(FeatureName(FeatureBit::kTracingData), "TRACING_DATA");
  EXPECT_EQ(FeatureName(FeatureBit::kClockData), "CLOCK_DATA");
  EXPECT_EQ(FeatureName(FeatureBit::kClnSize), "CLN_SIZE");
  EXPECT_EQ(FeatureName(FeatureBit::kMemoryRanges), "MEMORY_RANGES");
  EXPECT_EQ(FeatureName(FeatureBit::kSimpleperfFile), "FILE");
  EXPECT_EQ(FeatureName(FeatureBit::kSimpleperfInitMap), "INIT_MAP");
  EXPECT_EQ(FeatureName(FeatureBit{0}), "feature 0");
  EXPECT_EQ(FeatureName(FeatureBit{127}), "feature 127");
  EXPECT_EQ(FeatureName(FeatureBit{135}), "feature 135");
  EXPECT_EQ(FeatureName(FeatureBit{77}), "feature 77");
}

TEST(TextFeature, IsPaddedAsPerfPadsIt) {
  const std::vector<std::byte> bytes = Encoded(TextFeature{"abc"});
  EXPECT_THAT(bytes, SizeIs(4 + 64));
  EXPECT_EQ(LoadFixed<std::uint32_t>(bytes.data(), kNative), 64U);
  // 63 characters and their NUL fill it; one more character needs another 64 bytes.
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

TEST(CpuTopology, DoesNotReadPaddingAsDies) {
  std::vector<std::byte> bytes = Encoded(TopologyWithoutDies());
  bytes.resize(bytes.size() + 4);
  const auto decoded = DecodedAs<CpuTopology>(FeatureBit::kCpuTopology, bytes);
  EXPECT_THAT(decoded.cpus, SizeIs(2));
  EXPECT_THAT(decoded.dies, IsEmpty());
}

TEST(CpuTopology, HasAnEntryForEachCpu) {
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

// "[kernel.kallsyms]" begins where perf now has the fifth letter: there was no pid before it.
TEST(BuildIds, HadNoPidBeforeLinux2_6_35) {
  BigEndianBytes section;
  section.U32(0).U16(1).U16(8 + 24 + 24).Text("01234567890123456789", 24);
  section.Text("[kernel.kallsyms]", 24);
  section.U32(0).U16(2).U16(8 + 24 + 8).Text("abcdefghijklmnopqrst", 24).Text("/bin/ls", 8);
  const auto decoded = DecodedAs<BuildIds>(FeatureBit::kBuildId, section.bytes(), std::endian::big);
  ASSERT_THAT(decoded.entries, SizeIs(2));
  EXPECT_EQ(decoded.entries[0].filename, "[kernel.kallsyms]");
  EXPECT_EQ(decoded.entries[0].build_id.bytes.front(), '0');
  EXPECT_EQ(decoded.entries[1].filename, "/bin/ls");
  EXPECT_EQ(decoded.entries[1].mode, CpuMode::kUser);
  EXPECT_EQ(decoded.entries[1].pid, -1);
}

TEST(BuildIds, CutANameThatNoRecordHolds) {
  const BuildIds original{{{CpuMode::kUser, SomeBuildId(), std::string(70000, 'x')},
                           {CpuMode::kUser, SomeBuildId(), "/bin/ls"}}};
  const auto decoded = DecodedAs<BuildIds>(FeatureBit::kBuildId, Encoded(original));
  ASSERT_THAT(decoded.entries, SizeIs(2));
  EXPECT_EQ(decoded.entries[0].filename, std::string(65471, 'x'));
  EXPECT_EQ(decoded.entries[1].filename, "/bin/ls");
}

TEST(BuildIds, ContainTheMachineOfAGuest) {
  const BuildIds original{{{CpuMode::kGuestKernel, SomeBuildId(), "[guest.kernel.kallsyms]", 77}}};
  const auto decoded = DecodedAs<BuildIds>(FeatureBit::kBuildId, Encoded(original));
  ASSERT_THAT(decoded.entries, SizeIs(1));
  EXPECT_EQ(decoded.entries[0].pid, 77);
}

TEST(BuildIds, EndAtAnEntryOfSizeZero) {
  const std::array<std::uint64_t, 2> entry = {0, 0};
  EXPECT_THAT(DecodeFeature(FeatureBit::kBuildId, std::as_bytes(std::span(entry)), kNative, 0),
              FailsWith(ErrorCode::kTruncated));
}

// perf 6.1, for which 32 was the first number without a meaning, ends a pipe's features in this
// way.
TEST(EmptyFeature, EndsTheFeaturesOfAPipe) {
  for (const FeatureBit bit : {FeatureBit::kCpuDomainInfo, FeatureBit::kClnSize, FeatureBit{35}}) {
    EXPECT_TRUE(Encoded(DecodedAs<EmptyFeature>(bit, {})).empty()) << FeatureName(bit);
  }
}

TEST(MemoryRanges, HavePackedEntries) {
  const std::vector<std::byte> bytes = Encoded(MemoryRanges{{{}, {}}});
  EXPECT_EQ(bytes.size(), 4U + 2 * 22);
}

TEST(CpuDomainInfo, HadNoNamesBeforeSchedstat17) {
  const CpuDomainInfo original{15, 1, {{0, {{0, "", "3", "0-1"}}}, {1, {}}}};
  const auto decoded = DecodedAs<CpuDomainInfo>(FeatureBit::kCpuDomainInfo, Encoded(original));
  ASSERT_THAT(decoded.cpus, SizeIs(2));
  EXPECT_EQ(decoded.cpus[0].domains.at(0).cpu_mask, "3");
  EXPECT_EQ(decoded.cpus[1].cpu, 1U);
}

TEST(AuxtraceIndex, OfSimpleperfHasNoCount) {
  const AuxtraceIndex original{{{4096, 48}, {8192, 48}}, false};
  const std::vector<std::byte> bytes = Encoded(original);
  EXPECT_THAT(bytes, SizeIs(32));
  const auto decoded = DecodedAs<AuxtraceIndex>(FeatureBit::kAuxtrace, bytes);
  ASSERT_THAT(decoded.entries, SizeIs(2));
  EXPECT_EQ(decoded.entries[1].file_offset, 8192U);
  EXPECT_EQ(Encoded(decoded), bytes);
}

TEST(TracingData, DetectsItsByteOrder) {
  BigEndianBytes blob;
  blob.Text("\x17\x08\x44tracing", 10).Text("0.5", 4).Text("\1\4", 2).U32(65536).Text("rest", 4);
  const auto decoded = DecodedAs<TracingData>(FeatureBit::kTracingData, blob.bytes());
  EXPECT_EQ(decoded.version, "0.5");
  EXPECT_EQ(decoded.order, std::endian::big);
  EXPECT_EQ(decoded.long_size, 4);
  EXPECT_EQ(decoded.page_size, 65536U);
  EXPECT_EQ(AsText(decoded.formats), "rest");
  EXPECT_EQ(Encoded(decoded), blob.bytes());
}

TEST(TracingData, IsNoneWithoutItsMagic) {
  EXPECT_THAT(DecodeFeature(FeatureBit::kTracingData, std::vector<std::byte>(64), kNative, 0),
              FailsWith(ErrorCode::kTruncated));
}

}  // namespace
}  // namespace perftape::perfdata
