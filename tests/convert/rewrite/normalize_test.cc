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
using testing::IsEmpty;
using testing::Pair;

constexpr perfdata::Ksymbol kSymbol = {.address = 0x1000, .length = 16, .name = "bpf_prog"};

// A process, its mapping, three samples, and a round between them.
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
    Input input = Input::FromBytes(bytes);
    return Normalize(input, output_, options);
  }

  // What was written, opened. Valid until the next call.
  const Reader& Output() {
    file_.emplace(MappedFile::Open(output_).value());
    reader_.emplace(Reader::FromBytes(file_->bytes()).value());
    return *reader_;
  }

  // Type and payload of each record, but COMPRESSED ones and what a pipe has as its head.
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

TEST_F(Normalized, LeavesOutAndCountsWhatTheReaderDoesNotKnow) {
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

TEST_F(Normalized, KeepsWhatNobodyKnowsWhereNoReaderIsNamed) {
  PerfDataBuilder file = SmallRecording();
  file.AddHeaderOnly({.type = RecordType{200}});
  const auto report = Run(file.Build());
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->left_out, IsEmpty());
  EXPECT_EQ(RecordsOf(Output()), RecordsOf(file.Open()));
}

TEST_F(Normalized, AttributesAreNoLargerThanTheReaderTakes) {
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

TEST_F(Normalized, DamageIsToldAndWhatStandsBeforeItIsWritten) {
  std::vector<std::byte> bytes = SmallRecording(Container::kPipe).Build();
  bytes.resize(bytes.size() - 10);
  const auto report = Run(bytes);
  ASSERT_THAT(report, IsOk());
  EXPECT_FALSE(report->is_whole());
  ASSERT_TRUE(report->damage);
  EXPECT_EQ(report->samples(), 2U);
  EXPECT_EQ(RecordsOf(Output()).size(), 5U);
}

TEST_F(Normalized, FileDoesNotGoToStdout) {
  Input input = Input::FromBytes({});
  EXPECT_THAT(Normalize(input, "-", {}), FailsWith(ErrorCode::kInvalidArgument));
}

TEST_F(Normalized, NothingHasTheNameWhereTheDiskIsFull) {
  PerfDataBuilder file = SmallRecording();
  for (int i = 0; i < 1000; ++i) file.AddKsymbol(kSymbol);
  const std::vector<std::byte> bytes = file.Build();
  // What a full disk does to a write, a limit does as well.
  const rlimit before = [] {
    rlimit limit = {};
    getrlimit(RLIMIT_FSIZE, &limit);
    return limit;
  }();
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 4096, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto report = Run(bytes);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(report, FailsWith(ErrorCode::kIo));
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

}  // namespace
}  // namespace perftape::rewrite
