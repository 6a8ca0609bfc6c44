// SPDX-License-Identifier: Apache-2.0
#include "convert/rewrite/normalize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "tests/support/bytes_input.h"
#include "tests/support/mapped_file.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::rewrite {
namespace {

using perfdata::Container;
using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using perfdata::Reader;
using perfdata::RecordType;
using perfdata::RecordView;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Pair;

constexpr perfdata::Ksymbol kSymbol = {.address = 0x1000, .length = 16, .name = "bpf_prog"};

// Returns a recording of a process, its mapping, three samples, and a round between them.
PerfDataBuilder SmallRecording(Container container = Container::kFile) {
  PerfDataBuilder file(container);
  file.AddEvent({.name = "cycles"});
  file.AddFeature(FeatureBit::kHostname, perfdata::TextFeature{"builder"});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  file.AddComm({.pid = 7, .tid = 7, .comm = "app", .time = 1});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/bin/app", .time = 2});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 10});
  file.AddRound();
  file.AddSample({.ip = 0x400020, .pid = 7, .tid = 7, .time = 20});
  file.AddSample({.ip = 0x400030, .pid = 7, .tid = 7, .time = 30});
  return file;
}

class Normalized : public testing::Test {
 protected:
  Result<NormalizeReport> Run(const std::vector<std::byte>& bytes,
                              const NormalizeOptions& options = {}) {
    BytesInput input(bytes);
    return Normalize(input, output_, options);
  }

  // Opens the output. Valid until the next call.
  const Reader& Output() {
    file_.emplace(MapFile(output_).value());
    reader_.emplace(Reader::FromBytes(file_->bytes()).value());
    return *reader_;
  }

  // Returns type and payload of each record, without COMPRESSED ones and those of a pipe's head.
  static std::vector<std::string> RecordsOf(const Reader& reader) {
    std::vector<std::string> all;
    perfdata::RecordCursor cursor = reader.records();
    while (const std::optional<RecordView> record = cursor.Next().value()) {
      switch (record->type) {
        case RecordType::kCompressed:
        case RecordType::kHeaderAttr:
        case RecordType::kHeaderFeature:
        case RecordType::kEventUpdate:
          continue;
        default:
          all.push_back(RecordName(record->type) + ' ' + std::string(AsText(record->payload)));
      }
    }
    return all;
  }

  TempDir directory_;
  std::filesystem::path output_ = directory_.path() / "out.data";
  std::optional<MappedFile> file_;
  std::optional<Reader> reader_;
};

TEST_F(Normalized, FileKeepsItsRecordsAndFeatures) {
  PerfDataBuilder file = SmallRecording();
  const auto report = Run(file.Build());
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->is_whole());
  EXPECT_EQ(report->samples(), 3U);
  EXPECT_EQ(report->records(), 6U);
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));
  EXPECT_EQ(Output().text(FeatureBit::kHostname), "builder");
  EXPECT_EQ(Output().events()[0].name, "cycles");
}

TEST_F(Normalized, FileBecomesAPipeAndAFileAgain) {
  PerfDataBuilder file = SmallRecording();
  ASSERT_THAT(Run(file.Build(), {.container = Container::kPipe}), IsOk());
  EXPECT_EQ(Output().container(), Container::kPipe);
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));

  const Bytes pipe = Output().file();
  const std::vector<std::byte> bytes(pipe.begin(), pipe.end());
  ASSERT_THAT(Run(bytes), IsOk());
  EXPECT_EQ(Output().container(), Container::kFile);
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));
  EXPECT_EQ(Output().text(FeatureBit::kHostname), "builder");
  EXPECT_EQ(Output().events()[0].name, "cycles");
}

TEST_F(Normalized, RecordsAreCompressedAndExpandedAgain) {
  PerfDataBuilder file = SmallRecording();
  ASSERT_THAT(Run(file.Build(), {.compression_level = 1}), IsOk());
  EXPECT_TRUE(Output().feature(FeatureBit::kCompressed));
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));

  const Bytes compressed = Output().file();
  const std::vector<std::byte> bytes(compressed.begin(), compressed.end());
  ASSERT_THAT(Run(bytes), IsOk());
  EXPECT_FALSE(Output().feature(FeatureBit::kCompressed));
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));
}

