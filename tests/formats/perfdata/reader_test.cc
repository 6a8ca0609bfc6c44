// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/joined_files.h"
#include "tests/formats/perfdata/big_endian.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/tracing_data.h"

namespace perftape::perfdata {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Tests both containers: they only differ up to the events.
class ReaderOfEachContainer : public testing::TestWithParam<Container> {};

INSTANTIATE_TEST_SUITE_P(Reader, ReaderOfEachContainer,
                         testing::Values(Container::kFile, Container::kPipe),
                         [](const auto& container) {
                           return container.param == Container::kFile ? "File" : "Pipe";
                         });

// Each attribute may claim the whole file for its ids: a thousand attributes would need a thousand
// times the memory.
TEST(Reader, LimitsIdsToTheFileSize) {
  PerfDataBuilder builder;
  for (int i = 0; i < 100; ++i) builder.AddEvent();
  std::vector<std::byte> file = builder.Build();
  const auto attrs = LoadFixed<std::uint64_t>(file.data() + 24, std::endian::native);
  for (std::size_t i = 0; i < 100; ++i) {
    const std::uint64_t ids[] = {0, file.size()};
    std::memcpy(file.data() + attrs + i * (EventAttr::kSize + 16) + EventAttr::kSize, ids, 16);
  }
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  std::size_t ids = 0;
  for (const Event& event : reader->events().all()) ids += event.ids.size();
  EXPECT_LE(ids, file.size() / 8);
  EXPECT_THAT(reader->problems(), Contains(HasSubstr("more than the file can contain")));
}

// perf reads the first file, and ends at the second one of a pipe's.
TEST_P(ReaderOfEachContainer, TellsOfASecondFileAfterTheFirst) {
  PerfDataBuilder builder(GetParam());
  builder.AddEvent({.name = "cycles"});
  builder.AddFeature(FeatureBit::kHostname, TextFeature{"host"});
  builder.AddSample({.tid = 1});
  std::vector<std::byte> file = builder.Build();
  const std::size_t size = file.size();
  const std::vector<std::byte> once = file;
  file.insert(file.end(), once.begin(), once.end());
  const Reader reader = Reader::FromBytes(file).value();
  std::string told;
  for (const std::string& problem : reader.problems()) told += problem;
  RecordCursor records = reader.records();
  std::size_t samples = 0;
  while (records.Step()) samples += records.record().type == RecordType::kSample ? 1 : 0;
  if (const auto failure = records.ReleaseFailure()) told += failure->message;
  EXPECT_EQ(samples, 1U);
  EXPECT_EQ(told, fmt::format("{}at {:#x}: {}", GetParam() == Container::kPipe ? "record " : "",
                              size, kJoinedFiles));
}

TEST_P(ReaderOfEachContainer, ReadsEventsWithIdsAndNames) {
  PerfDataBuilder file(GetParam());
  file.AddEvent({.name = "cycles:u", .sample_type = kIp | kIdentifier, .ids = {5, 6}});
  file.AddEvent({.name = "my probe", .type = kTypeTracepoint, .config = 314, .ids = {7}});
  if (GetParam() == Container::kFile) {
    // A file contains the names in EVENT_DESC, a pipe in EVENT_UPDATE.
    EventDesc description;
    description.events = {Event{.attr = {}, .format = {}, .ids = {5, 6}, .name = "cycles:u"},
                          Event{.attr = {}, .format = {}, .ids = {7}, .name = "my probe"}};
    file.AddFeature(FeatureBit::kEventDesc, description);
  }
  const Reader reader = file.Open();
  EXPECT_EQ(reader.container(), GetParam());
  ASSERT_THAT(reader.events().all(), SizeIs(2));
  EXPECT_EQ(reader.events()[0].name, "cycles:u");
  EXPECT_THAT(reader.events()[0].ids, ElementsAre(5, 6));
  EXPECT_EQ(reader.events()[0].format.sample_type, kIp | kIdentifier);
  EXPECT_EQ(reader.events()[1].name, "my probe");
  EXPECT_EQ(reader.events()[1].attr.config, 314U);
  EXPECT_THAT(reader.problems(), IsEmpty());
}

// As simpleperf writes them.
TEST_P(ReaderOfEachContainer, ReadsTheFormatsInsideTheFirstRecord) {
  const std::vector<std::byte> formats = TracingDataOf({{"sched", {"name: wakeup\nID: 314\n"}}});
  std::vector<std::byte> padded = formats;
  padded.resize((formats.size() + 63) / 64 * 64);
  PerfDataBuilder file(GetParam());
  file.AddEvent({.name = {}, .type = kTypeTracepoint, .config = 314});
  file.Add(HeaderTracingData{.size = static_cast<std::uint32_t>(formats.size()), .data = padded});
  const Reader reader = file.Open();
  ASSERT_NE(reader.events()[0].tracepoint, nullptr);
  EXPECT_EQ(reader.events()[0].tracepoint->name, "sched:wakeup");
  EXPECT_THAT(reader.problems(), IsEmpty());
}

TEST_P(ReaderOfEachContainer, HasTheFeatures) {
  PerfDataBuilder file(GetParam());
  file.AddEvent();
  file.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  file.AddFeature(FeatureBit::kNrCpus, NrCpus{.available = 1, .online = 1});
  file.AddFeature(FeatureBit::kCpuTopology, CpuTopology{{"0"}, {"0"}, {{3, 4}}, {"0"}, {5}});
  const Reader reader = file.Open();
  EXPECT_EQ(reader.text(FeatureBit::kHostname), "machine");
  EXPECT_EQ(reader.text(FeatureBit::kOsRelease), "");
  EXPECT_FALSE(reader.feature(FeatureBit::kOsRelease));
  const auto topology = reader.DecodedFeature(FeatureBit::kCpuTopology);
  ASSERT_TRUE(topology);
  EXPECT_EQ(std::get<CpuTopology>(*topology).cpus[0].core, 3U);
}

TEST_P(ReaderOfEachContainer, GivesCursorsAsOftenAsWanted) {
  PerfDataBuilder file(GetParam());
  file.AddEvent();
  file.AddSample({.ip = 1});
  const Reader reader = file.Open();
  for (int i = 0; i < 2; ++i) {
    int samples = 0;
    RecordCursor cursor = reader.records();
    for (auto next = cursor.Next(); next && *next; next = cursor.Next()) {
      samples += (*next)->type == RecordType::kSample ? 1 : 0;
    }
    EXPECT_EQ(samples, 1);
  }
}

// Under the address sanitizer this also shows that nothing reads behind the end.
TEST_P(ReaderOfEachContainer, OpensOrFailsWhereverTheFileIsCut) {
  PerfDataBuilder file(GetParam());
  file.AddEvent();
  file.AddEvent();
  file.AddSample({.ip = 1});
  file.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  const std::vector<std::byte> whole = file.Build();
  const std::size_t entry_size = 112 + 16;
  const std::size_t first_event_end =
      static_cast<std::size_t>(file.Open().data_offset()) - entry_size;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::vector<std::byte> piece(whole.begin(),
                                       whole.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<Reader> reader = Reader::FromBytes(piece);
    if (GetParam() == Container::kFile) {
      // The records may be read if the first attribute is complete; the reader reports what is
      // missing.
      EXPECT_EQ(reader.has_value(), size >= first_event_end) << size;
      EXPECT_TRUE(!reader || !reader->problems().empty()) << size;
    } else {
      EXPECT_EQ(reader.has_value(), size >= 16U + 8 + 112 + 8) << size;  // one ATTR is complete
    }
  }
}

TEST(Reader, RejectsOtherFiles) {
  EXPECT_THAT(Reader::FromBytes({}), FailsWith(ErrorCode::kTruncated));
  EXPECT_THAT(Reader::FromBytes(AsBytes("main;work 5\n")),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("PERFILE2")));
  EXPECT_FALSE(LooksLikePerfData(AsBytes("PERFILE")));
  EXPECT_TRUE(LooksLikePerfData(AsBytes("PERFILE2")));
  EXPECT_TRUE(LooksLikePerfData(AsBytes("2ELIFREP")));
}

