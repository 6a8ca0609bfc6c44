// SPDX-License-Identifier: Apache-2.0
// Tests compressed files and streams of the writer, which must open at any time, too.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/writer.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr WriterOptions kCompressed = {.compression_level = 1};

Event SomeEvent() {
  EventAttr attr;
  attr.type = kTypeSoftware;
  attr.sample_type = kIdentifier | kIp | kTid;
  attr.flags = kSampleIdAll;
  return {.attr = attr, .format = FormatOf(attr), .ids = {5, 6}, .name = "cpu-clock"};
}

std::vector<std::byte> SampleAt(std::uint64_t ip) {
  std::vector<std::byte> record;
  EXPECT_THAT(EncodeSample(Sample{.id = 5, .ip = ip}, SomeEvent().format, 2, record), IsOk());
  return record;
}

// Returns the addresses of the samples in a file, in order; -1 at damage, -2 if it does not open,
// -3 if perf would not find the parameters of the compression.
std::vector<std::int64_t> SamplesIn(std::string_view file) {
  const Result<Reader> reader = Reader::FromBytes(AsBytes(file));
  if (!reader || !reader->problems().empty()) return {-2};
  const std::optional<Bytes> feature = reader->feature(FeatureBit::kCompressed);
  if (!feature || feature->size() != 20) return {-3};
  std::vector<std::int64_t> addresses;
  RecordCursor cursor = reader->records();
  while (true) {
    const auto record = cursor.Next();
    if (!record) addresses.push_back(-1);
    if (!record || !*record) return addresses;
    if ((*record)->type == RecordType::kSample) {
      const auto sample = DecodeSample(**record, reader->events()[0].format);
      addresses.push_back(sample ? static_cast<std::int64_t>(sample->ip) : -1);
    }
  }
}

Writer MustCreate(const std::filesystem::path& path) {
  const std::array events = {SomeEvent()};
  return Writer::Create(path, events, kCompressed).value();
}

TEST(CompressedWriter, MakesAFileThatOpensAfterEachCommit) {
  const TempDir directory;
  const auto path = directory / "perf.data";
  Writer writer = MustCreate(path);
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  ASSERT_THAT(writer.Commit(), IsOk());
  ASSERT_THAT(writer.Publish(), IsOk());
  EXPECT_THAT(SamplesIn(ReadWholeFile(path).value()), ElementsAre(1));
  std::vector<std::int64_t> committed = {1};
  for (std::uint64_t round = 2; round <= 4; ++round) {
    ASSERT_THAT(writer.Append(SampleAt(round)), IsOk());
    EXPECT_EQ(SamplesIn(ReadWholeFile(path).value()), committed);
    ASSERT_THAT(writer.Commit(), IsOk());
    committed.push_back(static_cast<std::int64_t>(round));
    EXPECT_EQ(SamplesIn(ReadWholeFile(path).value()), committed);
    EXPECT_EQ(writer.size(), std::filesystem::file_size(path));
  }
}

// A commit is two writes: the records, and their size.
TEST(CompressedWriter, OpensBetweenTheTwoWritesOfACommit) {
  const TempDir directory;
  const auto path = directory / "perf.data";
  Writer writer = MustCreate(path);
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  ASSERT_THAT(writer.Commit(), IsOk());
  ASSERT_THAT(writer.Publish(), IsOk());
  const std::string before = ReadWholeFile(path).value();
  ASSERT_THAT(writer.Append(SampleAt(2)), IsOk());
  ASSERT_THAT(writer.Commit(), IsOk());
  std::string between = ReadWholeFile(path).value();
  between.replace(0, FileHeader::kSize, before, 0, FileHeader::kSize);
  EXPECT_THAT(SamplesIn(between), ElementsAre(1));
}

TEST(CompressedWriter, OpensBetweenTheWritesOfItsEnd) {
  const TempDir directory;
  const auto path = directory / "perf.data";
  Writer writer = MustCreate(path);
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  ASSERT_THAT(writer.Commit(), IsOk());
  ASSERT_THAT(writer.Publish(), IsOk());
  const std::string before = ReadWholeFile(path).value();
  const std::array features = {Feature{FeatureBit::kHostname, TextFeature{"machine"}}};
  ASSERT_THAT(std::move(writer).Finish(features), IsOk());
  std::string between = ReadWholeFile(path).value();
  EXPECT_THAT(SamplesIn(between), ElementsAre(1));
  between.replace(0, FileHeader::kSize, before, 0, FileHeader::kSize);
  EXPECT_THAT(SamplesIn(between), ElementsAre(1));
}

