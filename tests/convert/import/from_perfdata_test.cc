// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_perfdata.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "convert/model/sample_thread.h"
#include "convert/model/validate.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape {
namespace {

using perfdata::Container;
using perfdata::CpuMode;
using perfdata::FeatureBit;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Imported {
  Profile profile;
  ImportReport report;
};

Imported Import(Bytes file, const ImportOptions& options = {}) {
  Imported imported;
  Input input = Input::FromBytes(file);
  Result<Profile> profile = ReadPerfData(input, options, imported.report);
  if (!profile) throw std::runtime_error(profile.error().message);
  imported.profile = *std::move(profile);
  EXPECT_THAT(Validate(imported.profile), IsOk());
  return imported;
}

Imported Import(const PerfDataBuilder& file, const ImportOptions& options = {}) {
  const std::vector<std::byte> bytes = file.Build();
  return Import(bytes, options);
}

std::string Hex(std::uint64_t number) {
  std::array<char, 20> text = {};
  std::snprintf(text.data(), text.size(), "%lx", static_cast<unsigned long>(number));
  return text.data();
}

// A frame as "ls+1f" (offset in the file), its name, or "?7ff0" where nothing is mapped.
std::string Shown(const Profile& profile, const Location& frame) {
  if (!frame.lines.empty()) {
    return std::string(profile.text(profile[frame.lines[0].function].name));
  }
  if (frame.mapping == MappingId{}) return '?' + Hex(frame.offset.value);
  return std::string(BaseName(profile.text(profile[frame.mapping].filename))) + '+' +
         Hex(frame.offset.value);
}

// One line a sample, sorted: "comm;root;leaf 2", and the sum of the periods where it is another
// number.
std::vector<std::string> Lines(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    std::string frames;
    for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
      frames = ';' + Shown(profile, profile[profile[at].leaf]) + frames;
    }
    std::string line(profile.text(profile[sample.thread].comm));
    line += frames + ' ' + std::to_string(sample.count);
    if (sample.period != sample.count) line += " (" + std::to_string(sample.period) + ')';
    lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

std::vector<std::string> Lines(const PerfDataBuilder& file) {
  return Lines(Import(file).profile);
}

// A process 7 "worker" with /bin/app at 0x400000 (from 0x1000 of the file on), and a kernel.
PerfDataBuilder OneProcess(Container container = Container::kFile) {
  PerfDataBuilder file(container);
  file.AddEvent();
  file.AddMmap({.pid = ~0U,
                .start = 0xffffffff81000000,
                .length = 0x1000000,
                .page_offset = 0xffffffff81000000,
                .path = "[kernel.kallsyms]_text",
                .mode = CpuMode::kKernel});
  file.AddComm({.pid = 7, .tid = 7, .comm = "worker"});
  file.AddMmap({.pid = 7,
                .tid = 7,
                .start = 0x400000,
                .length = 0x10000,
                .page_offset = 0x1000,
                .path = "/bin/app"});
  return file;
}

TEST(ImportPerfData, AddsUpSamplesOfEqualStacks) {
  PerfDataBuilder file = OneProcess();
  const std::vector<std::uint64_t> chain = {kContextUser, 0x400010, 0x400101};
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1, .callchain = chain});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 2, .callchain = chain});
  file.AddSample({.ip = 0x400020,
                  .pid = 7,
                  .tid = 7,
                  .time = 3,
                  .callchain = {kContextUser, 0x400020, 0x400101}});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile),
              ElementsAre("worker;app+1100;app+1010 2", "worker;app+1100;app+1020 1"));
  EXPECT_EQ(imported.report.samples, 3U);
  EXPECT_EQ(imported.report.frames, 6U);
}

TEST(ImportPerfData, LooksUpReturnAddressesOneByteBefore) {
  // The call is the last instruction of its function and of the mapping: what follows is another.
  PerfDataBuilder file = OneProcess();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x410000, .path = "/lib/next"});
  file.AddSample(
      {.ip = 0x410000, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x410000, 0x410000}});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+10fff;next+0 1"));
}

