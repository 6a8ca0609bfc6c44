// SPDX-License-Identifier: Apache-2.0
// Tests every record except SAMPLE, which has its own test.
#include "formats/perfdata/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const SampleFormat kNoTrailer{.sample_type = kIp | kTid | kTime,
                              .read_format = kReadTotalTimeEnabled | kReadTotalTimeRunning};
const SampleFormat kFormat{.sample_type = kIp | kTid | kTime | kCpu | kPeriod | kIdentifier,
                           .read_format = kReadTotalTimeEnabled | kReadTotalTimeRunning,
                           .sample_id_all = true};
constexpr SampleId kTrailer{.pid = 91, .tid = 92, .time = 93, .id = 94, .cpu = 95};

constexpr std::array<std::uint64_t, 4> kWords = {0x1111, 0x2222, 0x3333, 0x4444};
constexpr std::span<const std::uint64_t> kThreeWords = std::span(kWords).first(3);
constexpr std::array<std::uint32_t, 6> kSixCounters = {1, 2, 3, 4, 5, 6};
const FixedArray<std::uint32_t> kHalfWords{std::span(kSixCounters)};
constexpr std::array<std::uint16_t, 2> kCpuNumbers = {3, 5};
const CpuSet kTwoCpus{.cpus = FixedArray<std::uint16_t>(std::span(kCpuNumbers))};

// A record of each type without zero fields, its misc, and the size of its fixed part, which is the
// minimum size of its payload.
template <class Record>
struct Specimen {
  Record record;
  std::size_t fixed_size;
  std::uint16_t misc = 2;
};

BuildId SomeBuildId() {
  return *BuildId::FromHex("0102030405060708090a0b0c0d0e0f1011121314");
}

template <class Visitor>
void ForEachKernelSpecimen(Visitor visit) {
  visit(Specimen<Mmap>{{1, 2, 0x3000, 0x4000, 0x5000, "/bin/ls"}, 32});
  visit(Specimen<Mmap2>{{.pid = 1,
                         .tid = 2,
                         .start = 0x3000,
                         .length = 0x4000,
                         .page_offset = 0x5000,
                         .device_major = 6,
                         .device_minor = 7,
                         .inode = 8,
                         .inode_generation = 9,
                         .protection = 5,
                         .flags = 2,
                         .filename = "/usr/lib/libc.so.6"},
                        64});
  visit(Specimen<Mmap2>{{.pid = 1,
                         .tid = 2,
                         .start = 0x3000,
                         .length = 0x4000,
                         .page_offset = 0x5000,
                         .build_id = SomeBuildId(),
                         .protection = 5,
                         .flags = 2,
                         .filename = "/usr/lib/libc.so.6"},
                        64,
                        kMiscMmapBuildId | 2});
  visit(Specimen<Comm>{{1, 2, "worker"}, 8});
  visit(Specimen<Fork>{{{1, 2, 3, 4, 5}}, 24});
  visit(Specimen<Exit>{{{1, 2, 3, 4, 5}}, 24});
  visit(Specimen<Lost>{{1, 2}, 16});
  visit(Specimen<LostSamples>{{1}, 8});
  visit(Specimen<Throttle>{{{1, 2, 3}}, 24});
  visit(Specimen<Unthrottle>{{{1, 2, 3}}, 24});
  visit(Specimen<Read>{{1, 2, WordArray(kThreeWords)}, 8 + 24});
  visit(Specimen<Aux>{{1, 2, 3}, 24});
  visit(Specimen<ItraceStart>{{1, 2}, 8});
  visit(Specimen<Switch>{{}, 0});
  visit(Specimen<AuxOutputHwId>{{1}, 8});
  visit(Specimen<CallchainDeferred>{{1, WordArray(kWords)}, 16 + 32});
  visit(Specimen<Namespaces>{{1, 2, WordArray(kWords)}, 16 + 32});
  visit(Specimen<Ksymbol>{{1, 2, 1, 1, "bpf_prog_1234_x"}, 16});
  visit(Specimen<BpfEvent>{{1, 2, 3, {4, 5, 6, 7, 8, 9, 10, 11}}, 16});
  visit(Specimen<Cgroup>{{1, "/system.slice"}, 8});
  visit(Specimen<SwitchCpuWide>{{1, 2}, 8});
  visit(Specimen<TextPoke>{{1, 5, 3, AsBytes("oldesnew")}, 12 + 8});
}

