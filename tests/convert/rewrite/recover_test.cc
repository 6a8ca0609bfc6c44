// SPDX-License-Identifier: Apache-2.0
// Each test damages a built file in one way and checks what is recovered.
#include "convert/rewrite/recover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/file_parts.h"
#include "tests/convert/rewrite/recovered.h"
#include "tests/support/compressed.h"
#include "tests/support/excess.h"
#include "tests/support/mapped_file.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/support/tracing_data.h"

namespace perftape::rewrite {
namespace {

using perfdata::Container;
using perfdata::FeatureBit;
using perfdata::PerfDataBuilder;
using perfdata::Reader;
using perfdata::RecordType;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Offsets in a file's header.
constexpr std::size_t kHeaderSizeAt = 8, kAttrSizeAt = 16, kAttrsAt = 24, kAttrsSizeAt = 32,
                      kDataAt = 40, kDataSizeAt = 48;

void Put(std::vector<std::byte>& file, std::size_t at, std::uint64_t word) {
  std::memcpy(file.data() + at, &word, sizeof word);
}

std::uint64_t Get(Bytes file, std::size_t at) {
  return LoadFixed<std::uint64_t>(file.data() + at, std::endian::native);
}

class RecoverTest : public testing::Test {
 protected:
  // Recovers `file` and opens the result.
  void Run(Bytes file) {
    report_ = Recover(file, path_);
    if (!report_) return;
    output_.emplace(MapFile(path_).value());
    reader_.emplace(Reader::FromBytes(output_->bytes()).value());
    EXPECT_THAT(reader_->problems(), IsEmpty());
  }

  Records records() const {
    const auto all = Bytes(output_->bytes()).subspan(reader_->data_offset(), reader_->data_size());
    return RecordsOf(all);
  }

  // Expects that the result contains exactly these records.
  void ExpectRecords(Bytes expected) const {
    ASSERT_THAT(report_, IsOk());
    EXPECT_EQ(records(), RecordsOf(expected));
  }

  TempDir dir_;
  std::filesystem::path path_ = dir_ / "out.data";
  Result<RecoverReport> report_ = Fail(ErrorCode::kNotFound, "not run");
  std::optional<MappedFile> output_;
  std::optional<Reader> reader_;
};

TEST_F(RecoverTest, CopiesAGoodFileWithoutLoss) {
  const PerfDataBuilder builder = SmallRecording();
  Run(builder.Build());
  ExpectRecords(builder.records());
  EXPECT_TRUE(report_->is_whole());
  EXPECT_EQ(report_->samples(), 24U);
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "builder");
  EXPECT_THAT(reader_->events()[1].ids, ElementsAre(201, 202));
}

TEST_F(RecoverTest, MakesAFileOfAPipe) {
  const PerfDataBuilder builder = SmallRecording(Container::kPipe);
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_TRUE(report_->is_whole());
  EXPECT_EQ(report_->attributes_from, AttributesFrom::kRecords);
  EXPECT_EQ(reader_->container(), Container::kFile);
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "builder");
  EXPECT_EQ(reader_->events()[1].name, "faults");
  EXPECT_EQ(report_->moved.at(RecordType::kHeaderAttr), 2U);
  EXPECT_EQ(report_->samples(), 24U);
}

TEST_F(RecoverTest, FindsTheEndOfTheRecordsWhereDataSizeIs0) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  Put(file, kDataSizeAt, 0);
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_FALSE(report_->is_whole());
  EXPECT_THAT(report_->corrections, Contains(HasSubstr("at 0x30: data size is 0")));
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "builder");
}

// perf was killed: the bits of the features are set, but the features are missing.
TEST_F(RecoverTest, KeepsAllRecordsOfAKilledRecording) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  const std::size_t end = Get(file, kDataAt) + builder.records().size();
  file.resize(end);
  Put(file, kDataSizeAt, 0);
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_THAT(report_->features, Contains(Field(&FeatureOutcome::fate, FeatureFate::kDropped)));
  ASSERT_TRUE(reader_->feature(FeatureBit::kEventDesc));
}

