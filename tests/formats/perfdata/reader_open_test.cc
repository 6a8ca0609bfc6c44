// SPDX-License-Identifier: Apache-2.0
// Tests opening streams and directories.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/perfdata/reader.h"
#include "formats/perfdata/rounds.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/stdin_from.h"
#include "tests/support/temp_dir.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::uint64_t> Addresses(InTimeOrder cursor, const Reader& reader) {
  std::vector<std::uint64_t> ips;
  while (const auto record = cursor.Next().value()) {
    if (record->type != RecordType::kSample) continue;
    ips.push_back(DecodeSample(*record, reader.events()[0].format).value().ip);
  }
  return ips;
}

std::string TextOf(const PerfDataBuilder& file) {
  return std::string(AsText(file.Build()));
}

PerfDataBuilder Recording(Container container) {
  PerfDataBuilder file(container);
  file.AddEvent({.name = "my event"});
  file.AddFeature(FeatureBit::kHostname, TextFeature{"machine"});
  file.AddSample({.ip = 2, .time = 20});
  file.AddSample({.ip = 1, .time = 10});
  file.AddRound();
  return file;
}

TEST(OpenStream, ReadsAPipeAsItComes) {
  PerfDataBuilder file = Recording(Container::kPipe);
  for (std::uint64_t i = 0; i < 20'000; ++i) file.AddSample({.ip = i + 3, .time = 30 + i});
  const PipeWith pipe(TextOf(file));
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  const Result<Reader> reader = Reader::Open(input);
  ASSERT_THAT(reader, IsOk());
  EXPECT_TRUE(reader->is_stream());
  EXPECT_EQ(reader->events()[0].name, "my event");
  EXPECT_EQ(reader->text(FeatureBit::kHostname), "machine");
  const std::vector<std::uint64_t> ips = Addresses({reader->records(), reader->events()}, *reader);
  ASSERT_EQ(ips.size(), 20'002u);
  for (std::size_t i = 0; i < ips.size(); ++i) ASSERT_EQ(ips[i], i + 1);
}

TEST(OpenStream, CopiesAFileWhoseHeaderPointsForth) {
  const PipeWith pipe(TextOf(Recording(Container::kFile)));
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  const Result<Reader> reader = Reader::Open(input);
  ASSERT_THAT(reader, IsOk());
  EXPECT_FALSE(reader->is_stream());
  EXPECT_EQ(reader->text(FeatureBit::kHostname), "machine");
  EXPECT_THAT(Addresses({reader->records(), reader->events()}, *reader), ElementsAre(1, 2));
}

TEST(OpenStream, LooksForEventsBehindTheSamplesWhereNoneCameBefore) {
  const PerfDataBuilder file = Recording(Container::kPipe);
  const std::vector<std::byte> whole = file.Build();
  const Bytes records = file.records();
  const Bytes head = Bytes(whole).first(whole.size() - records.size());
  std::string text(AsText(head.first(16)));
  text += AsText(records);
  text += AsText(head.subspan(16));
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  const Result<Reader> reader = Reader::Open(input);
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(Addresses({reader->records(), reader->events()}, *reader), ElementsAre(1, 2));
}

TEST(OpenStream, WaitsForNoTraceThatIsTooLargeForMemory) {
  PerfDataBuilder file = Recording(Container::kPipe);
  file.AddHeaderOnly({.type = RecordType::kAuxtrace, .size = 48});
  const std::uint64_t body[] = {std::uint64_t{1} << 33, 0, 0, 0, 0};
  file.AddRaw(std::as_bytes(std::span(body)));
  const PipeWith pipe(TextOf(file) + std::string(1000, 'x'));
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  const Result<Reader> reader = Reader::Open(input);
  ASSERT_THAT(reader, IsOk());
  RecordCursor cursor = reader->records();
  Result<std::optional<RecordView>> record = cursor.Next();
  while (record && *record) record = cursor.Next();
  EXPECT_THAT(record, FailsWith(ErrorCode::kUnsupported, HasSubstr("save the stream to a file")));
}

TEST(OpenStream, ReportsDamageInAStreamWithoutEvents) {
  PerfDataBuilder file(Container::kPipe);
  file.AddRound();
  file.AddHeaderOnly({.type = RecordType::kSample, .size = 4});
  EXPECT_THAT(Reader::FromBytes(file.Build()),
              FailsWith(ErrorCode::kCorrupt, HasSubstr("record at 0x18: size 4")));
}

TEST(OpenStream, ReportsATruncatedEnd) {
  std::string text = TextOf(Recording(Container::kPipe));
  text.resize(text.size() - 12);
  const PipeWith pipe(text);
  const StdinFrom redirected(pipe.get());
  Input input = Input::Open("-").value();
  const Reader reader = Reader::Open(input).value();
  InTimeOrder cursor(reader.records(), reader.events());
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kHeaderAttr));
  Result<std::optional<RecordView>> next = cursor.Next();
  while (next && *next) next = cursor.Next();
  EXPECT_THAT(next, FailsWith(ErrorCode::kTruncated, HasSubstr("not a whole record")));
}