TEST(Reader, NeedsAnEvent) {
  EXPECT_THAT(Reader::FromBytes(PerfDataBuilder(Container::kFile).Build()),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("no event")));
  EXPECT_THAT(Reader::FromBytes(PerfDataBuilder(Container::kPipe).Build()),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("no event")));
}

// Offsets of the fields of struct perf_file_header.
constexpr std::size_t kHeaderSizeAt = 8, kAttrSizeAt = 16, kAttrsAt = 24, kDataAt = 40,
                      kDataSizeAt = 48, kFeaturesAt = 72;

void Put(std::vector<std::byte>& file, std::size_t offset, std::uint64_t value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
}
std::uint64_t Get(const std::vector<std::byte>& file, std::size_t offset) {
  return LoadFixed<std::uint64_t>(file.data() + offset, std::endian::native);
}

TEST(Reader, ContinuesAfterWrongSizesInTheHeader) {
  PerfDataBuilder builder;
  builder.AddEvent({.ids = {41}});
  builder.AddSample({.ip = 0x401136});
  const std::vector<std::byte> good = builder.Build();
  struct Case {
    std::size_t offset;
    std::uint64_t value;
    std::string_view problem;
  };
  for (const Case& bad : {Case{kHeaderSizeAt, 100, "at 0x8: header size 100"},
                          Case{kHeaderSizeAt, 0, "at 0x8: header size 0"},
                          Case{kAttrSizeAt, 79, "at 0x10: attribute size 79"},
                          Case{kAttrSizeAt, 0, "at 0x10: attribute size 0"},
                          Case{kAttrSizeAt, ~std::uint64_t{0}, "at 0x10: attribute size"},
                          Case{kAttrsAt + 8, ~std::uint64_t{0}, "at 0x18"}}) {
    std::vector<std::byte> file = good;
    Put(file, bad.offset, bad.value);
    const Result<Reader> reader = Reader::FromBytes(file);
    ASSERT_THAT(reader, IsOk()) << bad.problem;
    EXPECT_THAT(reader->problems(), Contains(HasSubstr(std::string(bad.problem))));
    ASSERT_EQ(reader->events().size(), 1u) << bad.problem;
    EXPECT_EQ(reader->events()[0].ids, std::vector<std::uint64_t>{41}) << bad.problem;
    RecordCursor cursor = reader->records();
    EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample)) << bad.problem;
  }
}