TEST_F(RecoverTest, IgnoresADataSizeThatIsTooSmall) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  Put(file, kDataSizeAt, 100);
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "builder");
}

TEST_F(RecoverTest, IgnoresADataSizeThatReachesIntoTheFeatureTable) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  Put(file, kDataSizeAt, builder.records().size() + 24);
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "builder");
}

TEST_F(RecoverTest, IgnoresADataSizeThatIsHuge) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  Put(file, kDataSizeAt, std::uint64_t{1} << 62);
  Run(file);
  ExpectRecords(builder.records());
}

TEST_F(RecoverTest, KeepsRecordsBehindTheLastCommit) {
  PerfDataBuilder builder;
  builder.AddEvent();
  AddRecords(builder);
  std::vector<std::byte> file = builder.Build();
  const std::size_t size = RecordsOf(builder.records()).front().size();
  std::fill_n(file.begin() + 72, 32, std::byte{0});  // the recorder sets the bits last
  file.resize(Get(file, kDataAt) + builder.records().size());
  Put(file, kDataSizeAt, size);
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_THAT(report_->corrections, ElementsAre(HasSubstr("more records follow")));
}

TEST_F(RecoverTest, SkipsAFeatureTableOfGarbage) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  const std::size_t table = Get(file, kDataAt) + builder.records().size();
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(table), 48, std::byte{0xa5});
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_FALSE(report_->is_whole());
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "");
}

TEST_F(RecoverTest, DropsAFeatureWhosePayloadIsCut) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  file.resize(file.size() - 8);  // CMDLINE is the last
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_THAT(report_->features, Contains(Field(&FeatureOutcome::bit, FeatureBit::kCmdline)));
  EXPECT_FALSE(reader_->feature(FeatureBit::kCmdline));
  EXPECT_EQ(reader_->text(FeatureBit::kHostname), "builder");
}

TEST_F(RecoverTest, DropsAFeatureThatDoesNotRead) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  const std::size_t table = Get(file, kDataAt) + builder.records().size();
  const std::size_t hostname = Get(file, table);
  file[hostname] = std::byte{0xff};  // the length of its text
  file[hostname + 1] = std::byte{0xff};
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_FALSE(reader_->feature(FeatureBit::kHostname));
  EXPECT_TRUE(reader_->feature(FeatureBit::kCmdline));
}

TEST_F(RecoverTest, FindsTheAttributesWhereTheirOffsetIsWrong) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  Put(file, kAttrsAt, file.size() + 8);
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_EQ(report_->attributes_from, AttributesFrom::kTable);
  EXPECT_THAT(reader_->events()[1].ids, ElementsAre(201, 202));
}

TEST_F(RecoverTest, FindsTheAttributesWhereTheirSizesAreWrong) {
  const PerfDataBuilder builder = SmallRecording();
  for (const auto& [at, value] :
       {std::pair{kAttrSizeAt, std::uint64_t{0}}, std::pair{kAttrSizeAt, std::uint64_t{1} << 40},
        std::pair{kAttrsSizeAt, std::uint64_t{0}}, std::pair{kAttrsSizeAt, std::uint64_t{1} << 60},
        std::pair{kHeaderSizeAt, std::uint64_t{96}}, std::pair{kHeaderSizeAt, std::uint64_t{16}}}) {
    std::vector<std::byte> file = builder.Build();
    Put(file, at, value);
    Run(file);
    ExpectRecords(builder.records());
    EXPECT_FALSE(report_->is_whole()) << at;
  }
}

TEST_F(RecoverTest, FindsTheRecordsWhereTheirOffsetIsWrong) {
  const PerfDataBuilder builder = SmallRecording();
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1} << 50}) {
    std::vector<std::byte> file = builder.Build();
    Put(file, kDataAt, offset);
    Run(file);
    ExpectRecords(builder.records());
    EXPECT_THAT(report_->corrections, Contains(HasSubstr("at 0x28")));
  }
}

