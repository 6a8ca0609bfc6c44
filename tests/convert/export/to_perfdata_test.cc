// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_perfdata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "convert/model/label_keys.h"
#include "formats/base/input.h"
#include "formats/perfdata/address_space.h"
#include "formats/perfdata/converted.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using perfdata::RecordType;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A SAMPLE in readable form.
struct Seen {
  std::string event, comm;
  std::uint32_t pid = 0, tid = 0, cpu = 0;
  std::uint64_t time = 0, period = 0, cgroup = 0, address = 0;
  std::vector<std::string> frames = {};  // leaf first: names, or "file+0x10", or "0x10"
};

std::string Hex(std::uint64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// Reads a written file back, record by record, as perf does.
class WrittenFile {
 public:
  explicit WrittenFile(const Profile& profile, PerfDataOptions options = {}) {
    const Result<PerfDataReport> written = WritePerfData(profile, options, directory_ / "out.data");
    EXPECT_TRUE(written) << written.error().message;
    if (written) report = *written;
    input_.emplace(Input::Open(directory_ / "out.data").value());
    Result<perfdata::Reader> opened = perfdata::Reader::Open(*input_);
    EXPECT_TRUE(opened) << opened.error().message;
    reader.emplace(std::move(opened).value());
    EXPECT_THAT(reader->problems(), IsEmpty());
    perfdata::RecordCursor cursor = reader->records();
    while (const auto record = *cursor.Next()) Take(*record);
  }

  std::string bytes() const { return ReadWholeFile(directory_ / "out.data").value(); }

 private:
  TempDir directory_;
  std::optional<Input> input_;

 public:
  std::optional<perfdata::Reader> reader;
  PerfDataReport report;
  std::vector<Seen> samples;
  std::vector<RecordType> types;
  std::vector<std::string> functions;  // of KSYMBOL

 private:
  void Take(const perfdata::RecordView& record) {
    types.push_back(record.type);
    const perfdata::Event* event = reader->events().EventOf(record);
    if (record.type == RecordType::kKsymbol) {
      functions.emplace_back(perfdata::Decode<perfdata::Ksymbol>(record, event->format)->name);
    }
    processes_.Apply(record, event->format);
    if (record.type != RecordType::kSample) return;
    const perfdata::Sample sample = perfdata::DecodeSample(record, event->format).value();
    Seen& seen = samples.emplace_back(Seen{.event = event->name,
                                           .comm = std::string(processes_.CommOf(sample.tid)),
                                           .pid = sample.pid,
                                           .tid = sample.tid,
                                           .cpu = sample.cpu,
                                           .time = sample.time,
                                           .period = sample.period,
                                           .cgroup = sample.cgroup,
                                           .address = sample.addr});
    perfdata::CpuMode mode = record.cpumode();
    for (const std::uint64_t entry : sample.callchain) {
      if (entry == perfdata::kContextKernel) mode = perfdata::CpuMode::kKernel;
      if (entry == perfdata::kContextUser) mode = perfdata::CpuMode::kUser;
      if (entry < perfdata::kContextMax) {
        seen.frames.push_back(FrameText(sample.pid, mode, entry));
      }
    }
  }

  std::string FrameText(std::uint32_t pid, perfdata::CpuMode mode, std::uint64_t address) {
    const perfdata::Region* region = processes_.Find(pid, mode, address);
    if (region == nullptr) return Hex(address);
    if (!region->dso->symbol.empty()) return region->dso->symbol;
    return region->dso->path + "+" + Hex(address - region->start + region->page_offset);
  }

  perfdata::Processes processes_;
};

EventId Plain(ProfileMaker& made, std::string_view name, std::uint8_t decimals = 0) {
  return made.builder.Add(Event{.name = made.builder.Add(name),
                                .unit = made.builder.Add("count"),
                                .values = EventValues::kPlain,
                                .decimals = decimals});
}

TEST(WritePerfData, NamesEachFunctionOnceByAKsymbol) {
  ProfileMaker made;
  const EventId event = Plain(made, "samples");
  made.Hit(made.Calls({"main", "f"}), {}, event, 0, 3);
  made.Hit(made.Calls({"main", "std::vector<int, 2>; x"}), {}, event, 0, 4);
  const WrittenFile file(made.Make());
  EXPECT_THAT(file.functions, ElementsAre("f", "main", "std::vector<int, 2>; x"));
  ASSERT_THAT(file.samples, SizeIs(2));
  EXPECT_THAT(file.samples[0].frames, ElementsAre("f", "main"));
  EXPECT_THAT(file.samples[1].frames, ElementsAre("std::vector<int, 2>; x", "main"));
}

TEST(WritePerfData, WritesOneRecordForAPlainValue) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), {}, Plain(made, "alloc_space"), 0, 4096);
  const WrittenFile file(made.Make());
  ASSERT_THAT(file.samples, SizeIs(1));
  EXPECT_EQ(file.samples[0].event, "alloc_space");
  EXPECT_EQ(file.samples[0].period, 4096);
  EXPECT_EQ(perfdata::ConvertedEventOf(file.reader->events()[0].attr)->is_plain, true);
}