TEST(ImportPerfData, TellsKernelFramesFromUserFrames) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0xffffffff81000500,
                  .pid = 7,
                  .tid = 7,
                  .callchain = {kContextKernel, 0xffffffff81000500, 0xffffffff81000601,
                                kContextUser, 0x400010, 0x400101},
                  .mode = CpuMode::kKernel});
  const Imported imported = Import(file);
  // What opens the user part is the instruction that was interrupted, not a return address.
  EXPECT_THAT(Lines(imported.profile),
              ElementsAre("worker;app+1100;app+1010;[kernel.kallsyms]+ffffffff81000600;"
                          "[kernel.kallsyms]+ffffffff81000500 1"));
  const auto kernel =
      std::ranges::find(imported.profile.mappings(), MappingKind::kKernel, &Mapping::kind);
  ASSERT_NE(kernel, imported.profile.mappings().end());
  EXPECT_EQ(imported.profile.text(kernel->filename), "[kernel.kallsyms]");
}

TEST(ImportPerfData, DoesNotLookForUserAddressesInTheKernel) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0xffffffff81000500, .pid = 7, .tid = 7});  // in user mode
  EXPECT_THAT(Lines(file), ElementsAre("worker;?ffffffff81000500 1"));
}

TEST(ImportPerfData, TakesTheAddressWhereThereIsNoCallchain) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddSample({.ip = 0x400020, .pid = 7, .tid = 7, .callchain = {kContextUser}});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+1010 1", "worker;app+1020 1"));
}

TEST(ImportPerfData, EndsAChainAtGarbageThatLooksLikeAMarker) {
  PerfDataBuilder file = OneProcess();
  const std::uint64_t garbage = static_cast<std::uint64_t>(-3000);
  file.AddSample({.ip = 0x400010,
                  .pid = 7,
                  .tid = 7,
                  .callchain = {kContextUser, 0x400010, 0x400101, garbage, 0x400201}});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+1100;app+1010 1"));
}

TEST(ImportPerfData, KeepsTheAddressOfASampleWhoseChainIsAllGarbage) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .callchain = {~std::uint64_t{0}, 0x400201}});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+1010 1"));
}

TEST(ImportPerfData, CountsUnmappedFramesForEachSample) {
  PerfDataBuilder file = OneProcess();
  for (int i = 0; i < 3; ++i) {
    file.AddSample(
        {.ip = 0x400010, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x400010, 0x9001}});
  }
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;?9000;app+1010 3"));
  EXPECT_EQ(imported.report.frames, 6U);
  EXPECT_EQ(imported.report.unmapped_frames, 3U);
}

TEST(ImportPerfData, NamesAndMappingsAreThoseOfASamplesTime) {
  // The file is out of order, as CPUs are drained one behind the other.
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 20});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 40});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 5});
  file.AddComm({.pid = 7, .tid = 7, .comm = "before", .time = 10});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/lib/a", .time = 11});
  file.AddComm({.pid = 7, .tid = 7, .comm = "after", .time = 30});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/lib/b", .time = 31});
  EXPECT_THAT(Lines(file), ElementsAre(":7;?400010 1", "after;b+10 1", "before;a+10 1"));
}

TEST(ImportPerfData, KeepsEqualChainsOfDifferentMappingsApart) {
  PerfDataBuilder file = OneProcess();
  file.AddComm({.pid = 8, .tid = 8, .comm = "other"});
  file.AddMmap({.pid = 8, .tid = 8, .start = 0x400000, .path = "/bin/other"});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddSample({.ip = 0x400010, .pid = 8, .tid = 8});
  EXPECT_THAT(Lines(file), ElementsAre("other;other+10 1", "worker;app+1010 1"));
}