TEST_F(RecoverTest, UsesEventDescIfAttributesAreDestroyed) {
  PerfDataBuilder builder = SmallRecording();
  perfdata::EventDesc description;
  const Reader good = builder.Open();
  description.events.assign(good.events().all().begin(), good.events().all().end());
  description.events[1].name = "faults";
  builder.AddFeature(FeatureBit::kEventDesc, description);
  std::vector<std::byte> file = builder.Build();
  const std::size_t attrs = Get(file, kAttrsAt);
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(attrs), Get(file, kAttrsSizeAt),
              std::byte{0});
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_EQ(report_->attributes_from, AttributesFrom::kEventDesc);
  EXPECT_EQ(reader_->events()[1].name, "faults");
}

TEST_F(RecoverTest, UsesAttributesOfRecordsAsLastResort) {
  PerfDataBuilder pipe = SmallRecording(Container::kPipe);
  const std::vector<std::byte> stream = pipe.Build();
  PerfDataBuilder builder;
  builder.AddRaw(Bytes(stream).subspan(16));
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->attributes_from, AttributesFrom::kRecords);
  EXPECT_EQ(report_->samples(), 24U);
  EXPECT_THAT(report_->corrections, Contains(HasSubstr("ATTR records")));
}

TEST_F(RecoverTest, ReportsThatNoAttributeIsLeft) {
  PerfDataBuilder builder;
  builder.AddRound();
  Run(builder.Build());
  EXPECT_THAT(report_, FailsWith(ErrorCode::kCorrupt, HasSubstr("no attribute was found")));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(RecoverTest, FailsWhereTheFileEndsInItsHeader) {
  const std::vector<std::byte> file = SmallRecording().Build();
  for (const std::size_t cut : {0U, 7U, 8U, 15U, 16U, 50U, 103U}) {
    Run(Bytes(file).first(cut));
    EXPECT_THAT(report_, FailsWith(ErrorCode::kTruncated)) << cut;
  }
}

TEST_F(RecoverTest, FailsWhereTheFileEndsInItsAttributes) {
  const std::vector<std::byte> file = SmallRecording().Build();
  Run(Bytes(file).first(Get(file, kAttrsAt) + 140));
  EXPECT_THAT(report_, FailsWith(ErrorCode::kCorrupt, HasSubstr("0x28")));
}

TEST_F(RecoverTest, TrustsTheHeaderOverADamagedMagic) {
  const PerfDataBuilder builder = SmallRecording();
  std::vector<std::byte> file = builder.Build();
  file[0] = std::byte{'Q'};
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_THAT(report_->corrections, ElementsAre(HasSubstr("at 0x0: the magic")));
}

TEST_F(RecoverTest, RejectsText) {
  Run(
      AsBytes("This is no perf.data, whatever one may do to it. "
              "This is no perf.data, whatever one may do to it. "
              "This is no perf.data, whatever one may do to it."));
  EXPECT_THAT(report_, FailsWith(ErrorCode::kCorrupt, HasSubstr("not a perf.data file")));
}

TEST_F(RecoverTest, ReportsTextBehindAPipe) {
  const PerfDataBuilder builder = SmallRecording(Container::kPipe);
  std::vector<std::byte> file = builder.Build();
  const std::string_view text = "[ perf record: Woken up 1 times to write data ]\n";
  const std::size_t end = file.size();
  file.insert(file.end(), AsBytes(text).begin(), AsBytes(text).end());
  Run(file);
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->samples(), 24U);
  ASSERT_THAT(report_->dropped, SizeIs(1));
  EXPECT_EQ(report_->dropped[0].position.offset, end);
  EXPECT_EQ(report_->dropped[0].size, text.size());
}

TEST_F(RecoverTest, FindsTheRecordsBehindATextInTheMiddleOfAPipe) {
  PerfDataBuilder builder(Container::kPipe);
  builder.AddEvent();
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  const std::string_view text = "warning: lost a little\n";
  builder.AddRaw(AsBytes(text));
  for (std::uint64_t i = 0; i < 5; ++i) builder.AddSample({.ip = i, .pid = 7, .time = 1001 + i});
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->samples(), 6U);
  EXPECT_EQ(report_->dropped_bytes, text.size());
}

