// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "formats/base/file.h"
#include "formats/perfdata/reader.h"
#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::perfdata {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Event SomeEvent(std::vector<std::uint64_t> ids = {5, 6}, std::string name = "cpu-clock") {
  EventAttr attr;
  attr.type = kTypeSoftware;
  attr.sample_type = kIdentifier | kIp | kTid;
  attr.flags = kSampleIdAll;
  return {.attr = attr, .format = FormatOf(attr), .ids = std::move(ids), .name = std::move(name)};
}

std::vector<std::byte> SampleAt(std::uint64_t ip) {
  std::vector<std::byte> record;
  EXPECT_THAT(EncodeSample(Sample{.id = 5, .ip = ip}, SomeEvent().format, 2, record), IsOk());
  return record;
}

// Returns the addresses of the samples in a file, in order. Appends -1 at damage; returns -2 if the
// file does not open.
std::vector<std::int64_t> SamplesIn(Bytes file) {
  const Result<Reader> reader = Reader::FromBytes(file);
  if (!reader) return {-2};
  std::vector<std::int64_t> addresses;
  RecordCursor cursor = reader->records();
  while (true) {
    const auto record = cursor.Next();
    if (!record) addresses.push_back(-1);
    if (!record || !*record) return addresses;
    if ((*record)->type != RecordType::kSample) continue;
    const auto sample = DecodeSample(**record, reader->events()[0].format);
    addresses.push_back(sample ? static_cast<std::int64_t>(sample->ip) : -1);
  }
}

std::vector<std::int64_t> SamplesIn(const std::filesystem::path& path) {
  return SamplesIn(AsBytes(ReadWholeFile(path).value_or("")));
}