template <class Visitor>
void ForEachToolSpecimen(Visitor visit) {
  visit(Specimen<HeaderBuildId>{{-1, SomeBuildId(), "/bin/ls"}, 28, kMiscBuildIdSize | 2});
  visit(Specimen<HeaderAttr>{{{.type = 1, .config = 2, .flags = 3}, WordArray(kWords)}, 112});
  visit(Specimen<HeaderEventType>{{1, AsBytes("cycles..")}, 8});
  visit(Specimen<HeaderTracingData>{{1}, 4});
  visit(Specimen<IdIndex>{{WordArray(kWords)}, 8 + 32});
  visit(Specimen<IdIndex>{{WordArray(kWords), WordArray(kThreeWords.first(2))}, 8 + 32});
  visit(Specimen<AuxtraceInfo>{{1, WordArray(kWords)}, 8});
  visit(Specimen<Auxtrace>{{1, 2, 3, 4, 5, 6}, 40});
  visit(Specimen<AuxtraceError>{{1, 2, 3, 4, 5, 0, 6, 0, "lost"}, 32});
  visit(Specimen<AuxtraceError>{{1, 2, 3, 4, 5, 2, 6, 7, "lost", 8, 9}, 32 + 8 + 64 + 8});
  visit(Specimen<ThreadMap>{{{{1, "init"}, {2, "kthreadd"}}}, 8 + 48});
  visit(Specimen<CpuMap>{{kTwoCpus}, 8});
  visit(Specimen<CpuMap>{{{.map_type = CpuSet::kMask, .long_size = 4, .mask32 = kHalfWords}}, 30});
  visit(Specimen<CpuMap>{
      {{.map_type = CpuSet::kMask, .long_size = 8, .mask64 = WordArray(kThreeWords)}}, 34});
  visit(Specimen<CpuMap>{{{.map_type = CpuSet::kRange, .any_cpu = 1, .start_cpu = 2, .end_cpu = 3}},
                         8});
  visit(Specimen<StatConfig>{{WordArray(kWords)}, 8 + 32});
  visit(Specimen<Stat>{{1, 2, 3, 4, 5, 6}, 40});
  visit(Specimen<StatRound>{{1, 2}, 16});
  visit(Specimen<TimeConv>{{1, 2, 3, false}, 24});
  visit(Specimen<TimeConv>{{1, 2, 3, true, 4, 5, 1, 1}, 24});
  visit(Specimen<EventUpdate>{{EventUpdate::kName, 3, "cycles:u"}, 16});
  visit(Specimen<EventUpdate>{{EventUpdate::kUnit, 3, "Joules"}, 16});
  visit(Specimen<EventUpdate>{{EventUpdate::kScale, 3, {}, 0.25}, 24});
  visit(Specimen<EventUpdate>{{EventUpdate::kCpus, 3, {}, 0, kTwoCpus}, 24});
  visit(Specimen<EventUpdate>{{9, 3, {}, 0, {}, AsBytes("payload.")}, 16});
  visit(Specimen<CompressedData>{{AsBytes("payload.")}, 0});
  visit(Specimen<Compressed2Data>{{8, AsBytes("payload.")}, 16});
  visit(Specimen<BpfMetadata>{{"prog", {{"key", "value"}, {"other", "more"}}}, 520 + 640});
  visit(Specimen<SchedstatCpu>{{1, 2, 15, kHalfWords, WordArray(kThreeWords)}, 16 + 24 + 24});
  visit(Specimen<SchedstatDomain>{{1, 2, 15, 3, kHalfWords}, 16});
  visit(Specimen<HeaderFeature>{{4, AsBytes("payload.")}, 8});
  visit(Specimen<FinishedRound>{{}, 0});
  visit(Specimen<FinishedInit>{{}, 0});
}

template <class Visitor>
void ForEachSpecimen(Visitor visit) {
  ForEachKernelSpecimen(visit);
  ForEachToolSpecimen(visit);
}

template <class Record>
std::vector<std::byte> Encoded(const Record& record, std::uint16_t misc = 0,
                               const SampleFormat& format = kFormat) {
  std::vector<std::byte> bytes;
  EXPECT_THAT(Encode(record, kTrailer, format, misc, bytes), IsOk());
  return bytes;
}

// Returns a view of a record of `type` with this payload.
RecordView ViewOf(RecordType type, Bytes payload, std::uint16_t misc = 0,
                  std::endian order = std::endian::native) {
  return {.type = type, .misc = misc, .payload = payload, .file_offset = 0x1f40, .order = order};
}