TEST(OpenDirectory, ReadsAllItsFilesInTimeOrder) {
  PerfDataBuilder main;
  main.AddEvent();
  main.AddSample({.ip = 3, .time = 30});
  PerfDataBuilder first, second;
  first.AddEvent();
  first.AddSample({.ip = 1, .time = 10});
  first.AddSample({.ip = 4, .time = 40});
  second.AddEvent();
  second.AddSample({.ip = 2, .time = 20});
  const TempDir directory;
  directory.Write("rec/data", main.Build());
  directory.Write("rec/data.0", first.records());
  directory.Write("rec/data.1", second.records());
  directory.Write("rec/data.old", "no part of it");
  directory.Write("rec/kcore_dir/kallsyms", "ffffffff81000000 T _text\n");
  Input input = Input::Open(directory / "rec").value();
  EXPECT_TRUE(IsPerfData(input));
  EXPECT_EQ(KallsymsOf(input), directory / "rec/kcore_dir/kallsyms");
  const Result<Reader> reader = Reader::Open(input);
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->further_files(), 2u);
  EXPECT_THAT(Addresses({reader->records(), reader->events()}, *reader), ElementsAre(1, 2, 3, 4));
}

TEST(OpenDirectory, ReadsTheOtherFilesWhereOneIsTorn) {
  PerfDataBuilder main, first, second;
  main.AddEvent();
  first.AddEvent();
  first.AddSample({.ip = 1, .time = 10});
  second.AddEvent();
  second.AddSample({.ip = 2, .time = 20});
  const TempDir directory;
  directory.Write("rec/data", main.Build());
  directory.Write("rec/data.0", first.records().first(first.records().size() - 8));
  directory.Write("rec/data.1", second.records());
  Input input = Input::Open(directory / "rec").value();
  const Reader reader = Reader::Open(input).value();
  RecordCursor cursor = reader.records();
  EXPECT_THAT(cursor.Next(), HasRecord(RecordType::kSample));
  EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kTruncated, HasSubstr("data.0:0x0")));
  EXPECT_THAT(cursor.Next(), IsAtEnd());
}

TEST(OpenDirectory, NamesAFileByItsNumberEvenIfOthersAreMissing) {
  PerfDataBuilder main, torn;
  main.AddEvent();
  torn.AddEvent();
  torn.AddSample({.ip = 1, .time = 10});
  torn.AddSample({.ip = 2, .time = 20});
  const TempDir directory;
  directory.Write("rec/data", main.Build());
  directory.Write("rec/data.70000", torn.records().first(torn.records().size() - 8));
  Input input = Input::Open(directory / "rec").value();
  const Reader reader = Reader::Open(input).value();
  RecordCursor cursor = reader.records();
  const Result<std::optional<RecordView>> sample = cursor.Next();
  ASSERT_THAT(sample, HasRecord(RecordType::kSample));
  EXPECT_EQ(PositionOf(**sample), "data.70000:0x0");
  EXPECT_THAT(cursor.Next(), FailsWith(ErrorCode::kTruncated, HasSubstr("data.70000:0x")));
}

TEST(OpenDirectory, IsNoPerfDataWithoutItsMainFile) {
  const TempDir directory;
  Input input = Input::Open(directory.path()).value();
  EXPECT_FALSE(IsPerfData(input));
  EXPECT_THAT(Reader::Open(input), FailsWith(ErrorCode::kNotFound, HasSubstr("data")));
}

}  // namespace
}  // namespace perftape::perfdata