TEST(Reader, RefusesAFileWithoutAttributes) {
  PerfDataBuilder builder;
  builder.AddEvent();
  const std::vector<std::byte> good = builder.Build();
  for (const std::size_t offset : {kAttrsAt, kAttrsAt + 8}) {
    std::vector<std::byte> file = good;
    Put(file, offset, offset == kAttrsAt ? ~std::uint64_t{0} : 0);
    EXPECT_THAT(Reader::FromBytes(file), FailsWith(ErrorCode::kCorrupt, HasSubstr("no event")));
  }
}

TEST(Reader, UsesEventDescIfTheAttributesAreLost) {
  PerfDataBuilder builder;
  builder.AddEvent({.ids = {41}});
  builder.AddSample({.ip = 0x401136});
  const Reader whole = builder.Open();
  EventDesc description;
  description.events.push_back(whole.events()[0]);
  description.events[0].name = "cycles";
  builder.AddFeature(FeatureBit::kEventDesc, description);
  std::vector<std::byte> file = builder.Build();
  Put(file, kAttrsAt, ~std::uint64_t{0});
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  ASSERT_EQ(reader->events().size(), 1u);
  EXPECT_EQ(reader->events()[0].name, "cycles");
  EXPECT_EQ(reader->events()[0].ids, std::vector<std::uint64_t>{41});
  EXPECT_THAT(reader->problems(), Contains(HasSubstr("EVENT_DESC")));
}