TEST(ImportPerfData, ForgetsTheOldProgramAtExec) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1});
  file.AddComm({.pid = 7, .tid = 7, .comm = "ls", .time = 2, .misc = perfdata::kMiscCommExec});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 3});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/bin/ls", .time = 4});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 5});
  EXPECT_THAT(Lines(file), ElementsAre("ls;?400010 1", "ls;ls+10 1", "worker;app+1010 1"));
}

TEST(ImportPerfData, GivesAChildItsParentsNameAndMappings) {
  PerfDataBuilder file = OneProcess();
  file.AddFork({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .time = 1});
  file.AddSample({.ip = 0x400010, .pid = 8, .tid = 8, .time = 2});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1010 1"));
  EXPECT_EQ(imported.profile.threads()[1].pid, 8U);
}

TEST(ImportPerfData, KeepsThreadsApart) {
  PerfDataBuilder file = OneProcess();
  file.AddFork({.pid = 7, .ppid = 7, .tid = 71, .ptid = 7});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 71});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1010 1", "worker;app+1010 1"));
  EXPECT_EQ(imported.profile.stacks().size(), 2U);  // the empty one, and theirs
}

TEST(ImportPerfData, TakesTheNamesThatTheRecordingItselfTells) {
  PerfDataBuilder file = OneProcess();
  file.AddKsymbol({.address = 0xffffffffc0001000,
                   .length = 0x100,
                   .symbol_type = perfdata::Ksymbol::kTypeBpf,
                   .name = "bpf_prog_12ab_on_cpu"});
  file.AddSample({.ip = 0xffffffffc0001010, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
  EXPECT_THAT(Lines(file), ElementsAre("worker;bpf_prog_12ab_on_cpu 1"));
}

TEST(ImportPerfData, SumsPeriods) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .period = 1000});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .period = 500});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+1010 2 (1500)"));
}

TEST(ImportPerfData, TakesTheAttributesPeriodWhereSamplesHaveNone) {
  PerfDataBuilder file;
  file.AddEvent({.sample_period = 4000, .sample_type = perfdata::kIp | perfdata::kTid});
  file.AddSample({.ip = 0x10, .pid = 7, .tid = 7});
  EXPECT_THAT(Lines(file), ElementsAre(":7;?10 1 (4000)"));
}

TEST(ImportPerfData, KeepsEventsApart) {
  PerfDataBuilder file;
  file.AddEvent({.name = "cpu-clock", .sample_period = 100});
  file.AddEvent({.name = "cycles", .type = perfdata::kTypeHardware, .sample_period = 200});
  perfdata::EventDesc names;
  names.events = {{.attr = {}, .format = {}, .ids = {101}, .name = "cpu-clock"},
                  {.attr = {}, .format = {}, .ids = {102}, .name = "cycles"}};
  file.AddFeature(FeatureBit::kEventDesc, names);
  file.AddSample({.ip = 0x10, .pid = 7, .tid = 7, .event = 0});
  file.AddSample({.ip = 0x10, .pid = 7, .tid = 7, .event = 1});
  const Profile profile = Import(file).profile;
  ASSERT_EQ(profile.events().size(), 2U);
  EXPECT_EQ(profile.text(profile.events()[0].name), "cpu-clock");
  EXPECT_EQ(profile.text(profile.events()[0].unit), "nanoseconds");
  EXPECT_EQ(profile.events()[0].period, 100U);
  EXPECT_EQ(profile.text(profile.events()[1].name), "cycles");
  EXPECT_EQ(profile.text(profile.events()[1].unit), "count");
  EXPECT_EQ(profile.samples().size(), 2U);
}