TEST(WritePerfData, WritesARecordForEachCountAndSharesThePeriodOut) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), made.Runs("app"), made.Counts("cycles"), 3, 1000);
  const WrittenFile file(made.Make());
  std::vector<std::uint64_t> periods;
  for (const Seen& sample : file.samples) periods.push_back(sample.period);
  EXPECT_THAT(periods, ElementsAre(334, 333, 333));
}

TEST(WritePerfData, JoinsCountsBeyondTheMostRecords) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), {}, made.Counts("cycles"), 1'000'000'000'000, 7'000);
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles"), 1, 5);
  const WrittenFile file(made.Make(), {.most_records = 10});
  EXPECT_EQ(file.report.records, file.samples.size());
  EXPECT_EQ(file.report.joined_counts + file.samples.size(), 1'000'000'000'001);
  std::uint64_t sum = 0;
  for (const Seen& sample : file.samples) sum += sample.period;
  EXPECT_EQ(sum, 7'005);
}

TEST(WritePerfData, WritesTheCommBeforeTheSamples) {
  ProfileMaker made;
  const EventId event = Plain(made, "samples");
  made.Hit(made.Calls({"f"}), made.Runs("sh", 7, 8), event, 0, 1);
  made.Hit(made.Calls({"f"}), made.Runs("make", 7, 8), event, 0, 2);
  made.Hit(made.Calls({"f"}), made.Runs("cc", 9, 9), event, 0, 3);
  std::map<std::string, std::uint64_t> periods;
  const WrittenFile file(made.Make());
  for (const Seen& sample : file.samples) periods[sample.comm] = sample.period;
  EXPECT_EQ(periods, (std::map<std::string, std::uint64_t>{{"cc", 3}, {"make", 2}, {"sh", 1}}));
}

TEST(WritePerfData, UsesAnImpossibleTidForMissingThreads) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, Plain(made, "samples"), 0, 1);
  const WrittenFile file(made.Make());
  EXPECT_EQ(file.samples[0].tid, perfdata::kNoThread);
  EXPECT_EQ(file.samples[0].comm, "[no-thread]");
}

TEST(WritePerfData, KeepsTheAddressOfAFrameWithoutAName) {
  ProfileMaker made;
  const MappingId library = made.Map("/lib/libx.so");  // at 0x1000
  made.Hit(
      made.Calls({made.Frame(library, 0x10), made.Frame({}, 0x9999), made.Frame(library, 0x20)}),
      made.Runs("app"), Plain(made, "samples"), 0, 1);
  // Readers subtract 1 from the addresses of callers.
  EXPECT_THAT(WrittenFile(made.Make()).samples[0].frames,
              ElementsAre("/lib/libx.so+0x20", "0x999a", "/lib/libx.so+0x11"));
}