RecordView OnlyRecordIn(const std::vector<std::byte>& bytes) {
  RecordHeader header = {};
  std::memcpy(&header, bytes.data(), sizeof header);
  EXPECT_EQ(header.size, bytes.size());
  return ViewOf(header.type, Bytes(bytes).subspan(sizeof header), header.misc);
}

std::vector<std::uint64_t> WordsOf(Bytes bytes) {
  const WordArray words(bytes, std::endian::native);
  return {words.begin(), words.end()};
}

TEST(Record, DecodesToWhatWasEncoded) {
  ForEachSpecimen([]<class Record>(const Specimen<Record>& specimen) {
    const std::vector<std::byte> bytes = Encoded(specimen.record, specimen.misc);
    const RecordView view = OnlyRecordIn(bytes);
    EXPECT_EQ(view.type, Record::kType);
    EXPECT_EQ(view.misc, specimen.misc);
    const auto decoded = Decode<Record>(view, kFormat);
    ASSERT_THAT(decoded, IsOk()) << RecordName(Record::kType);
    EXPECT_EQ(Encoded(*decoded, specimen.misc), bytes) << RecordName(Record::kType);
  });
}

TEST(Record, IsAWholeNumberOfWords) {
  ForEachSpecimen([]<class Record>(const Specimen<Record>& specimen) {
    // zstd would read padding as its next frame; perf looks for tracing data at byte 12.
    if (Record::kType == RecordType::kCompressed) return;
    if (Record::kType == RecordType::kHeaderTracingData) return;
    EXPECT_EQ(Encoded(specimen.record, specimen.misc).size() % 8, 0U) << RecordName(Record::kType);
  });
}

// Under the address sanitizer this also shows that nothing reads behind the end.
TEST(Record, IsTruncatedWhereverItsFixedPartIsCut) {
  ForEachSpecimen([]<class Record>(const Specimen<Record>& specimen) {
    const std::vector<std::byte> bytes = Encoded(specimen.record, specimen.misc, kNoTrailer);
    for (std::size_t size = 0; size + 8 < bytes.size(); ++size) {
      const std::vector<std::byte> piece(bytes.begin() + 8,
                                         bytes.begin() + 8 + static_cast<std::ptrdiff_t>(size));
      const auto decoded = Decode<Record>(ViewOf(Record::kType, piece, specimen.misc), kNoTrailer);
      if (size < specimen.fixed_size) {
        EXPECT_THAT(decoded, FailsWith(ErrorCode::kTruncated)) << RecordName(Record::kType) << size;
      } else {
        EXPECT_THAT(decoded, IsOk()) << RecordName(Record::kType) << size;
      }
    }
  });
}

TEST(Record, IsTruncatedWhereItHasNoRoomForItsTrailer) {
  const std::vector<std::byte> payload(kFormat.trailer_size() - 1);
  EXPECT_THAT(Decode<Comm>(ViewOf(RecordType::kComm, payload), kFormat),
              FailsWith(ErrorCode::kTruncated, HasSubstr("record at 0x1f40: COMM has 39 bytes")));
}

TEST(Record, HasAnOffsetAndASize) {
  const std::vector<std::byte> payload(32);
  EXPECT_THAT(Decode<Mmap2>(ViewOf(RecordType::kMmap2, payload), kNoTrailer),
              FailsWith(ErrorCode::kTruncated,
                        "record at 0x1f40: MMAP2 has 40 bytes, fewer than its fields need"));
}

TEST(Record, AbsurdCountsAreTruncatedNotAllocated) {
  for (const std::uint64_t count :
       {std::uint64_t{3}, std::uint64_t{1} << 59, std::uint64_t{1} << 62, std::uint64_t{1} << 63,
        ~std::uint64_t{0}}) {
    const std::array<std::uint64_t, 6> namespaces = {0, count, 1, 2, 3, 4};
    EXPECT_THAT(Decode<Namespaces>(
                    ViewOf(RecordType::kNamespaces, std::as_bytes(std::span(namespaces))), {}),
                FailsWith(ErrorCode::kTruncated))
        << count;
    const std::array<std::uint64_t, 5> index = {count, 1, 2, 3, 4};
    EXPECT_THAT(Decode<IdIndex>(ViewOf(RecordType::kIdIndex, std::as_bytes(std::span(index))), {}),
                FailsWith(ErrorCode::kTruncated))
        << count;
  }
}