TEST(ImportPerfData, HasTheEventsInTheFilesOrderThatHaveSamples) {
  PerfDataBuilder file;
  for (const char* name : {"a", "b", "c"}) file.AddEvent({.name = name, .config = 8});
  perfdata::EventDesc names;
  names.events = {{.attr = {}, .format = {}, .ids = {101}, .name = "a"},
                  {.attr = {}, .format = {}, .ids = {102}, .name = "b"},
                  {.attr = {}, .format = {}, .ids = {103}, .name = "c"}};
  file.AddFeature(FeatureBit::kEventDesc, names);
  const auto shown = [&] {
    std::vector<std::string> events;
    const Profile profile = Import(file).profile;
    for (const Event& event : profile.events()) events.emplace_back(profile.text(event.name));
    return events;
  };
  EXPECT_THAT(shown(), ElementsAre("a", "b", "c"));
  file.AddSample({.ip = 0x10, .event = 2});
  file.AddSample({.ip = 0x10, .event = 0});
  EXPECT_THAT(shown(), ElementsAre("a", "c"));
}

TEST(ImportPerfData, TakesCpusForLabelsWhereAsked) {
  PerfDataBuilder file = OneProcess();
  for (const std::uint32_t cpu : {1U, 0U, 1U}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .cpu = cpu});
  }
  const Profile profile = Import(file, {.cpu_label = true}).profile;
  std::vector<std::string> shown;
  for (const Sample& sample : profile.samples()) {
    const Label* cpu = FindLabel(profile, sample.labels, "cpu");
    ASSERT_NE(cpu, nullptr);
    EXPECT_EQ(profile.text(cpu->unit), "cpu");
    shown.push_back(fmt::format("{}: {}", cpu->number, sample.count));
  }
  EXPECT_THAT(shown, ElementsAre("1: 2", "0: 1"));
  EXPECT_EQ(Import(file).profile.samples().size(), 1U);
}

TEST(ImportPerfData, TakesControlGroupsForLabelsWhereAsked) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIp | perfdata::kSampleCgroup});
  file.Add(perfdata::Cgroup{5, "/system.slice"});
  for (const std::uint64_t cgroup : {5U, 6U}) {
    std::vector<std::byte> record;
    ASSERT_THAT(
        EncodeSample(perfdata::Sample{.ip = 0x10, .cgroup = cgroup}, file.format(0), 2, record),
        IsOk());
    file.AddRaw(record);
  }
  const Profile profile = Import(file, {.cgroup_label = true}).profile;
  std::vector<std::string> shown;
  for (const Sample& sample : profile.samples()) {
    shown.emplace_back(profile.text(FindLabel(profile, sample.labels, "cgroup")->text));
  }
  EXPECT_THAT(shown, ElementsAre("/system.slice", "6"));
}

TEST(ImportPerfData, LeavesOutAndCountsWhatIsOutsideTheTimeAskedFor) {
  PerfDataBuilder file = OneProcess();
  for (const std::uint64_t time : {1000U, 2000U, 3000U}) {
    file.AddSample({.ip = 0x400000 + time, .pid = 7, .tid = 7, .time = time});
  }
  file.AddSample({.ip = 0x400001, .pid = 7, .tid = 7});  // of no time
  const Imported imported = Import(file, {.time = TimeRange{.from = TimePoint{.nanoseconds = 500},
                                                            .to = TimePoint{.percent = 75}}});
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1001 1", "worker;app+17d0 1"));
  EXPECT_EQ(imported.report.samples, 2U);
  EXPECT_EQ(imported.report.outside_time, 2U);
}

TEST(ImportPerfData, CountsASampleOfAGroupOnceForEachCounterThatGrew) {
  PerfDataBuilder file;
  const std::uint64_t sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kRead;
  const std::uint64_t read_format = perfdata::kReadGroup | perfdata::kReadId;
  file.AddEvent({.type = perfdata::kTypeHardware,
                 .config = 0,  // cycles
                 .sample_type = sample_type,
                 .read_format = read_format});
  file.AddEvent({.config = 2,  // page-faults
                 .sample_type = sample_type,
                 .read_format = read_format});
  for (const std::uint64_t cycles : {1000U, 1500U}) {
    // nr, then value and id of each; the faults stay at 3.
    const std::array<std::uint64_t, 5> read = {2, cycles, 101, 3, 102};
    std::vector<std::byte> record;
    ASSERT_THAT(EncodeSample(perfdata::Sample{.id = 101, .ip = 0x10, .read = WordArray(read)},
                             file.format(0), MiscOf(CpuMode::kUser), record),
                IsOk());
    file.AddRaw(record);
  }
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("swapper;?10 1 (3)", "swapper;?10 2 (1500)"));
  EXPECT_EQ(imported.report.samples, 3U);
}