TEST(WritePerfData, MovesAnOverlappingMapping) {
  ProfileMaker made;
  const auto map = [&](std::string_view path) {
    return made.builder.Add(
        Mapping{.filename = made.builder.Add(path), .start = 0x40'0000, .limit = 0x41'0000});
  };
  const MappingId a = map("/bin/a"), b = map("/bin/b");
  made.Hit(made.Calls({made.Frame(a, 0x10)}), made.Runs("a", 1, 1), Plain(made, "s"), 0, 1);
  made.Hit(made.Calls({made.Frame(b, 0x10)}), made.Runs("b", 2, 2), Plain(made, "s"), 0, 1);
  const WrittenFile file(made.Make());
  EXPECT_THAT(file.samples[0].frames, ElementsAre("/bin/a+0x10"));
  EXPECT_THAT(file.samples[1].frames, ElementsAre("/bin/b+0x10"));
}

TEST(WritePerfData, NamesAFrameWhoseAddressIsOutsideItsMapping) {
  ProfileMaker made;
  const MappingId nowhere = made.builder.Add(Mapping{.filename = made.builder.Add("/lib/libx.so")});
  made.Hit(made.Calls({made.Frame(nowhere, 0x10)}), {}, Plain(made, "s"), 0, 1);
  const WrittenFile file(made.Make());
  EXPECT_THAT(file.samples[0].frames, ElementsAre("[libx.so]"));
  EXPECT_EQ(file.report.displaced_frames, 1);
}

TEST(WritePerfData, MakesAFrameOfEachInlinedCall) {
  ProfileMaker made;
  const MappingId library = made.Map("/lib/libx.so");
  made.Hit(made.Calls({made.Frame(library, 0x10, {"inner", "outer"})}), {}, Plain(made, "s"), 0, 1);
  EXPECT_THAT(WrittenFile(made.Make()).samples[0].frames, ElementsAre("inner", "outer"));
}

TEST(WritePerfData, HasLabelsForTimeCpuAndControlGroup) {
  ProfileMaker made;
  ProfileBuilder& builder = made.builder;
  const Label labels[] = {
      {.key = builder.Add("cgroup"), .text = builder.Add("/system.slice")},
      {.key = builder.Add("cpu"), .number = 3, .unit = builder.Add("cpu")},
      {.key = builder.Add("request"), .text = builder.Add("GET")},
      {.key = builder.Add("timestamp_ns"), .number = 5'000'000, .unit = builder.Add("ns")}};
  builder.Add(Sample{.stack = made.Calls({"f"}),
                     .event = Plain(made, "s"),
                     .labels = builder.Add(labels),
                     .period = 1});
  const WrittenFile file(made.Make());
  EXPECT_EQ(file.samples[0].cpu, 3);
  EXPECT_EQ(file.samples[0].time, 5'000'000);
  EXPECT_EQ(file.samples[0].cgroup, 1);
  EXPECT_THAT(file.report.lost_labels, ElementsAre("request"));
  EXPECT_THAT(LossLines(file.report),
              ElementsAre("labels that a perf.data cannot contain: request"));
}

TEST(WritePerfData, HasTheWokenThreadOnlyInWakeups) {
  ProfileMaker made;
  const StringId key = made.builder.Add(kWokenTidLabel);
  const Label label[] = {{.key = key, .number = 8, .unit = key}};
  for (const std::string_view event : {"wakeup", "cycles"}) {
    made.builder.Add(Sample{.stack = made.Calls({"main"}),
                            .thread = made.Runs("app"),
                            .event = made.Counts(event),
                            .labels = made.builder.Add(label),
                            .count = 1,
                            .period = 1});
  }
  const WrittenFile file(made.Make());
  EXPECT_THAT(file.report.lost_labels, ElementsAre("woken_tid"));
  ASSERT_THAT(file.samples, SizeIs(2));
  for (const Seen& seen : file.samples) EXPECT_EQ(seen.address, seen.event == "wakeup" ? 8 : 0);
}

TEST(WritePerfData, ReportsAndOmitsNegativeValues) {
  ProfileMaker made;
  const EventId event = Plain(made, "difference");
  made.Hit(made.Calls({"f"}), {}, event, 0, -4);
  made.Hit(made.Calls({"g"}), {}, event, 0, 0);
  const WrittenFile file(made.Make());
  EXPECT_THAT(file.samples, SizeIs(1));
  EXPECT_EQ(file.report.negative_samples, 1);
}