// As the kernel writes records of BPF programs if several events listen.
TEST_F(RecoverTest, GivesRecordsTheirTrueSizeThatCountBytesBehindTheirTrailer) {
  const perfdata::Ksymbol symbol = {.address = 1, .length = 8, .symbol_type = 1, .name = "f"};
  const perfdata::BpfEvent load = {.event_type = 1, .id = 77};
  const auto recording = [&](std::size_t excess) {
    PerfDataBuilder builder = SmallRecording();
    for (std::uint64_t i = 0; i < 5; ++i) {
      const perfdata::SampleId trailer = {.pid = 7, .tid = 7, .time = 8050 + i, .id = 201};
      builder.AddRaw(RecordWithExcess(symbol, trailer, builder.format(0), i * excess));
      builder.AddRaw(RecordWithExcess(load, trailer, builder.format(0), i * excess));
    }
    return builder;
  };
  Run(recording(32).Build());
  ExpectRecords(recording(0).records());
  EXPECT_TRUE(report_->is_whole());
  EXPECT_EQ(report_->resized_records, 8U);
}

TEST_F(RecoverTest, ReportsTheOffsetOfADamagedRecord) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  const std::size_t at = builder.records().size();
  builder.AddHeaderOnly({.type = RecordType::kSample, .size = 0});
  builder.AddSample({.ip = 2, .pid = 7, .time = 1001});
  std::vector<std::byte> file = builder.Build();
  Run(file);
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->samples(), 2U);
  ASSERT_THAT(report_->dropped, SizeIs(1));
  EXPECT_EQ(report_->dropped[0].position.offset, Get(file, kDataAt) + at);
  EXPECT_EQ(report_->dropped[0].size, 8U);
  EXPECT_THAT(report_->dropped[0].reason, HasSubstr("SAMPLE: size 0"));
}

TEST_F(RecoverTest, DropsRecordsUnknownToPerf61) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  builder.AddHeaderOnly({.type = RecordType::kBpfMetadata, .size = 528});
  builder.AddRaw(std::vector<std::byte>(520));
  builder.AddSample({.ip = 2, .pid = 7, .time = 1001});
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->samples(), 2U);
  EXPECT_EQ(report_->left_out.at(RecordType::kBpfMetadata), 1U);
  EXPECT_FALSE(report_->is_whole());
}

// simpleperf's own types are counted; every sample between them is kept.
TEST_F(RecoverTest, CountsRecordsOfOtherToolsByType) {
  PerfDataBuilder builder;
  builder.AddEvent();
  for (std::uint64_t i = 0; i < 21; ++i) {
    builder.AddSample({.ip = 1, .pid = 7, .time = 1000 + i});
    builder.AddHeaderOnly({.type = RecordType{32774}, .size = 80});
    builder.AddRaw(std::vector<std::byte>(72));
    builder.AddHeaderOnly({.type = RecordType{32775}, .size = 64});
    builder.AddRaw(std::vector<std::byte>(56));
  }
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->samples(), 21U);
  EXPECT_EQ(report_->dropped_bytes, 0U);
  EXPECT_EQ(report_->left_out.at(RecordType{32774}), 21U);
  EXPECT_EQ(report_->left_out.at(RecordType{32775}), 21U);
  const std::uint64_t first = report_->first_left_out.at(RecordType{32774}).offset;
  EXPECT_EQ(report_->first_left_out.at(RecordType{32775}).offset, first + 80);
}

TEST_F(RecoverTest, DropsARecordOfAnEventThatIsNotThere) {
  PerfDataBuilder builder = SmallRecording();
  const std::size_t samples = 24;
  perfdata::Sample stranger{.id = 999, .ip = 1, .pid = 7, .tid = 7, .time = 9000};
  std::vector<std::byte> record;
  ASSERT_THAT(EncodeSample(stranger, builder.format(0), 2, record), IsOk());
  builder.AddRaw(record);
  builder.AddSample({.ip = 2, .pid = 7, .time = 9001});
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(report_->samples(), samples + 1);
  EXPECT_THAT(report_->dropped[0].reason, HasSubstr("no event has its id"));
}