TEST(ImportPerfData, NominalPeriodOfAClockFollowsFromItsFrequency) {
  PerfDataBuilder file;
  file.AddEvent({.sample_period = 99, .flags = perfdata::kFreq | perfdata::kSampleIdAll});
  file.AddSample({.ip = 0x10, .pid = 7, .tid = 7});
  EXPECT_EQ(Import(file).profile.events()[0].period, 1'000'000'000U / 99);
}

TEST(ImportPerfData, CountsWhatWasLost) {
  PerfDataBuilder file = OneProcess();
  file.AddLost(5);
  file.AddLost(6);
  file.AddLostSamples(7);
  file.AddLostSamples(100, 0, perfdata::kMiscLostSamplesBpf);  // let go on purpose
  const ImportReport report = Import(file).report;
  EXPECT_EQ(report.lost_records, 11U);
  EXPECT_EQ(report.lost_samples, 7U);
}

TEST(ImportPerfData, KeepsWhatCameBeforeADamagedTail) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1});
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 0x100});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1010 1"));
  EXPECT_EQ(imported.report.damaged_records, 1U);
  EXPECT_THAT(imported.report.problems, ElementsAre(HasSubstr("no whole record")));
}

TEST(ImportPerfData, PassesOverADamagedSampleInTheMiddle) {
  PerfDataBuilder file = OneProcess();
  const std::size_t place = file.Open().data_offset() + file.records().size();
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 8});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1010 1"));
  EXPECT_EQ(imported.report.skipped_samples, 1U);
  EXPECT_EQ(imported.report.first_skipped, fmt::format("{:#x}", place));
  EXPECT_EQ(imported.report.damaged_records, 1U);
}

TEST(ImportPerfData, CountsSamplesOfUnknownEventsButHearsOfTheirProcesses) {
  PerfDataBuilder file;
  file.AddEvent({.ids = {5}});
  file.AddEvent({.ids = {6}});
  file.Add(perfdata::Comm{7, 7, "worker"}, perfdata::SampleId{.id = 999});
  file.Add(perfdata::Lost{999, 3}, perfdata::SampleId{.id = 999});
  std::vector<std::byte> record;
  ASSERT_THAT(EncodeSample(perfdata::Sample{.id = 999, .ip = 0x10}, file.format(0), 2, record),
              IsOk());
  file.AddRaw(record);
  file.AddSample({.ip = 0x10, .pid = 7, .tid = 7});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;?10 1"));
  EXPECT_EQ(imported.report.skipped_samples, 1U);
  EXPECT_EQ(imported.report.unknown_events, 1U);
  EXPECT_EQ(imported.report.lost_records, 3U);
}

TEST(ImportPerfData, CountsRecordsOfUnknownTypes) {
  PerfDataBuilder file = OneProcess();
  file.AddHeaderOnly({.type = static_cast<perfdata::RecordType>(200)});
  EXPECT_EQ(Import(file).report.unknown_records, 1U);
}

TEST(ImportPerfData, ReadsRecordsThatCameLateInTheStateOfTheirOwnTime) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 30});
  file.AddRound();
  file.AddRound();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 10});
  file.AddComm({.pid = 7, .tid = 7, .comm = "renamed", .time = 20});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("renamed;app+1010 1", "worker;app+1010 1"));
  EXPECT_EQ(imported.report.late_records, 2U);
  EXPECT_THAT(imported.report.problems, IsEmpty());
}