TEST(WritePerfData, CutsWhatIsTooLongForARecord) {
  ProfileMaker made;
  const EventId event = Plain(made, "s");
  made.Hit(made.Calls({made.Frame(std::string(100'000, 'a') + "1")}), {}, event, 0, 1);
  made.Hit(made.Calls({made.Frame(std::string(100'000, 'a') + "2")}), {}, event, 0, 1);
  StackId deep;
  for (int i = 0; i < 10'000; ++i)
    deep = made.builder.Push(deep, made.Frame(std::to_string(i % 7)));
  made.Hit(deep, {}, event, 0, 1);
  const WrittenFile file(made.Make());
  EXPECT_EQ(file.report.cut_names, 2);
  EXPECT_EQ(file.report.cut_stacks, 1);
  EXPECT_NE(file.functions[7], file.functions[8]);  // after "0" to "6"
  EXPECT_EQ(file.samples[0].frames.size() > 7'900, true);
}

TEST(WritePerfData, SpreadsTheSamplesOverTheTimeOfTheProfile) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles"), 3, 3);
  made.builder.SetMetadata({.start_time_ns = 1'700'000'000'000'000'000, .duration_ns = 1'000});
  std::vector<std::uint64_t> times;
  const WrittenFile file(made.Make());
  for (const Seen& sample : file.samples) times.push_back(sample.time);
  EXPECT_THAT(times, ElementsAre(1'700'000'000'000'000'000, 1'700'000'000'000'000'500,
                                 1'700'000'000'000'001'000));
}

TEST(WritePerfData, ReadsHostAndCommandAndReportsOtherComments) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles"), 1, 1);
  made.builder.SetMetadata({.comments = {"hostname: box", "command line: app -x", "hello"}});
  const WrittenFile file(made.Make());
  EXPECT_EQ(file.reader->text(perfdata::FeatureBit::kHostname), "box");
  EXPECT_THAT(file.report.lost_facts, ElementsAre("comment"));
}

TEST(WritePerfData, DoesNotDependOnTheOrderOfAdding) {
  ProfileMaker forth, back;
  const auto fill = [](ProfileMaker& made, std::vector<std::string_view> names) {
    for (const std::string_view name : names) {
      made.Hit(made.Calls({"main", name}), made.Runs(name), made.Counts("cycles"), 2, 5);
    }
  };
  fill(forth, {"a", "b", "c"});
  fill(back, {"c", "b", "a"});
  EXPECT_EQ(WrittenFile(forth.Make()).bytes(), WrittenFile(back.Make()).bytes());
}

TEST(WritePerfData, WritesAPipesStreamAndCompressedFiles) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("app"), made.Counts("cycles"), 3, 1000);
  const Profile profile = made.Make();
  EXPECT_THAT(WrittenFile(profile, {.container = perfdata::Container::kPipe}).samples, SizeIs(3));
  EXPECT_THAT(WrittenFile(profile, {.compression_level = 3}).samples, SizeIs(3));
}

TEST(WritePerfData, WritesAFileWithoutSamplesForAnEmptyProfile) {
  EXPECT_THAT(WrittenFile(Profile()).samples, IsEmpty());
}

TEST(WritePerfData, RefusesToReplaceAFileUnlessAsked) {
  const TempDir directory;
  ASSERT_TRUE(WritePerfData(Profile(), {}, directory / "out.data"));
  EXPECT_THAT(WritePerfData(Profile(), {}, directory / "out.data"),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_TRUE(WritePerfData(Profile(), {.if_exists = IfExists::kReplace}, directory / "out.data"));
}

TEST(WritePerfData, ReportsAFullDisk) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles"), 3, 3);
  const TempDir directory;
  const auto full = MemoryDevice(directory, 7);
  if (!full) GTEST_SKIP() << "no device can be made in " << directory.path();
  EXPECT_THAT(WritePerfData(made.Make(), {}, *full), FailsWith(ErrorCode::kIo));
}

TEST(WritePerfData, LeavesNothingWhereItCannotWrite) {
  const TempDir directory;
  EXPECT_THAT(WritePerfData(Profile(), {}, directory / "nowhere" / "out.data"),
              FailsWith(ErrorCode::kNotFound));
  EXPECT_TRUE(std::filesystem::is_empty(directory / "."));
}

}  // namespace
}  // namespace perftape::convert