TEST(Reader, LimitsAnAttributeToItsEntry) {
  PerfDataBuilder builder;
  builder.AddEvent();
  std::vector<std::byte> file = builder.Build();
  const std::uint64_t attrs_at = Get(file, kAttrsAt);
  constexpr std::uint32_t kTooLarge = 4096;
  std::memcpy(file.data() + attrs_at + 4, &kTooLarge, sizeof kTooLarge);
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->events()[0].attr.size, 112u);
  EXPECT_THAT(reader->problems(), Contains(HasSubstr("4096")));
}

// The first version of the format has the same layout with another magic.
TEST(Reader, ReadsTheFirstVersionOfTheFormat) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 0x401136});
  std::vector<std::byte> file = builder.Build();
  std::ranges::copy(AsBytes("PERFFILE"), file.begin());
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->version(), 1);
  EXPECT_EQ(reader->order(), std::endian::little);
  RecordCursor cursor = reader->records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample));
}

TEST(Reader, ReadsAttributesBehindTheData) {
  // perf inject writes them this way when it reads from a pipe.
  PerfDataBuilder builder;
  builder.AddEvent({.ids = {5}});
  builder.AddSample({.ip = 1});
  std::vector<std::byte> file = builder.Build();
  const std::uint64_t attrs = Get(file, kAttrsAt), size = Get(file, kAttrsAt + 8);
  const std::vector<std::byte> table(file.begin() + static_cast<std::ptrdiff_t>(attrs),
                                     file.begin() + static_cast<std::ptrdiff_t>(attrs + size));
  std::fill_n(file.begin() + static_cast<std::ptrdiff_t>(attrs), size, std::byte{0});
  Put(file, kAttrsAt, file.size());
  file.insert(file.end(), table.begin(), table.end());

  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->events()[0].ids, ElementsAre(5));
  EXPECT_THAT(reader->records().Next(), HasRecord(RecordType::kSample));
}

TEST(Reader, ReadsTheOldHeaderWithoutFeatures) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1});
  std::vector<std::byte> file = builder.Build();
  Put(file, kHeaderSizeAt, 72);
  Put(file, kFeaturesAt, 0xff);  // other bytes are there
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->features(), IsEmpty());
  EXPECT_THAT(reader->problems(), IsEmpty());
}

TEST(Reader, ReadsWhatIsThereOfATruncatedFile) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1});
  builder.AddSample({.ip = 2});
  builder.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  std::vector<std::byte> file = builder.Build();
  file.resize(static_cast<std::size_t>(Get(file, kDataAt) + Get(file, kDataSizeAt) - 1));

  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->problems(), ElementsAre(HasSubstr("extends 1 bytes beyond the end")));
  EXPECT_THAT(reader->features(), IsEmpty());
  RecordCursor cursor = reader->records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample));
  EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kTruncated));
}

TEST(Reader, ReadsARecordingThatWasKilledBeforeItsSizeWasWritten) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  builder.AddSample({.ip = 1});
  std::vector<std::byte> file = builder.Build();
  Put(file, kDataSizeAt, 0);
  Put(file, kFeaturesAt, 0b1111'1000);  // perf sets the bits at the start

  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->problems(), ElementsAre(HasSubstr("data size is 0")));
  EXPECT_THAT(reader->features(), IsEmpty());
  RecordCursor cursor = reader->records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kComm));
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample));
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

TEST(Reader, DoesNotReadFeaturesAsRecords) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  const Reader reader = builder.Open();
  EXPECT_THAT(reader.problems(), IsEmpty());
  EXPECT_EQ(reader.text(FeatureBit::kHostname), "machine");
  EXPECT_THAT(reader.records().Next(), IsAtEnd());
}

TEST(Reader, DropsOnlyTheFeaturesBehindTheEnd) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1});
  builder.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  builder.AddFeature(FeatureBit::kOsRelease, TextFeature{"6.1"});
  std::vector<std::byte> file = builder.Build();
  file.pop_back();
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->text(FeatureBit::kHostname), "machine");
  EXPECT_FALSE(reader->feature(FeatureBit::kOsRelease));
  EXPECT_THAT(reader->problems(), ElementsAre(HasSubstr("feature OSRELEASE: its section at")));
}