TEST(ImportPerfData, TellsWhereCountersCameLate) {
  PerfDataBuilder file;
  file.AddEvent({.sample_type = perfdata::kIdentifier | perfdata::kIp | perfdata::kTid |
                                perfdata::kTime | perfdata::kPeriod | perfdata::kRead,
                 .read_format = perfdata::kReadId});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 30});
  file.AddRound();
  file.AddRound();
  const std::size_t place = file.Open().data_offset() + file.records().size();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 10});
  const Imported imported = Import(file);
  EXPECT_THAT(imported.report.problems,
              ElementsAre(HasSubstr(fmt::format("1 of the records came too late for their "
                                                "round, the first at {:#x}",
                                                place))));
}

std::string BuildIdOfApp(const PerfDataBuilder& file) {
  const Profile profile = Import(file).profile;
  for (const Mapping& mapping : profile.mappings()) {
    if (profile.text(mapping.filename) == "/bin/app") {
      return std::string(profile.text(mapping.build_id));
    }
  }
  return "no such mapping";
}

TEST(ImportPerfData, TakesBuildIdsFromTheFeature) {
  PerfDataBuilder file = OneProcess();
  file.AddFeature(FeatureBit::kBuildId,
                  perfdata::BuildIds{{{CpuMode::kUser, *BuildId::FromHex("aa01"), "/bin/app"}}});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  EXPECT_EQ(BuildIdOfApp(file), "aa01");
}

TEST(ImportPerfData, TakesBuildIdsFromTheStreamWhereThereIsNoFeature) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddBuildId("/bin/app", *BuildId::FromHex("aa02"));  // told after the hit
  EXPECT_EQ(BuildIdOfApp(file), "aa02");
}

TEST(ImportPerfData, TakesBuildIdsFromMmap2BeforeAllOthers) {
  PerfDataBuilder file;
  file.AddEvent();
  file.AddMmap({.pid = 7,
                .tid = 7,
                .start = 0x400000,
                .path = "/bin/app",
                .build_id = *BuildId::FromHex("aa03")});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddBuildId("/bin/app", *BuildId::FromHex("aa02"));
  EXPECT_EQ(BuildIdOfApp(file), "aa03");
}

TEST(ImportPerfData, HasNoBuildIdWhereNoneIsTold) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  EXPECT_EQ(BuildIdOfApp(file), "");
}

// Long enough to be read in ranges, with names and mappings that change all along.
PerfDataBuilder LongRecording() {
  PerfDataBuilder file = OneProcess();
  std::vector<std::byte> samples;
  const std::vector<std::uint64_t> deep(1000, 0x400101);
  for (std::uint64_t i = 0; i < 1500; ++i) {
    const std::uint64_t time = 1000 + 10 * i;
    if (i % 50 == 0) file.AddComm({.pid = 7, .tid = 7, .comm = "c" + Hex(i), .time = time});
    if (i % 70 == 0) {
      file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/m" + Hex(i), .time = time});
    }
    file.AddSample({.ip = 0x400010 + i % 3, .pid = 7, .tid = 7, .time = time, .callchain = deep});
  }
  return file;
}

void ExpectTheSameWithSeveralThreads(Bytes file) {
  const Imported one = Import(file);
  for (const unsigned threads : {2U, 7U}) {
    const Imported several = Import(file, {.threads = threads});
    EXPECT_EQ(Lines(several.profile), Lines(one.profile));
    EXPECT_EQ(several.report.samples, one.report.samples);
    EXPECT_EQ(several.report.frames, one.report.frames);
    EXPECT_EQ(several.report.skipped_samples, one.report.skipped_samples);
    EXPECT_EQ(several.report.first_skipped, one.report.first_skipped);
    EXPECT_EQ(several.report.problems, one.report.problems);
    EXPECT_EQ(several.profile.metadata().duration_ns, one.profile.metadata().duration_ns);
  }
}

TEST(ImportPerfData, ReadsTheSameWithSeveralThreads) {
  const std::vector<std::byte> file = LongRecording().Build();
  ASSERT_GT(file.size(), std::size_t{8} << 20);
  EXPECT_EQ(Import(file, {.threads = 7}).report.samples, 1500U);
  ExpectTheSameWithSeveralThreads(file);
}