// As on a machine that does not report the name of its CPU.
TEST_F(Normalized, AFeatureWithoutContentsIsLeftOutAndNothingIsLost) {
  PerfDataBuilder builder = SmallRecording();
  builder.AddFeature(FeatureBit::kCpuDesc, perfdata::RawFeature{});
  const auto report = Run(builder.Build());
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->is_whole());
}

TEST_F(Normalized, FeaturesAmongTheRecordsOfAFileDoNotBecomeThoseOfAPipe) {
  PerfDataBuilder file = SmallRecording();
  std::vector<std::byte> section;
  EncodeFeature(perfdata::TextFeature{"elsewhere"}, section);
  file.Add(perfdata::HeaderFeature{std::to_underlying(FeatureBit::kHostname), section});
  ASSERT_THAT(Run(file.Build(), {.container = Container::kPipe}), IsOk());
  EXPECT_EQ(Output().text(FeatureBit::kHostname), "builder");
}

TEST_F(Normalized, BuildIdsGoThroughAPipeAsRecords) {
  PerfDataBuilder file = SmallRecording();
  file.AddFeature(FeatureBit::kBuildId,
                  perfdata::BuildIds{{{.build_id = *BuildId::FromHex("00112233445566778899"
                                                                     "00112233445566778899"),
                                       .filename = "/bin/app"}}});
  ASSERT_THAT(Run(file.Build(), {.container = Container::kPipe}), IsOk());
  EXPECT_FALSE(Output().feature(FeatureBit::kBuildId));
  const Bytes pipe = Output().file();
  const std::vector<std::byte> bytes(pipe.begin(), pipe.end());
  const auto back = Run(bytes);
  ASSERT_THAT(back, IsOk());
  EXPECT_THAT(back->moved, testing::Contains(Pair(RecordType::kHeaderBuildId, 1)));
  const auto value = Output().DecodedFeature(FeatureBit::kBuildId);
  ASSERT_TRUE(value);
  EXPECT_EQ(std::get<perfdata::BuildIds>(*value).entries.at(0).filename, "/bin/app");
}

TEST_F(Normalized, AddsBuildIdsToThoseOfTheInput) {
  PerfDataBuilder file = SmallRecording();
  constexpr BuildId kRecorded = {.bytes = {1}, .size = 20}, kAdded = {.bytes = {2}, .size = 20};
  file.AddFeature(FeatureBit::kBuildId,
                  perfdata::BuildIds{{{.build_id = kRecorded, .filename = "/bin/old"}}});
  const NormalizeOptions options = {.build_ids = {{.build_id = kAdded, .filename = "/bin/app"}}};
  ASSERT_THAT(Run(file.Build(), options), IsOk());
  const auto value = Output().DecodedFeature(FeatureBit::kBuildId);
  ASSERT_TRUE(value);
  const auto& entries = std::get<perfdata::BuildIds>(*value).entries;
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].filename, "/bin/old");
  EXPECT_EQ(entries[1].build_id, kAdded);
}

TEST_F(Normalized, AddsBuildIdsToAPipeAsRecords) {
  constexpr BuildId kAdded = {.bytes = {2}, .size = 20};
  const NormalizeOptions options = {.container = Container::kPipe,
                                    .build_ids = {{.build_id = kAdded, .filename = "/bin/app"}}};
  ASSERT_THAT(Run(SmallRecording(Container::kPipe).Build(), options), IsOk());
  EXPECT_THAT(RecordsOf(Output()).front(), testing::StartsWith("BUILD_ID "));
}