// perf inject --jit writes the mode of the file that it made as protection. Its lowest byte depends
// on the umask.
TEST(Mmap2, MayHaveTheModeOfAFileAsProtection) {
  for (const std::uint64_t mode : {0100644U, 0100600U, 0100755U, 0100457U, 0100533U, 0100440U}) {
    std::vector<std::byte> payload;
    ByteWriter at(payload);
    at.Padding(56);
    at.Fixed(std::uint64_t{1} << 32 | mode);
    at.Name("/tmp/jitted-7-0.so");
    const auto mmap = Decode<Mmap2>(ViewOf(RecordType::kMmap2, payload), kNoTrailer);
    ASSERT_TRUE(mmap) << mode;
    EXPECT_EQ(mmap->protection, mode);
    EXPECT_EQ(mmap->flags, 1U);
    EXPECT_EQ(mmap->filename, "/tmp/jitted-7-0.so") << mode;
  }
}

// RHEL 7.0 wrote the name at the offset of the protection.
TEST(Mmap2, MayHaveNoProtection) {
  for (const std::string_view name : {"/a", "/bin/ls", "/usr/bin/env", "/usr/lib/libc.so.6",
                                      "[vdso]", "//anon", "anon_inode:[perf_event]"}) {
    std::vector<std::byte> payload;
    ByteWriter at(payload);
    at.Padding(56);
    at.Name(name);
    const auto mmap = Decode<Mmap2>(ViewOf(RecordType::kMmap2, payload), kNoTrailer);
    ASSERT_TRUE(mmap) << name;
    EXPECT_EQ(mmap->filename, name);
    EXPECT_EQ(mmap->protection, Mmap2::kProtectionExec);
  }
}

TEST(Mmap2, HasItsFieldsWhereTheKernelHasThem) {
  const Mmap2 mmap{.pid = 1,
                   .tid = 2,
                   .start = 3,
                   .length = 4,
                   .page_offset = 5,
                   .device_major = 6,
                   .device_minor = 7,
                   .inode = 8,
                   .inode_generation = 9,
                   .protection = 10,
                   .flags = 11,
                   .filename = "/bin/ls"};
  const auto bytes = Encoded(mmap, 0, kNoTrailer);
  const auto words = WordsOf(bytes);
  const auto pair = [](std::uint64_t low, std::uint64_t high) { return high << 32 | low; };
  ASSERT_EQ(words.size(), 10U);
  EXPECT_EQ(words[0], std::uint64_t{80} << 48 | 10);  // size and type
  EXPECT_THAT(std::vector(words.begin() + 1, words.end() - 1),
              ElementsAre(pair(1, 2), 3, 4, 5, pair(6, 7), 8, 9, pair(10, 11)));
  EXPECT_EQ(AsText(Bytes(bytes).last(8)), std::string_view("/bin/ls\0", 8));
}

TEST(Mmap2, HasBuildIdInsteadOfInode) {
  const BuildId id = *BuildId::FromHex("00112233");
  const Mmap2 mmap{.build_id = id, .filename = "/bin/ls"};
  const auto bytes = Encoded(mmap, kMiscMmapBuildId);
  const auto decoded = Decode<Mmap2>(OnlyRecordIn(bytes), kFormat);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->build_id, id);
  EXPECT_EQ(decoded->inode, 0U);
  EXPECT_EQ(decoded->filename, "/bin/ls");
}

TEST(Mmap2, LimitsTheBuildIdToItsField) {
  const Mmap2 mmap{.build_id = SomeBuildId(), .filename = "/bin/ls"};
  auto bytes = Encoded(mmap, kMiscMmapBuildId);
  bytes[8 + 32] = std::byte{255};
  const auto decoded = Decode<Mmap2>(OnlyRecordIn(bytes), kFormat);
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->build_id, SomeBuildId());
}

TEST(HeaderBuildId, WasTwentyBytesBeforeItHadASize) {
  const HeaderBuildId entry{-1, *BuildId::FromHex("00112233"), "/bin/ls"};
  const auto bytes = Encoded(entry, MiscOf(CpuMode::kUser));  // no kMiscBuildIdSize
  const auto decoded = Decode<HeaderBuildId>(OnlyRecordIn(bytes), {});
  ASSERT_THAT(decoded, IsOk());
  EXPECT_EQ(decoded->build_id.size, 20);
  EXPECT_TRUE(decoded->build_id.Matches(entry.build_id));
}