TEST(Reader, ReportsATruncatedFeatureTable) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1});
  builder.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  std::vector<std::byte> file = builder.Build();
  file.resize(static_cast<std::size_t>(Get(file, kDataAt) + Get(file, kDataSizeAt)) + 15);
  const Result<Reader> reader = Reader::FromBytes(file);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->problems(), ElementsAre(HasSubstr("feature HOSTNAME: the feature table")));
}

TEST(Reader, KeepsAFeatureThatItCannotDecodeAsBytes) {
  PerfDataBuilder builder;
  builder.AddEvent();
  builder.AddSample({.ip = 1});
  builder.AddFeature(FeatureBit::kHostname, RawFeature{{std::byte{1}}});
  const Reader reader = builder.Open();
  EXPECT_FALSE(reader.DecodedFeature(FeatureBit::kHostname));
  EXPECT_THAT(*reader.feature(FeatureBit::kHostname), SizeIs(1));
}

TEST(Reader, UsesIdsOfEventDescOtherwise) {
  PerfDataBuilder builder;
  builder.AddEvent({.ids = {5}});
  builder.AddEvent({.ids = {6}});
  builder.AddFeature(FeatureBit::kEventDesc,
                     EventDesc{{Event{.attr = {}, .format = {}, .ids = {5, 51}, .name = "a"},
                                Event{.attr = {}, .format = {}, .ids = {6, 61}, .name = "b"}}});
  const Reader reader = builder.Open();
  ASSERT_NE(reader.events().FindById(61), nullptr);
  EXPECT_EQ(reader.events().FindById(61)->name, "b");
}

TEST(Reader, NamesTheFirstEventOfAPipeThatHasNoIds) {
  PerfDataBuilder file(Container::kPipe);
  file.AddEvent({.ids = {0}});
  std::vector<std::byte> bytes = file.Build();
  // Removes the id from the ATTR record: its size is at 16 + 6.
  const auto size = static_cast<std::uint16_t>(8 + EventAttr::kSize);
  std::memcpy(bytes.data() + 16 + 6, &size, sizeof size);
  bytes.erase(bytes.begin() + 16 + size, bytes.begin() + 16 + size + 8);
  const Result<Reader> reader = Reader::FromBytes(bytes);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->events()[0].ids, IsEmpty());
  EXPECT_EQ(reader->events()[0].name, "cpu-clock");
}

TEST(Reader, ReadsAFileOfABigEndianMachine) {
  BigEndianBytes file;
  file.Text("2ELIFREP", 8).U64(104).U64(64 + 16);
  file.U64(112).U64(80).U64(192).U64(24).Zeros(16);  // attrs, data, event_types
  file.U64(std::uint64_t{1} << 3).Zeros(24);         // HOSTNAME
  file.U64(5);                                       // the id
  file.U32(1).U32(64).U64(0).U64(99).U64(kIp | kTid).Zeros(32).U64(104).U64(8);  // attr, ids
  file.U32(9).U16(2).U16(24).U64(0x401136).U32(7).U32(8);                        // SAMPLE
  file.U64(232).U64(12).U32(8).Text("machine", 8);  // table and section
  const Result<Reader> reader = Reader::FromBytes(file.bytes());
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->order(), std::endian::big);
  EXPECT_EQ(reader->text(FeatureBit::kHostname), "machine");
  EXPECT_THAT(reader->events()[0].ids, ElementsAre(5));
  const auto record = reader->records().Next();
  ASSERT_THAT(record, HasRecord(RecordType::kSample));
  const auto sample = DecodeSample(**record, reader->events()[0].format);
  ASSERT_THAT(sample, IsOk());
  EXPECT_EQ(sample->ip, 0x401136U);
  EXPECT_EQ(sample->tid, 8U);
}

}  // namespace
}  // namespace perftape::perfdata