TEST_F(Normalized, DropsAndCountsRecordsUnknownToTheReader) {
  PerfDataBuilder file = SmallRecording();
  file.Add(perfdata::CallchainDeferred{.cookie = 1});
  file.AddHeaderOnly({.type = RecordType::kBpfMetadata});
  file.AddHeaderOnly({.type = RecordType{200}});
  file.AddFeature(FeatureBit::kEMachine, perfdata::RawFeature{std::vector<std::byte>(8)});
  const auto report = Run(file.Build(), {.reader = FindReaderLimits("6.1")});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->is_whole()) << "asked for";
  EXPECT_THAT(report->left_out,
              ElementsAre(Pair(RecordType::kCallchainDeferred, 1),
                          Pair(RecordType::kBpfMetadata, 1), Pair(RecordType{200}, 1)));
  EXPECT_EQ(RecordsOf(Output()).size(), 6U);
  EXPECT_FALSE(Output().feature(FeatureBit::kEMachine));
}

// A recording of Linux 6.19 with user frames in records of their own.
PerfDataBuilder DeferredRecording() {
  using namespace perfdata;
  PerfDataBuilder file;
  file.AddEvent({.flags = kSampleIdAll | kDeferCallchain | kDeferOutput});
  for (const std::uint32_t tid : {7U, 8U}) {
    const std::vector<std::uint64_t> user = {kContextUser, 0x400000 + tid};
    file.AddSample({.tid = tid, .time = 10, .callchain = {kContextUserDeferred, 0xc1}});
    file.Add(CallchainDeferred{.cookie = 0xc1, .callchain = WordArray(user)},
             {.tid = tid, .time = 20, .id = 101});
  }
  return file;
}

TEST_F(Normalized, HasDeferredCallchainsInTheSamplesForOlderReaders) {
  const auto report = Run(DeferredRecording().Build(), {.reader = FindReaderLimits("6.1")});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->is_whole());
  EXPECT_THAT(report->moved, ElementsAre(Pair(RecordType::kCallchainDeferred, 2)));
  const Reader& output = Output();
  EXPECT_FALSE(output.events()[0].attr.Has(perfdata::kDeferCallchain));
  std::uint64_t leaf = 0x400007;
  for (auto cursor = output.records(); cursor.Step();) {
    const auto sample = perfdata::DecodeSample(cursor.record(), output.events()[0].format);
    EXPECT_THAT(std::vector(sample->callchain.begin(), sample->callchain.end()),
                ElementsAre(perfdata::kContextUser, leaf++));
  }
}

TEST_F(Normalized, HasNoCallchainsOfFilteredSamples) {
  const std::vector<bool> kept = {false, true};
  const auto report = Run(DeferredRecording().Build(), {.kept_samples = &kept});
  ASSERT_THAT(report, IsOk());
  const Reader& output = Output();
  auto cursor = output.records();
  ASSERT_TRUE(cursor.Step());
  const auto sample = perfdata::DecodeSample(cursor.record(), output.events()[0].format);
  EXPECT_EQ(sample->callchain[1], 0x400008U);
  EXPECT_FALSE(cursor.Step());
}

TEST_F(Normalized, CopiesDeferredCallchainsOtherwise) {
  PerfDataBuilder file = DeferredRecording();
  ASSERT_THAT(Run(file.Build()), IsOk());
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));
}

TEST_F(Normalized, HasOffCpuSamplesInTheUsualFieldsForOlderReaders) {
  using namespace perfdata;
  PerfDataBuilder file;
  file.AddEvent({.name = "offcpu-time",
                 .config = kSoftwareBpfOutput,
                 .sample_type = kIdentifier | kIp | kTid | kTime | kPeriod | kRaw});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  // { u32 pid, tid; u64 period, nr, ips[2], cgroup; } and the padding of RAW
  std::vector<std::byte> raw;
  ByteWriter at(raw);
  for (const std::uint64_t word : {std::uint64_t{8} << 32 | 7, std::uint64_t{600}, std::uint64_t{2},
                                   kContextUser, std::uint64_t{0x400010}, std::uint64_t{0}}) {
    at.Fixed(word);
  }
  at.Padding(4);
  file.AddSample({.pid = 1, .tid = 1, .time = 30, .raw = raw});
  ASSERT_THAT(Run(file.Build(), {.reader = FindReaderLimits("6.1")}), IsOk());
  const Reader& output = Output();
  const Event& event = output.events()[0];
  EXPECT_FALSE(event.format.Has(kRaw));
  auto cursor = output.records();
  ASSERT_TRUE(cursor.Step());
  const auto sample = DecodeSample(cursor.record(), event.format);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->tid, 8U);
  EXPECT_EQ(sample->period, 600U);
  EXPECT_THAT(std::vector(sample->callchain.begin(), sample->callchain.end()),
              ElementsAre(kContextUser, 0x400010));
}