TEST(Record, NamesEndAtTheRecordsEndWhereNoNulEndsThem) {
  const auto payload = BigEndianBytes().U32(0).U32(0).Text("abcdefgh", 8).bytes();
  const auto comm = Decode<Comm>(ViewOf(RecordType::kComm, payload), {});
  ASSERT_THAT(comm, IsOk());
  EXPECT_EQ(comm->comm, "abcdefgh");
}

TEST(Record, NamesDoNotRunIntoTheTrailer) {
  // A string of the kernel whose length is a multiple of 8 has a NUL; other writers omit it.
  std::vector<std::byte> payload = BigEndianBytes().U32(0).U32(0).Text("abcdefgh", 8).bytes();
  payload.resize(payload.size() + kFormat.trailer_size(), std::byte{'!'});
  const auto comm = Decode<Comm>(ViewOf(RecordType::kComm, payload), kFormat);
  ASSERT_THAT(comm, IsOk());
  EXPECT_EQ(comm->comm, "abcdefgh");
}

TEST(Record, LargerThanARecordCanBeIsRefusedAndLeavesTheOutputAsItWas) {
  const std::vector<std::uint64_t> links(2 * 4096);
  const Namespaces namespaces{.links = WordArray(links)};
  std::vector<std::byte> out(3);
  EXPECT_THAT(Encode(namespaces, kTrailer, kFormat, 0, out),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("NAMESPACES has 65592 bytes")));
  EXPECT_EQ(out.size(), 3U);
}

TEST(Record, OfABigEndianMachineReadsTheSame) {
  BigEndianBytes payload;
  payload.U32(1).U32(2).U64(0x3000).U64(0x4000).U64(0x5000);
  payload.U32(6).U32(7).U64(8).U64(9).U32(5).U32(2).Text("/bin/ls", 8);
  payload.U32(91).U32(92).U64(93).U32(95).U32(0).U64(94);  // the trailer
  const RecordView view = ViewOf(RecordType::kMmap2, payload.bytes(), 2, std::endian::big);
  const auto mmap = Decode<Mmap2>(view, kFormat);
  ASSERT_THAT(mmap, IsOk());
  EXPECT_EQ(mmap->tid, 2U);
  EXPECT_EQ(mmap->page_offset, 0x5000U);
  EXPECT_EQ(mmap->inode, 8U);
  EXPECT_EQ(mmap->filename, "/bin/ls");
  const SampleId trailer = DecodeSampleId(view, kFormat);
  EXPECT_EQ(trailer.tid, 92U);
  EXPECT_EQ(trailer.time, 93U);
  EXPECT_EQ(trailer.id, 94U);
  EXPECT_EQ(trailer.cpu, 95U);
  EXPECT_EQ(TimeOf(view, kFormat), 93U);
}

TEST(SampleIdTrailer, HasTheFieldsOfTheFormatAndZeros) {
  const SampleFormat format{.sample_type = kTid | kTime | kStreamId, .sample_id_all = true};
  SampleId trailer = kTrailer;
  trailer.stream_id = 96;
  std::vector<std::byte> bytes;
  ASSERT_THAT(Encode(Lost{1, 2}, trailer, format, 0, bytes), IsOk());
  const SampleId decoded = DecodeSampleId(OnlyRecordIn(bytes), format);
  EXPECT_EQ(decoded.pid, 91U);
  EXPECT_EQ(decoded.tid, 92U);
  EXPECT_EQ(decoded.time, 93U);
  EXPECT_EQ(decoded.stream_id, 96U);
  EXPECT_EQ(decoded.id, 0U);
  EXPECT_EQ(decoded.cpu, 0U);
}

TEST(SampleIdTrailer, IsReadFromTheEndWhateverThePaddingOfTheName) {
  for (const std::size_t padding : {0U, 8U, 56U}) {
    BigEndianBytes payload;
    payload.U32(1).U32(1).Text("comm", 8 + padding);
    payload.U32(91).U32(92).U64(93).U32(95).U32(0).U64(94);
    const RecordView view = ViewOf(RecordType::kComm, payload.bytes(), 0, std::endian::big);
    EXPECT_EQ(DecodeSampleId(view, kFormat).tid, 92U) << padding;
    EXPECT_EQ(DecodeSampleId(view, kFormat).id, 94U) << padding;
  }
}