std::vector<std::filesystem::path> FilesIn(const TempDir& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path())) {
    files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

// Returns the file of a writer that is not published yet.
std::filesystem::path OnlyFileIn(const TempDir& directory) {
  const auto files = FilesIn(directory);
  return files.size() == 1 ? files.front() : "not one file";
}

Writer MustCreate(const std::filesystem::path& path) {
  const std::array events = {SomeEvent()};
  Result<Writer> writer = Writer::Create(path, events);
  if (!writer) throw std::runtime_error(writer.error().message);
  return *std::move(writer);
}

TEST(Writer, MakesAFileThatOpensAfterEachCommit) {
  const TempDir directory;
  Writer writer = MustCreate(directory / "perf.data");
  const auto file = OnlyFileIn(directory);
  EXPECT_THAT(SamplesIn(file), IsEmpty());
  std::vector<std::int64_t> committed;
  for (std::uint64_t round = 1; round <= 3; ++round) {
    EXPECT_THAT(writer.Append(SampleAt(round)), IsOk());
    EXPECT_EQ(SamplesIn(file), committed);  // not committed yet
    EXPECT_THAT(writer.Commit(), IsOk());
    committed.push_back(static_cast<std::int64_t>(round));
    EXPECT_EQ(SamplesIn(file), committed);
    EXPECT_EQ(writer.size(), std::filesystem::file_size(file));
  }
}

TEST(Writer, CommitsWithTheSizeOnlyAfterTheRecords) {
  // A kill between the two writes leaves records behind data.size, which are not part of the file.
  const TempDir directory;
  Writer writer = MustCreate(directory / "perf.data");
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  ASSERT_THAT(writer.Commit(), IsOk());
  std::string file = ReadWholeFile(OnlyFileIn(directory)).value();
  const std::vector<std::byte> uncommitted = SampleAt(2);
  file += AsText(uncommitted);
  EXPECT_THAT(SamplesIn(AsBytes(file)), ElementsAre(1));
}

TEST(Writer, LeavesNothingBehindWhenItWasNotPublished) {
  const TempDir directory;
  {
    Writer writer = MustCreate(directory / "perf.data");
    EXPECT_THAT(writer.Append(SampleAt(1)), IsOk());
    EXPECT_THAT(writer.Commit(), IsOk());
  }
  EXPECT_THAT(FilesIn(directory), IsEmpty());
}

TEST(Writer, LeavesWhatWasCommittedWhenItWasPublished) {
  const TempDir directory;
  {
    Writer writer = MustCreate(directory / "perf.data");
    EXPECT_THAT(writer.Append(SampleAt(1)), IsOk());
    EXPECT_THAT(writer.Commit(), IsOk());
    EXPECT_THAT(writer.Publish(), IsOk());
    EXPECT_THAT(writer.Append(SampleAt(2)), IsOk());
    EXPECT_THAT(writer.Commit(), IsOk());
    EXPECT_THAT(writer.Append(SampleAt(3)), IsOk());  // never committed
  }
  EXPECT_THAT(FilesIn(directory), ElementsAre(directory / "perf.data"));
  EXPECT_THAT(SamplesIn(directory / "perf.data"), ElementsAre(1, 2));
}

TEST(Writer, HasRequiredFeaturesFromItsPublicationOn) {
  for (const std::optional<int> level : {std::optional<int>(), std::optional<int>(1)}) {
    const TempDir directory;
    {
      const std::array events = {SomeEvent()};
      Result<Writer> writer = Writer::Create(
          directory / "perf.data", events,
          {.compression_level = level,
           .required_features = {{FeatureBit::kTracingData,
                                  TracingData{.version = "0.6", .formats = {std::byte{7}}}}}});
      ASSERT_THAT(writer, IsOk());
      for (const std::uint64_t time : {1, 2, 3}) {
        EXPECT_THAT(writer->Append(SampleAt(time)), IsOk());
        EXPECT_THAT(writer->Commit(), IsOk());
        if (time == 1) {
          EXPECT_THAT(writer->Publish(), IsOk());
        }
      }
    }
    const std::string file = ReadWholeFile(directory / "perf.data").value();
    const Result<Reader> reader = Reader::FromBytes(AsBytes(file));
    ASSERT_THAT(reader, IsOk());
    EXPECT_THAT(reader->problems(), IsEmpty());
    const auto tracing = reader->DecodedFeature(FeatureBit::kTracingData);
    ASSERT_TRUE(tracing);
    EXPECT_EQ(std::get<TracingData>(*tracing).formats.size(), 1U);
    EXPECT_THAT(SamplesIn(directory / "perf.data"), ElementsAre(1, 2, 3));
  }
}

TEST(Writer, IsThereUnderItsNameOnlyWhenItIsPublished) {
  const TempDir directory;
  directory.Write("perf.data", "the old one");
  Writer writer = MustCreate(directory / "perf.data");
  EXPECT_EQ(ReadWholeFile(directory / "perf.data").value(), "the old one");
  EXPECT_THAT(writer.Publish(), IsOk());
  EXPECT_THAT(SamplesIn(directory / "perf.data"), IsEmpty());
}

TEST(Writer, KeepsTheOldFileAsOld) {
  const TempDir directory;
  directory.Write("perf.data", "the old one");
  directory.Write("perf.data.old", "the one before");
  Writer writer = MustCreate(directory / "perf.data");
  EXPECT_THAT(std::move(writer).Finish({}), IsOk());
  EXPECT_EQ(ReadWholeFile(directory / "perf.data.old").value(), "the old one");
  EXPECT_THAT(FilesIn(directory), SizeIs(2));
}

TEST(Writer, DoesNotBeginWhereTheOldFileCannotBeKept) {
  const TempDir directory;
  directory.Write("perf.data", "the old one");
  directory.Write("perf.data.old/in/the/way", "");
  const std::array events = {SomeEvent()};
  EXPECT_THAT(Writer::Create(directory / "perf.data", events),
              FailsWith(ErrorCode::kIo, HasSubstr("perf.data.old")));
  EXPECT_EQ(ReadWholeFile(directory / "perf.data").value(), "the old one");
  EXPECT_THAT(FilesIn(directory), SizeIs(2));
}

TEST(Writer, DoesNotLoseTheOldFileWhereItCannotBeKept) {
  const TempDir directory;
  directory.Write("perf.data", "the old one");
  {
    Writer writer = MustCreate(directory / "perf.data");
    directory.Write("perf.data.old/in/the/way", "");
    EXPECT_THAT(writer.Publish(), FailsWith(ErrorCode::kIo, HasSubstr("perf.data.old")));
  }
  EXPECT_EQ(ReadWholeFile(directory / "perf.data").value(), "the old one");
  EXPECT_THAT(FilesIn(directory), SizeIs(2));
}

TEST(Writer, KeepsItsFileIfItIsRenamedOver) {
  const TempDir directory;
  Writer first = MustCreate(directory / "perf.data");
  EXPECT_THAT(first.Publish(), IsOk());
  Writer second = MustCreate(directory / "perf.data");
  EXPECT_THAT(second.Publish(), IsOk());
  const UniqueFd file = first.DuplicateFile().value();
  EXPECT_THAT(first.Append(SampleAt(1)), IsOk());
  EXPECT_THAT(second.Append(SampleAt(2)), IsOk());
  EXPECT_THAT(std::move(second).Finish({}), IsOk());
  EXPECT_THAT(std::move(first).Finish({}), IsOk());
  EXPECT_THAT(WriteAllAt(file.get(), SampleAt(3), 1 << 20), IsOk());
  EXPECT_THAT(SamplesIn(directory / "perf.data"), ElementsAre(2));
  EXPECT_THAT(SamplesIn(directory / "perf.data.old"), ElementsAre(1));
  EXPECT_GT(std::filesystem::file_size(directory / "perf.data.old"), 1U << 20);
}

TEST(Writer, LosesNoFileWhenTwoArePublishedAtOnce) {
  for (int round = 0; round < 60; ++round) {
    const TempDir directory;
    Writer first = MustCreate(directory / "perf.data");
    Writer second = MustCreate(directory / "perf.data");
    std::atomic<int> ready = 0;
    const auto publish = [&](Writer& writer) {
      for (++ready; ready < 2;) {
        // Does not yield: both threads must publish in the same microseconds.
      }
      EXPECT_THAT(writer.Publish(), IsOk());
    };
    std::thread other(publish, std::ref(second));
    publish(first);
    other.join();
    ASSERT_THAT(FilesIn(directory),
                ElementsAre(directory / "perf.data", directory / "perf.data.old"));
  }
}

TEST(Writer, HasNoFileToDuplicateInAPipeOrADevice) {
  EXPECT_FALSE(MustCreate("/dev/null").DuplicateFile().value());
  const std::array events = {SomeEvent()};
  EXPECT_FALSE(Writer::CreatePipe("/dev/null", events, {})->DuplicateFile().value());
}

TEST(Writer, MakesAFileThatOnlyItsOwnerReads) {
  const TempDir directory;
  Writer writer = MustCreate(directory / "perf.data");
  ASSERT_THAT(writer.Publish(), IsOk());
  struct stat status = {};
  ASSERT_EQ(stat((directory / "perf.data").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST(Writer, FinishesWithFeaturesInTheOrderOfTheirBits) {
  const TempDir directory;
  Writer writer = MustCreate(directory / "perf.data");
  ASSERT_THAT(writer.Append(SampleAt(1)), IsOk());
  const std::array features = {Feature{FeatureBit::kClockData, ClockData{.wall_ns = 7}},
                               Feature{FeatureBit::kHostname, TextFeature{"machine"}},
                               Feature{FeatureBit{200}, RawFeature{{std::byte{1}}}}};
  const Result<std::uint64_t> size = std::move(writer).Finish(features);
  ASSERT_THAT(size, IsOk());
  EXPECT_EQ(*size, std::filesystem::file_size(directory / "perf.data"));

  const std::string file = ReadWholeFile(directory / "perf.data").value();
  const Result<Reader> reader = Reader::FromBytes(AsBytes(file));
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->problems(), IsEmpty());
  EXPECT_EQ(reader->text(FeatureBit::kHostname), "machine");
  EXPECT_EQ(std::get<ClockData>(*reader->DecodedFeature(FeatureBit::kClockData)).wall_ns, 7U);
  EXPECT_THAT(reader->features(), SizeIs(3));
  EXPECT_THAT(SamplesIn(AsBytes(file)), ElementsAre(1));
}

TEST(Writer, WritesEventsWithTheirIds) {
  const TempDir directory;
  const std::array events = {SomeEvent({5, 6, 7}), SomeEvent({8}), SomeEvent({9, 10})};
  Result<Writer> writer = Writer::Create(directory / "perf.data", events);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(std::move(*writer).Finish({}), IsOk());
  const std::string file = ReadWholeFile(directory / "perf.data").value();
  const Result<Reader> reader = Reader::FromBytes(AsBytes(file));
  ASSERT_THAT(reader, IsOk());
  ASSERT_THAT(reader->events().all(), SizeIs(3));
  EXPECT_THAT(reader->events()[0].ids, ElementsAre(5, 6, 7));
  EXPECT_THAT(reader->events()[1].ids, ElementsAre(8));
  EXPECT_THAT(reader->events()[2].ids, ElementsAre(9, 10));
  EXPECT_EQ(reader->data_offset() % 8, 0U);
}

// perf assumes that each entry of the table is as large as its own attribute (read_attr).
TEST(Writer, MakesAllAttributesAsLargeAsTheLargest) {
  const TempDir directory;
  std::array events = {SomeEvent({5}), SomeEvent({6})};
  events[0].attr.size = 96;
  events[1].attr.size = 136;
  events[1].attr.config3 = 7;
  Result<Writer> writer = Writer::Create(directory / "perf.data", events);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT(std::move(*writer).Finish({}), IsOk());
  const std::string file = ReadWholeFile(directory / "perf.data").value();
  const Result<Reader> reader = Reader::FromBytes(AsBytes(file));
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->problems(), IsEmpty());
  EXPECT_EQ(reader->events()[0].attr.size, 136U);
  EXPECT_EQ(reader->events()[1].attr.config3, 7U);
}

TEST(Writer, NeedsADirectoryThatIsThere) {
  const TempDir directory;
  const std::array events = {SomeEvent()};
  EXPECT_THAT(Writer::Create(directory / "absent/perf.data", events),
              FailsWith(ErrorCode::kNotFound, HasSubstr("absent/perf.data")));
}

TEST(Writer, WritesToADeviceAndNeverRenamesOverIt) {
  const TempDir directory;
  const auto null = MemoryDevice(directory, 3);
  if (!null) GTEST_SKIP() << "no device can be made in " << directory.path();
  Writer writer = MustCreate(*null);
  EXPECT_THAT(writer.Append(SampleAt(1)), IsOk());
  EXPECT_THAT(writer.Publish(), IsOk());
  EXPECT_THAT(std::move(writer).Finish({}), IsOk());
  EXPECT_TRUE(std::filesystem::is_character_file(*null));
}

TEST(Writer, MakesNoFileOfWhatOnlyAPipesStreamCanGoTo) {
  const TempDir directory;
  std::filesystem::create_symlink("/proc/self/fd/1", directory / "stdout");
  const std::array events = {SomeEvent()};
  for (const std::filesystem::path& path :
       {std::filesystem::path("-"), directory / "stdout", MakeFifo(directory / "fifo")}) {
    EXPECT_THAT(Writer::Create(path, events),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("cannot be written to a pipe")));
  }
  EXPECT_THAT(FilesIn(directory), ElementsAre(directory / "fifo", directory / "stdout"));
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "stdout"));
}