TEST_F(Normalized, KeepsUnknownRecordsWithoutATargetReader) {
  PerfDataBuilder file = SmallRecording();
  file.AddHeaderOnly({.type = RecordType{200}});
  const auto report = Run(file.Build());
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->left_out, IsEmpty());
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));
}

TEST_F(Normalized, LimitsAttributesToTheReadersSize) {
  PerfDataBuilder file;
  file.AddEvent({.attr_size = 144});
  file.AddSample({.ip = 1, .time = 1});
  ASSERT_THAT(Run(file.Build(), {.reader = FindReaderLimits("6.1")}), IsOk());
  EXPECT_EQ(Output().events()[0].attr.size, 128U);
  ASSERT_THAT(Run(file.Build(), {.reader = FindReaderLimits("6.12")}), IsOk());
  EXPECT_EQ(Output().events()[0].attr.size, 136U);
  ASSERT_THAT(Run(file.Build()), IsOk());
  EXPECT_EQ(Output().events()[0].attr.size, 144U);
}

TEST_F(Normalized, ReportsDamageAndWritesAllBeforeIt) {
  std::vector<std::byte> bytes = SmallRecording(Container::kPipe).Build();
  bytes.resize(bytes.size() - 10);
  const auto report = Run(bytes);
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->is_whole());
  ASSERT_TRUE(report->damage);
  EXPECT_EQ(report->samples(), 2U);
  EXPECT_EQ(RecordsOf(Output()).size(), 5U);
}

// No reader reads these, and perf stops at them.
TEST_F(Normalized, DropsAndReportsTruncatedRecords) {
  PerfDataBuilder file = SmallRecording();
  std::vector<std::byte> record;
  perfdata::Sample sample{.ip = 1, .pid = 7, .tid = 7, .time = 40};
  ASSERT_THAT(EncodeSample(sample, file.format(0), 2, record), IsOk());
  record[record.size() - 8] = std::byte{5};  // frames of its chain, which is empty
  file.AddRaw(record);
  file.AddHeaderOnly({.type = RecordType::kComm, .size = 8});
  file.AddSample({.ip = 0x400040, .pid = 7, .tid = 7, .time = 50});
  for (const Container container : {Container::kFile, Container::kPipe}) {
    const auto report = Run(file.Build(), {.container = container});
    ASSERT_THAT(report, IsOk());
    EXPECT_FALSE(report->is_whole());
    EXPECT_THAT(report->lost,
                ElementsAre(Pair(RecordType::kComm, 1), Pair(RecordType::kSample, 1)));
    ASSERT_EQ(report->dropped.size(), 2U);
    EXPECT_THAT(report->dropped[0].reason, MatchesRegex("record at 0x[0-9a-f]+: SAMPLE of .*: "
                                                        "fewer than its fields need"));
    EXPECT_EQ(report->dropped[0].size, record.size());
    EXPECT_EQ(report->samples(), 4U);
    EXPECT_EQ(RecordsOf(Output()).size(), 7U);
  }
}