TEST(CompressedWriter, FinishesWithItsOwnFeatureBesideTheOthers) {
  const TempDir directory;
  Writer writer = MustCreate(directory / "perf.data");
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  const std::array features = {
      Feature{FeatureBit::kHostname, TextFeature{"machine"}},
      Feature{FeatureBit::kCompressed, RawFeature{{std::byte{1}}}}};  // of the source file
  const Result<std::uint64_t> size = std::move(writer).Finish(features);
  ASSERT_THAT(size, IsOk());
  const std::string file = ReadWholeFile(directory / "perf.data").value();
  EXPECT_EQ(*size, file.size());
  EXPECT_THAT(SamplesIn(file), ElementsAre(1));
  const Reader reader = Reader::FromBytes(AsBytes(file)).value();
  EXPECT_EQ(reader.text(FeatureBit::kHostname), "machine");
  EXPECT_EQ(reader.features().size(), 2U);
  // The file was never visible before it was complete, so it only contains what it needs.
  RecordCursor cursor = reader.records(Compressed::kStepOver);
  EXPECT_EQ(cursor.Next().value()->type, RecordType::kCompressed);
  EXPECT_EQ(cursor.Next().value(), std::nullopt);
}

TEST(CompressedWriter, LeavesPlainWhatHasBytesBehindIt) {
  const TempDir directory;
  Writer writer = MustCreate(directory / "perf.data");
  std::vector<std::byte> trace;
  ByteWriter at(trace);
  at.Fixed(RecordType::kAuxtrace);
  at.Fixed(std::uint16_t{0});
  at.Fixed(std::uint16_t{48});
  at.Fixed(std::uint64_t{16});
  at.Padding(32);
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  const Result<std::uint64_t> offset = writer.AppendPlain(trace);
  ASSERT_THAT(offset, IsOk());
  ASSERT_THAT(writer.AppendPlain(AsBytes("sixteen bytes...")), IsOk());
  ASSERT_THAT(writer.Append(SampleAt(2)), IsOk());
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());

  const std::string file = ReadWholeFile(directory / "perf.data").value();
  EXPECT_THAT(SamplesIn(file), ElementsAre(1, 2));
  const Reader reader = Reader::FromBytes(AsBytes(file)).value();
  RecordCursor cursor = reader.records(Compressed::kStepOver);
  EXPECT_EQ(cursor.Next().value()->type, RecordType::kCompressed);
  const RecordView found = cursor.Next().value().value();
  EXPECT_EQ(found.type, RecordType::kAuxtrace);
  EXPECT_EQ(found.file_offset, *offset);
  EXPECT_EQ(AsText(found.appended), "sixteen bytes...");
}

TEST(CompressedWriter, SendsItsFeatureThroughAPipeBeforeTheRecords) {
  const TempDir directory;
  const auto path = directory / "stream";
  const std::array events = {SomeEvent()};
  Writer writer = Writer::CreatePipe(path, events, {}, kCompressed).value();
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  ASSERT_THAT(writer.Commit(), IsOk());
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_THAT(writer.Append(SampleAt(2)), IsOk());
  ASSERT_THAT(std::move(writer).Finish({}), IsOk());
  const std::string file = ReadWholeFile(path).value();
  EXPECT_THAT(SamplesIn(file), ElementsAre(1, 2));
  EXPECT_EQ(Reader::FromBytes(AsBytes(file))->container(), Container::kPipe);
}

TEST(CompressedWriter, RefusesALevelThatZstdDoesNotHaveAndLeavesNothingBehind) {
  const TempDir directory;
  const std::array events = {SomeEvent()};
  EXPECT_THAT(Writer::Create(directory / "perf.data", events, {.compression_level = 23}),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path()));
}

}  // namespace
}  // namespace perftape::perfdata