TEST(SampleIdTrailer, IsZeroForToolRecordsAndForShortOnes) {
  const std::vector<std::byte> payload(kFormat.trailer_size(), std::byte{0xff});
  const auto time_in = [&](RecordType type, Bytes bytes) {
    return DecodeSampleId(ViewOf(type, bytes), kFormat).time;
  };
  EXPECT_NE(time_in(RecordType::kSwitch, payload), 0U);
  EXPECT_EQ(time_in(RecordType::kThreadMap, payload), 0U);
  EXPECT_EQ(time_in(RecordType::kSwitch, Bytes(payload).subspan(1)), 0U);
}

TEST(TimeOf, AgreesWithTheTrailerForEveryCombinationOfItsFields) {
  const std::array<SampleBit, 7> bits = {kTid, kTime, kId, kStreamId, kCpu, kIdentifier, kPeriod};
  for (unsigned chosen = 0; chosen < 1U << bits.size(); ++chosen) {
    SampleFormat format{.sample_type = kIp, .sample_id_all = true};
    for (unsigned i = 0; i < bits.size(); ++i) {
      if ((chosen >> i & 1) != 0) format.sample_type |= bits[i];
    }
    const auto bytes = Encoded(Comm{1, 2, "comm"}, 0, format);
    const RecordView view = OnlyRecordIn(bytes);
    EXPECT_EQ(TimeOf(view, format), DecodeSampleId(view, format).time) << chosen;
    EXPECT_EQ(TimeOf(view, format), format.Has(kTime) ? 93U : 0U) << chosen;
  }
}

TEST(TimeOf, IsZeroIfNoTimeIsRecorded) {
  const auto bytes = Encoded(Comm{1, 2, "comm"}, 0, kNoTrailer);
  EXPECT_EQ(TimeOf(OnlyRecordIn(bytes), kNoTrailer), 0U);
  EXPECT_EQ(TimeOf(ViewOf(RecordType::kFinishedRound, {}), kFormat), 0U);
  EXPECT_EQ(TimeOf(ViewOf(RecordType::kExit, {}), kFormat), 0U);    // too short
  EXPECT_EQ(TimeOf(ViewOf(RecordType::kSample, {}), kFormat), 0U);  // too short
}

TEST(AsRecord, TakesExactlyOneRecord) {
  const auto bytes = Encoded(Comm{1, 2, "comm"}, 7, kNoTrailer);
  const std::optional<RecordView> record = AsRecord(bytes);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->type, RecordType::kComm);
  EXPECT_EQ(record->misc, 7U);
  EXPECT_EQ(Decode<Comm>(*record, kNoTrailer)->comm, "comm");
  EXPECT_FALSE(AsRecord({}));
  EXPECT_FALSE(AsRecord(Bytes(bytes).first(7)));
  EXPECT_FALSE(AsRecord(Bytes(bytes).first(bytes.size() - 1)));
  auto longer = bytes;
  longer.push_back({});
  EXPECT_FALSE(AsRecord(longer));
}

TEST(RecordName, IsPerfsOrTheNumber) {
  EXPECT_EQ(RecordName(RecordType::kMmap2), "MMAP2");
  EXPECT_EQ(RecordName(RecordType::kSchedstatDomain), "SCHEDSTAT_DOMAIN");
  EXPECT_EQ(RecordName(static_cast<RecordType>(99)), "type 99");
  EXPECT_EQ(RecordName(static_cast<RecordType>(32768)), "type 32768");
  EXPECT_EQ(RecordName(static_cast<RecordType>(32769)), "SIMPLEPERF_KERNEL_SYMBOL");
  EXPECT_EQ(RecordName(static_cast<RecordType>(32775)), "SIMPLEPERF_CALLCHAIN");
  EXPECT_EQ(RecordName(static_cast<RecordType>(32778)), "SIMPLEPERF_DEBUG");
  EXPECT_EQ(RecordName(static_cast<RecordType>(32779)), "type 32779");
  EXPECT_FALSE(IsKnown(static_cast<RecordType>(32769)));  // perf has none of these
}

TEST(RecordName, IsANumberOnlyForUnknownTypes) {
  for (std::uint32_t number = 0; number < 200; ++number) {
    const auto type = static_cast<RecordType>(number);
    EXPECT_EQ(IsKnown(type), !RecordName(type).starts_with("type ")) << number;
  }
}

}  // namespace
}  // namespace perftape::perfdata