// Without an event, the format of its time, process and frames is unknown.
TEST_F(Normalized, DropsASampleOfNoEvent) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {101}});
  file.AddEvent({.ids = {201}});
  file.AddSample({.ip = 1, .pid = 7, .time = 1});
  std::vector<std::byte> record;
  const perfdata::Sample stranger{.id = 999, .ip = 1, .pid = 7, .time = 2};
  ASSERT_THAT(EncodeSample(stranger, file.format(0), 2, record), IsOk());
  file.AddRaw(record);
  const auto report = Run(file.Build());
  ASSERT_THAT(report, IsOk());
  ASSERT_EQ(report->dropped.size(), 1U);
  EXPECT_THAT(report->dropped[0].reason, HasSubstr("no event has its id"));
  EXPECT_EQ(report->samples(), 1U);
}

// Its fields are the same for every event, as perf reads it.
TEST_F(Normalized, KeepsARecordOfNoEventThatIsNoSample) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {101}});
  file.AddEvent({.ids = {201}});
  file.Add(perfdata::Comm{.pid = 7, .tid = 7, .comm = "app"}, {.id = 999});
  const auto report = Run(file.Build());
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->is_whole());
  EXPECT_EQ(report->records(), 1U);
}

// A filter keeps neither, because it needs readable fields.
TEST_F(Normalized, CountsADamagedSampleDespiteTheFilter) {
  PerfDataBuilder file = SmallRecording();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 8});
  const std::vector<bool> kept = {true, false, false, false};
  const auto report = Run(file.Build(), {.kept_samples = &kept});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->samples(), 1U);
  EXPECT_EQ(report->filtered_samples, 2U);
  EXPECT_THAT(report->lost, ElementsAre(Pair(RecordType::kSample, 1)));
}

TEST_F(Normalized, FileDoesNotGoToStdout) {
  const std::vector<std::byte> bytes = SmallRecording().Build();
  BytesInput input(bytes);
  EXPECT_THAT(Normalize(input, "-", {}), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(Normalized, LeavesNoFileIfTheDiskIsFull) {
  PerfDataBuilder file = SmallRecording();
  for (int i = 0; i < 1000; ++i) file.AddKsymbol(kSymbol);
  BytesInput input(file.Build());
  // A limit of the file size makes writes fail, as a full disk does.
  const rlimit before = [] {
    rlimit limit = {};
    getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto report = Normalize(input, output_, {});
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(report, FailsWith(ErrorCode::kIo));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(Normalized, ReplacesCopiesOfStacksByCallchains) {
  PerfDataBuilder file;
  file.AddEvent({.name = "cycles",
                 .sample_type = perfdata::kIp | perfdata::kTid | perfdata::kTime |
                                perfdata::kRegsUser | perfdata::kStackUser,
                 .flags = perfdata::kSampleIdAll | perfdata::kExcludeCallchainUser});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 10});
  file.AddSample({.ip = 0x400020, .pid = 7, .tid = 7, .time = 20});
  const std::vector<std::uint64_t> chain = {perfdata::kContextUser, 0x400010, 0x400100};
  int calls = 0;
  NormalizeOptions options;
  options.next_chain = [&]() -> NewChain {
    if (++calls == 1) return chain;
    return std::nullopt;  // the second sample keeps its own callchain, which is empty
  };
  ASSERT_THAT(Run(file.Build(), options), IsOk());

  const Result<MappedFile> written = MapFile(output_);
  ASSERT_THAT(written, IsOk());
  const Reader reader = Reader::FromBytes(written->bytes()).value();
  const perfdata::Event& event = reader.events()[0];
  EXPECT_EQ(event.attr.sample_type,
            perfdata::kIp | perfdata::kTid | perfdata::kTime | perfdata::kCallchain);
  EXPECT_FALSE(event.attr.Has(perfdata::kExcludeCallchainUser));
  std::vector<std::vector<std::uint64_t>> chains;
  perfdata::RecordCursor cursor = reader.records();
  while (cursor.Step()) {
    const auto sample = perfdata::DecodeSample(cursor.record(), event.format);
    ASSERT_THAT(sample, IsOk());
    chains.emplace_back(sample->callchain.begin(), sample->callchain.end());
  }
  EXPECT_THAT(chains, ElementsAre(chain, IsEmpty()));
}

}  // namespace
}  // namespace perftape::rewrite