TEST_F(RecoverTest, WritesWhatWasCompressedExpanded) {
  const PerfDataBuilder plain = SmallRecording();
  PerfDataBuilder builder;
  builder.AddEvent({.name = "cpu-clock", .ids = {101, 102}});
  builder.AddEvent({.name = "faults", .config = 2, .ids = {201, 202}});
  builder.AddRaw(perfdata::CompressedRecords(plain.records(), 100));
  Run(builder.Build());
  ExpectRecords(plain.records());
  EXPECT_TRUE(report_->is_whole());
}

TEST_F(RecoverTest, ReplacesWhatHadTheName) {
  dir_.Write("out.data", "old");
  Run(SmallRecording().Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "out.data.old"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1);
}

TEST_F(RecoverTest, LosesNothingOfWhatItWroteItself) {
  std::vector<std::byte> file = SmallRecording().Build();
  Put(file, kDataSizeAt, 0);
  Run(file);
  const Records first = records();
  const std::vector<std::byte> again(output_->bytes().begin(), output_->bytes().end());
  Run(again);
  EXPECT_EQ(records(), first);
  EXPECT_TRUE(report_->is_whole());
}

TEST_F(RecoverTest, RebuildsTheIndexOfTraces) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  builder.AddHeaderOnly({.type = RecordType::kAuxtrace, .size = 48});
  std::vector<std::byte> body;
  ByteWriter at(body);
  at.Fixed(std::uint64_t{64});  // size of the trace
  at.Padding(32 + 64);
  builder.AddRaw(body);
  builder.AddFeature(FeatureBit::kAuxtrace, perfdata::RawFeature{std::vector<std::byte>(24)});
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  const Bytes index = *reader_->feature(FeatureBit::kAuxtrace);
  EXPECT_EQ(Get(index, 0), 1U);
  const std::uint64_t offset = Get(index, 8);
  EXPECT_EQ(LoadFixed<std::uint32_t>(output_->bytes().data() + offset, std::endian::native), 71U);
  EXPECT_EQ(Get(index, 16), 48U);
}

// As early versions of simpleperf wrote files.
TEST_F(RecoverTest, DeclaresATracepointWithoutAFormat) {
  PerfDataBuilder builder;
  builder.AddEvent(
      {.name = "sched:sched_switch", .type = perfdata::kTypeTracepoint, .config = 316});
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_TRUE(reader_->feature(FeatureBit::kTracingData));
  EXPECT_TRUE(report_->is_whole());
}

TEST_F(RecoverTest, DeclaresATracepointWithALostFormat) {
  PerfDataBuilder builder;
  builder.AddEvent(
      {.name = "sched:sched_switch", .type = perfdata::kTypeTracepoint, .config = 316});
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  builder.AddFeature(FeatureBit::kTracingData,
                     perfdata::RawFeature{std::vector<std::byte>(64, std::byte{0xff})});
  Run(builder.Build());
  ASSERT_THAT(report_, IsOk());
  EXPECT_TRUE(reader_->feature(FeatureBit::kTracingData));
  EXPECT_FALSE(report_->is_whole());
  const auto outcome =
      std::ranges::find(report_->features, FeatureBit::kTracingData, &FeatureOutcome::bit);
  ASSERT_NE(outcome, report_->features.end());
  EXPECT_EQ(outcome->fate, FeatureFate::kRebuilt);
}