TEST(Writer, FollowsALinkToTheFileThatItKeepsAsOld) {
  const TempDir directory;
  directory.Write("deep/perf.data", "the old one");
  std::filesystem::create_symlink("deep/perf.data", directory / "link");
  Writer writer = MustCreate(directory / "link");
  EXPECT_THAT(std::move(writer).Finish({}), IsOk());
  EXPECT_TRUE(std::filesystem::is_symlink(directory / "link"));
  EXPECT_EQ(ReadWholeFile(directory / "deep/perf.data.old").value(), "the old one");
  EXPECT_THAT(SamplesIn(directory / "deep/perf.data"), IsEmpty());
}

TEST(Writer, KeepsTheModeOfAFileThatItReplaces) {
  const TempDir directory;
  const auto path = directory.Write("perf.data", "the old one");
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  const std::array events = {SomeEvent()};
  Result<Writer> writer = Writer::Create(path, events, {.old = OldFile::kReplace});
  ASSERT_THAT(writer, IsOk());
  EXPECT_THAT(std::move(*writer).Finish({}), IsOk());
  EXPECT_EQ(ModeOf(path), 0644U);
}

// Runs `body` in a process whose files must not grow beyond `limit` bytes, as on a full disk.
// Returns whether it succeeded.
bool WithFileSizeLimit(rlim_t limit, const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit size = {limit, limit};
    setrlimit(RLIMIT_FSIZE, &size);
    _exit(body() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Writer, KeepsWhatWasCommittedWhenTheDiskIsFull) {
  const TempDir directory;
  const auto path = directory / "perf.data";
  const bool ended_well = WithFileSizeLimit(4096, [&] {
    Writer writer = MustCreate(path);
    bool good = writer.Append(SampleAt(1)).has_value() && writer.Commit().has_value() &&
                writer.Publish().has_value();
    const std::uint64_t size = writer.size();
    const std::vector<std::byte> too_much(8192);
    good = good && writer.Append(too_much).has_value();
    const Status full = writer.Commit();
    good = good && !full && full.error().code == ErrorCode::kIo && writer.size() == size;
    // After that nothing is accepted, not even records that would fit.
    return good && !writer.Commit() && std::filesystem::file_size(path) == size;
  });
  EXPECT_TRUE(ended_well);
  EXPECT_THAT(SamplesIn(path), ElementsAre(1));
}

TEST(Writer, CommitsInsteadWhatStillFitsOnAFullDisk) {
  for (const std::optional<int> level : {std::optional<int>(), std::optional<int>(1)}) {
    const TempDir directory;
    const auto path = directory / "perf.data";
    const bool ended_well = WithFileSizeLimit(4096, [&] {
      const std::array events = {SomeEvent()};
      Writer writer = Writer::Create(path, events, {.compression_level = level}).value();
      bool good = writer.Append(SampleAt(1)).has_value() && writer.Commit().has_value() &&
                  writer.Publish().has_value();
      for (std::uint64_t ip = 2; ip < 5000; ++ip) {
        good = good && writer.Append(SampleAt(ip * 0x9e3779b97f4a7c15)).has_value();
      }
      good = good && !writer.Commit() && writer.Append(SampleAt(2)).has_value();
      good = good && writer.CommitInstead(SampleAt(3)).has_value();
      const std::array features = {Feature{FeatureBit::kHostname, TextFeature{"machine"}}};
      return good && std::move(writer).Finish(features).has_value();
    });
    EXPECT_TRUE(ended_well) << level.value_or(0);
    EXPECT_THAT(SamplesIn(path), ElementsAre(1, 3)) << level.value_or(0);
    const std::string file = ReadWholeFile(path).value_or("");
    EXPECT_EQ(Reader::FromBytes(AsBytes(file))->text(FeatureBit::kHostname), "machine");
  }
}

TEST(Writer, LeavesNothingBehindWhenTheFeaturesOfAnUnpublishedFileDoNotFit) {
  const TempDir directory;
  const bool ended_well = WithFileSizeLimit(4096, [&] {
    Writer writer = MustCreate(directory / "perf.data");
    const std::array features = {
        Feature{FeatureBit::kHostname, RawFeature{std::vector<std::byte>(8192)}}};
    return writer.Append(SampleAt(1)).has_value() && !std::move(writer).Finish(features);
  });
  EXPECT_TRUE(ended_well);
  EXPECT_THAT(FilesIn(directory), IsEmpty());
}

TEST(Writer, StaysPublishedWithoutFeaturesWhenOnlyTheyDoNotFit) {
  const TempDir directory;
  const auto path = directory / "perf.data";
  const bool ended_well = WithFileSizeLimit(4096, [&] {
    Writer writer = MustCreate(path);
    const std::array features = {
        Feature{FeatureBit::kHostname, RawFeature{std::vector<std::byte>(8192)}}};
    return writer.Append(SampleAt(1)).has_value() && writer.Publish().has_value() &&
           !std::move(writer).Finish(features);
  });
  EXPECT_TRUE(ended_well);
  const std::string file = ReadWholeFile(path).value_or("");
  const Result<Reader> reader = Reader::FromBytes(AsBytes(file));
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT(reader->problems(), IsEmpty());
  EXPECT_THAT(reader->features(), IsEmpty());
  EXPECT_THAT(SamplesIn(AsBytes(file)), ElementsAre(1));
}

std::string PathOf(int fd) {
  return "/dev/fd/" + std::to_string(fd);
}

// Returns the bytes that `write` sends through a pipe. It gets the path of the writing end, and
// runs on its own thread.
std::string SentThroughAPipe(const std::function<void(const std::string&)>& write) {
  std::array<int, 2> ends = {};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  const UniqueFd reading(ends[0]);
  std::thread writer([&, writing = UniqueFd(ends[1])]() mutable {
    write(PathOf(writing.get()));
    writing.Reset();
  });
  std::string sent;
  std::array<char, 4096> buffer = {};
  for (ssize_t got = 0; (got = read(reading.get(), buffer.data(), buffer.size())) > 0;) {
    sent.append(buffer.data(), static_cast<std::size_t>(got));
  }
  writer.join();
  return sent;
}

TEST(Writer, WritesIntoANamedPipe) {
  const TempDir directory;
  const auto fifo = MakeFifo(directory / "fifo");
  std::string sent;
  std::thread reader([&] { sent = ReadWholeFile(fifo).value_or(""); });
  const std::array events = {SomeEvent({5})};
  {
    Result<Writer> writer = Writer::CreatePipe(fifo, events, {});
    ASSERT_THAT(writer, IsOk());
    EXPECT_THAT(writer->Append(SampleAt(1)), IsOk());
    EXPECT_THAT(std::move(*writer).Finish({}), IsOk());
  }
  reader.join();
  EXPECT_THAT(SamplesIn(AsBytes(sent)), ElementsAre(1));
  EXPECT_TRUE(std::filesystem::is_fifo(fifo));
}

TEST(Writer, SendsEventsFeaturesAndNamesThroughAPipe) {
  const std::string sent = SentThroughAPipe([](const std::string& path) {
    const std::array events = {SomeEvent({5, 6}, "cpu-clock"), SomeEvent({7}, "off-cpu")};
    const std::array features = {Feature{FeatureBit::kHostname, TextFeature{"machine"}}};
    Result<Writer> writer = Writer::CreatePipe(path, events, features);
    ASSERT_THAT(writer, IsOk());
    EXPECT_EQ(writer->container(), Container::kPipe);
    EXPECT_THAT(writer->Append(SampleAt(1)), IsOk());
    EXPECT_THAT(writer->Commit(), IsOk());
    EXPECT_THAT(writer->Publish(), IsOk());
    EXPECT_THAT(writer->Append(SampleAt(2)), IsOk());
    EXPECT_THAT(std::move(*writer).Finish({}), IsOk());
  });
  const Result<Reader> reader = Reader::FromBytes(AsBytes(sent));
  ASSERT_THAT(reader, IsOk());
  EXPECT_EQ(reader->container(), Container::kPipe);
  ASSERT_THAT(reader->events().all(), SizeIs(2));
  EXPECT_THAT(reader->events()[0].ids, ElementsAre(5, 6));
  EXPECT_EQ(reader->events()[1].name, "off-cpu");
  EXPECT_EQ(reader->text(FeatureBit::kHostname), "machine");
  EXPECT_THAT(SamplesIn(AsBytes(sent)), ElementsAre(1, 2));
}

TEST(Writer, SendsTracingDataAfterItsRecordInAPipe) {
  const std::string sent = SentThroughAPipe([](const std::string& path) {
    const std::array events = {SomeEvent({5}, "cpu-clock")};
    const std::array features = {
        Feature{FeatureBit::kTracingData,
                TracingData{.version = "0.6", .formats = std::vector<std::byte>(100'000)}}};
    Result<Writer> writer = Writer::CreatePipe(path, events, features);
    ASSERT_THAT(writer, IsOk());
    EXPECT_THAT(writer->Append(SampleAt(1)), IsOk());
    EXPECT_THAT(std::move(*writer).Finish({}), IsOk());
  });
  EXPECT_GT(sent.size(), 100'000U);
  EXPECT_THAT(SamplesIn(AsBytes(sent)), ElementsAre(1));
}

TEST(Writer, ReportsABrokenPipe) {
  signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends = {};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  close(ends[0]);
  const UniqueFd writing(ends[1]);
  const std::array events = {SomeEvent()};
  Result<Writer> writer = Writer::CreatePipe(PathOf(writing.get()), events, {});
  ASSERT_THAT(writer, IsOk());
  EXPECT_THAT(writer->Commit(), FailsWith(ErrorCode::kIo, HasSubstr("Broken pipe")));
  signal(SIGPIPE, SIG_DFL);
}

TEST(Writer, RefusesAnEventWithMoreIdsThanAnAttrRecordHolds) {
  const std::array events = {SomeEvent(std::vector<std::uint64_t>(9000))};
  EXPECT_THAT(Writer::CreatePipe("/dev/null", events, {}), FailsWith(ErrorCode::kUnsupported));
}

}  // namespace
}  // namespace perftape::perfdata