TEST(ImportPerfData, ReadsTheSameWithSeveralThreadsOfADamagedEnd) {
  PerfDataBuilder file = LongRecording();
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 4});
  const std::vector<std::byte> bytes = file.Build();
  EXPECT_EQ(Import(bytes, {.threads = 2}).report.problems.size(), 1U);
  ExpectTheSameWithSeveralThreads(bytes);
}

TEST(ImportPerfData, ReadsTheSameWithSeveralThreadsOfLateAndUnreadableSamples) {
  PerfDataBuilder file = LongRecording();
  file.AddRound();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 20000});
  file.AddRound();
  file.AddComm({.pid = 7, .tid = 7, .comm = "late", .time = 900});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 700});
  file.AddHeaderOnly({.type = perfdata::RecordType::kSample, .size = 8});
  ExpectTheSameWithSeveralThreads(file.Build());
}

TEST(ImportPerfData, ReadsTheSameFromAPipeAsFromAFile) {
  std::vector<std::vector<std::string>> lines;
  for (const Container container : {Container::kFile, Container::kPipe}) {
    PerfDataBuilder file = OneProcess(container);
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 2, .period = 5});
    file.AddRound();
    file.AddSample({.ip = 0x400020, .pid = 7, .tid = 7, .time = 1});
    file.AddRound();
    lines.push_back(Lines(file));
  }
  EXPECT_THAT(lines[0], ElementsAre("worker;app+1010 1 (5)", "worker;app+1020 1"));
  EXPECT_EQ(lines[0], lines[1]);
}

TEST(ImportPerfData, DescribesTheRecording) {
  PerfDataBuilder file = OneProcess();
  file.AddFeature(FeatureBit::kHostname, perfdata::TextFeature{"machine"});
  file.AddFeature(FeatureBit::kCmdline, perfdata::Cmdline{{"perf", "record", "-a"}});
  file.AddFeature(FeatureBit::kClockData,
                  perfdata::ClockData{.clockid = 1, .wall_ns = 5'000'000, .clockid_ns = 1'000'000});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1'500'000});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 3'500'000});
  const Profile profile = Import(file).profile;
  EXPECT_THAT(profile.metadata().comments,
              ElementsAre("hostname: machine", "command line: perf record -a"));
  EXPECT_EQ(profile.metadata().duration_ns, 2'000'000U);
  EXPECT_EQ(profile.metadata().start_time_ns, 5'500'000);
}

TEST(ImportPerfData, FailsOnlyWhereNothingCanBeRead) {
  ImportReport report;
  Input other = Input::FromBytes(AsBytes("no profile"));
  EXPECT_THAT(ReadPerfData(other, {}, report), FailsWith(ErrorCode::kCorrupt));
  Input empty = Input::FromBytes({});
  EXPECT_THAT(ReadPerfData(empty, {}, report), FailsWith(ErrorCode::kTruncated));
}

TEST(ImportPerfData, ReadsOrRefusesAFileWithAnyOneByteChanged) {
  PerfDataBuilder file = OneProcess();
  file.AddFeature(FeatureBit::kNrCpus, perfdata::NrCpus{1, 1});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x400010}});
  file.AddRound();
  std::vector<std::byte> bytes = file.Build();
  std::size_t read = 0;
  for (std::byte& byte : bytes) {
    const std::byte before = byte;
    for (const auto change : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      byte = before ^ change;
      ImportReport report;
      Input input = Input::FromBytes(bytes);
      const Result<Profile> profile = ReadPerfData(input, {}, report);
      if (!profile) continue;
      ++read;
      EXPECT_THAT(Validate(*profile), IsOk());
    }
    byte = before;
  }
  EXPECT_GT(read, bytes.size());  // most of it is in no one's way
}

}  // namespace
}  // namespace perftape