// As a recorder that was killed before its first commit leaves it: without a feature table.
TEST_F(RecoverTest, FindsTheFormatsBeforeTheRecords) {
  const auto formats = perfdata::TracingDataOf(
      {{"sched", {"name: sched_switch\nID: 316\nformat:\n\nprint fmt: \"\"\n"}}});
  PerfDataBuilder builder;
  builder.AddEvent({.type = perfdata::kTypeTracepoint, .config = 316});
  builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
  const std::vector<std::byte> whole = builder.Build();
  const Reader reader = Reader::FromBytes(whole).value();
  const perfdata::Feature feature{FeatureBit::kTracingData, perfdata::RawFeature{formats}};
  std::vector<std::byte> file = perfdata::FileHead(reader.events().all(), {&feature, 1}).bytes;
  file.insert(file.end(), builder.records().begin(), builder.records().end());
  Run(file);
  ASSERT_THAT(report_, IsOk());
  EXPECT_EQ(reader_->events()[0].name, "sched:sched_switch");
  EXPECT_THAT(AsText(*reader_->feature(FeatureBit::kTracingData)), HasSubstr("sched_switch"));
}

// Removes the first record of this type from a pipe. Records before it must have no bytes after
// them.
void RemoveFirst(RecordType type, std::vector<std::byte>& pipe) {
  for (std::size_t at = 16; at + 8 <= pipe.size();) {
    const auto found = LoadFixed<std::uint32_t>(pipe.data() + at, std::endian::native);
    const auto size = LoadFixed<std::uint16_t>(pipe.data() + at + 6, std::endian::native);
    const auto begin = pipe.begin() + static_cast<std::ptrdiff_t>(at);
    if (found == std::to_underlying(type)) {
      pipe.erase(begin, begin + size);
      return;
    }
    at += size;
  }
}

// As perf writes them into a pipe, after the record, and simpleperf into a file, inside of it.
TEST_F(RecoverTest, NamesTracepointsByARecordWithTheirFormats) {
  auto formats = perfdata::TracingDataOf(
      {{"sched", {"name: sched_switch\nID: 316\nformat:\n\nprint fmt: \"\"\n"}}});
  formats.resize((formats.size() + 7) / 8 * 8);
  const auto size = static_cast<std::uint32_t>(formats.size());
  for (const Container container : {Container::kPipe, Container::kFile}) {
    PerfDataBuilder builder(container);
    builder.AddEvent({.type = perfdata::kTypeTracepoint, .config = 316});
    if (container == Container::kPipe) {
      builder.Add(perfdata::HeaderTracingData{.size = size});
      builder.AddRaw(formats);
    } else {
      builder.Add(perfdata::HeaderTracingData{.size = size, .data = formats});
    }
    builder.AddSample({.ip = 1, .pid = 7, .time = 1000});
    std::vector<std::byte> file = builder.Build();
    if (container == Container::kPipe) RemoveFirst(RecordType::kEventUpdate, file);
    Run(file);
    ASSERT_THAT(report_, IsOk());
    EXPECT_EQ(reader_->events()[0].name, "sched:sched_switch");
    EXPECT_THAT(AsText(*reader_->feature(FeatureBit::kTracingData)), HasSubstr("sched_switch"));
    EXPECT_TRUE(report_->is_whole());
  }
}

TEST_F(RecoverTest, CutsAttributesToWhatPerf61Reads) {
  PerfDataBuilder builder = SmallRecording(Container::kPipe);
  std::vector<std::byte> file;
  ByteWriter at(file);
  at.Blob(AsBytes("PERFILE2"), 8);
  at.Fixed(std::uint64_t{16});
  const Reader reader = builder.Open();
  for (perfdata::Event event : reader.events().all()) {
    event.attr.size = 144;
    at.Fixed(RecordType::kHeaderAttr);
    at.Fixed(std::uint16_t{0});
    at.Fixed(static_cast<std::uint16_t>(8 + 144 + 8 * event.ids.size()));
    EncodeAttr(event.attr, file);
    at.Words(WordArray(event.ids), event.ids.size());
  }
  at.Blob(builder.records(), builder.records().size());
  Run(file);
  ExpectRecords(builder.records());
  EXPECT_EQ(reader_->events()[0].attr.size, 128U);
  EXPECT_TRUE(report_->is_whole());
}

}  // namespace
}  // namespace perftape::rewrite
