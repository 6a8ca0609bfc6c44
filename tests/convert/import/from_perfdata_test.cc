// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_perfdata.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "convert/model/sample_thread.h"
#include "tests/convert/import/imported_perfdata.h"
#include "tests/support/matchers.h"
#include "tests/support/perfdata_builder.h"

namespace perftape::convert {
namespace {

using perfdata::CpuMode;
using perfdata::FeatureBit;
using perfdata::kContextKernel;
using perfdata::kContextUser;
using perfdata::PerfDataBuilder;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

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
  // The call is the last instruction of its function and mapping; another mapping follows.
  PerfDataBuilder file = OneProcess();
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x410000, .path = "/lib/next"});
  file.AddSample(
      {.ip = 0x410000, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x410000, 0x410000}});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+10fff;next+0 1"));
}

TEST(ImportPerfData, LooksUpInterruptedFramesAndTheirTrampolinesAsTheyAre) {
  PerfDataBuilder file = OneProcess();
  // A handler, the trampoline that it returns to, the interrupted function, and its caller.
  file.AddSample({.ip = 0x400010,
                  .pid = 7,
                  .tid = 7,
                  .callchain = {kContextUser, 0x400010, 0x400101, 0x400200, kContextUser, 0x400300,
                                0x400401}});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile),
              ElementsAre("worker;app+1400;app+1300;app+1200;app+1100;app+1010 1"));
  std::vector<AddressKind> callers;
  const Profile& profile = imported.profile;
  for (StackId at = profile.samples()[0].stack; profile[at].caller != StackId{};
       at = profile[at].caller) {
    callers.push_back(profile.CallerAddress(at));
  }
  EXPECT_THAT(callers, ElementsAre(AddressKind::kReturn, AddressKind::kInstruction,
                                   AddressKind::kInstruction, AddressKind::kReturn));
}

TEST(ImportPerfData, HasNoBuildIdOfAMemfdWhoseNameSeveralHave) {
  for (const auto& [path, build_id] :
       {std::pair{"/memfd:tool (deleted)", ""}, std::pair{"/bin/tool", "aa01"}}) {
    PerfDataBuilder file = OneProcess();
    file.AddMmap({.pid = 7, .tid = 7, .start = 0x500000, .path = path});
    file.AddSample({.ip = 0x500010, .pid = 7, .tid = 7, .callchain = {kContextUser, 0x500010}});
    file.AddBuildId(path, *BuildId::FromHex("aa01"));
    file.AddBuildId(path, *BuildId::FromHex("aa02"));
    const Profile profile = Import(file).profile;
    const Location& leaf = profile[profile[profile.samples()[0].stack].leaf];
    EXPECT_EQ(profile.text(profile[leaf.mapping].build_id), build_id) << path;
  }
}

TEST(ImportPerfData, TellsMemoryWithoutAFileApartByItsAddress) {
  PerfDataBuilder file = OneProcess();
  for (const std::uint64_t start : {0x500000, 0x600000}) {
    file.AddMmap({.pid = 7, .tid = 7, .start = start, .path = "//anon"});
    file.AddSample(
        {.ip = start + 0x10, .pid = 7, .tid = 7, .callchain = {kContextUser, start + 0x10}});
  }
  const Profile profile = Import(file).profile;
  std::vector<std::uint64_t> addresses;
  for (const Sample& sample : profile.samples()) {
    addresses.push_back(profile.AddressOf(profile[profile[sample.stack].leaf]).value);
  }
  EXPECT_THAT(addresses, UnorderedElementsAre(0x500010, 0x600010));
}

TEST(ImportPerfData, DistinguishesKernelFramesFromUserFrames) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0xffffffff81000500,
                  .pid = 7,
                  .tid = 7,
                  .callchain = {kContextKernel, 0xffffffff81000500, 0xffffffff81000601,
                                kContextUser, 0x400010, 0x400101},
                  .mode = CpuMode::kKernel});
  const Imported imported = Import(file);
  // The first address of the user part is the interrupted instruction, not a return address.
  EXPECT_THAT(Lines(imported.profile),
              ElementsAre("worker;app+1100;app+1010;[kernel.kallsyms]+ffffffff81000600;"
                          "[kernel.kallsyms]+ffffffff81000500 1"));
  const auto kernel =
      std::ranges::find(imported.profile.mappings(), MappingType::kKernel, &Mapping::type);
  ASSERT_NE(kernel, imported.profile.mappings().end());
  EXPECT_EQ(imported.profile.text(kernel->filename), "[kernel.kallsyms]");
}

TEST(ImportPerfData, DoesNotLookForUserAddressesInTheKernel) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0xffffffff81000500, .pid = 7, .tid = 7});  // in user mode
  EXPECT_THAT(Lines(file), ElementsAre("worker;?ffffffff81000500 1"));
}

TEST(ImportPerfData, UsesTheIpWithoutACallchain) {
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
  // The file is out of order, because CPUs are drained one after the other.
  PerfDataBuilder file;
  file.AddEvent();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 20});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 40});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 5});
  file.AddComm({.pid = 7, .tid = 7, .comm = "before", .time = 10});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/lib/a", .time = 11});
  file.AddComm({.pid = 7, .tid = 7, .comm = "after", .time = 30});
  file.AddMmap({.pid = 7, .tid = 7, .start = 0x400000, .path = "/lib/b", .time = 31});
  EXPECT_THAT(Lines(file), ElementsAre("after;b+10 1", "before;?400010 1", "before;a+10 1"));
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

TEST(ImportPerfData, UsesNamesOfTheRecordingItself) {
  PerfDataBuilder file = OneProcess();
  file.AddKsymbol({.address = 0xffffffffc0001000,
                   .length = 0x100,
                   .symbol_type = perfdata::Ksymbol::kTypeBpf,
                   .name = "bpf_prog_12ab_on_cpu"});
  file.AddSample({.ip = 0xffffffffc0001010, .pid = 7, .tid = 7, .mode = CpuMode::kKernel});
  const Imported imported = Import(file);
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;bpf_prog_12ab_on_cpu 1"));
  EXPECT_EQ(imported.profile.locations().front().symbol_offset, 0x10);
}

TEST(ImportPerfData, SumsPeriods) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .period = 1000});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .period = 500});
  EXPECT_THAT(Lines(file), ElementsAre("worker;app+1010 2 (1500)"));
}

TEST(ImportPerfData, UsesTheAttributesPeriodIfSamplesHaveNone) {
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

TEST(ImportPerfData, MakesLabelsOfCpusIfAsked) {
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

TEST(ImportPerfData, MakesLabelsOfTimesIfAsked) {
  PerfDataBuilder file = OneProcess();
  // The last one is the time of the sums that perf record --off-cpu writes, which is none.
  for (const std::uint64_t time : {2000U, 1000U, 2000U}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time});
  }
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 0xffffffff00000000});
  const Profile profile = Import(file, {.time_label = true}).profile;
  std::vector<std::string> shown;
  for (const Sample& sample : profile.samples()) {
    const Label* time = FindLabel(profile, sample.labels, "timestamp_ns");
    shown.push_back(fmt::format("{}: {}", time == nullptr ? 0 : time->number, sample.count));
  }
  EXPECT_THAT(shown, UnorderedElementsAre("2000: 2", "1000: 1", "0: 1"));
  EXPECT_EQ(Import(file).profile.samples().size(), 1U);
}

TEST(ImportPerfData, ReadsNoTimesOfTooManySamples) {
  PerfDataBuilder file = OneProcess();
  for (const std::uint64_t time : {1000U, 2000U, 3000U}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time});
  }
  const auto few = Import(file, {.time_label = true, .most_timed_samples = 3});
  EXPECT_EQ(few.profile.samples().size(), 3U);
  EXPECT_FALSE(few.report.without_times);
  const auto many = Import(file, {.time_label = true, .most_timed_samples = 2});
  EXPECT_EQ(many.profile.samples().size(), 1U);
  EXPECT_TRUE(many.report.without_times);
  EXPECT_EQ(many.report.samples, 3U);
  EXPECT_FALSE(Import(file, {.most_timed_samples = 2}).report.without_times)
      << "none were asked for";
}

// Returns "time: count" of the samples.
std::vector<std::string> RoundedTimes(const PerfDataBuilder& file, std::uint64_t most_exact) {
  const Imported read = Import(file, {.time_label = true, .most_exact_times = most_exact});
  std::vector<std::string> shown;
  for (const Sample& sample : read.profile.samples()) {
    const Label* time = FindLabel(read.profile, sample.labels, "timestamp_ns");
    shown.push_back(fmt::format("{}: {}", time == nullptr ? 0 : time->number, sample.count));
  }
  return shown;
}

TEST(ImportPerfData, RoundsTimesOfManySamplesUp) {
  PerfDataBuilder file = OneProcess();
  // Parts are of 10 ns.
  for (const std::uint64_t time : {1000U, 1001U, 1010U, 1011U, 41'009U, 41'010U}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time});
  }
  EXPECT_THAT(RoundedTimes(file, 4),
              UnorderedElementsAre("1000: 1", "1010: 2", "1020: 1", "41010: 2"));
  EXPECT_EQ(Import(file, {.time_label = true, .most_exact_times = 4}).report.time_step_ns, 10U);
  EXPECT_EQ(Import(file, {.time_label = true, .most_exact_times = 6}).report.time_step_ns, 0U);
  EXPECT_EQ(Import(file, {.time_label = true, .most_exact_times = 6}).profile.samples().size(), 6U);
}

TEST(ImportPerfData, RoundsTimesMoreIfThereAreStillTooMany) {
  PerfDataBuilder file = OneProcess();
  for (std::uint64_t i = 0; i <= 4000; ++i) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1000 + 10 * i});
  }
  const Imported read = Import(file, {.time_label = true, .most_exact_times = 100, .threads = 3});
  EXPECT_EQ(read.report.time_step_ns, 640U) << "320 would make 126 samples";
  EXPECT_EQ(read.profile.samples().size(), 64U);
  std::int64_t sum = 0;
  for (const Sample& sample : read.profile.samples()) {
    sum += static_cast<std::int64_t>(sample.count);
    const Label* time = FindLabel(read.profile, sample.labels, "timestamp_ns");
    ASSERT_NE(time, nullptr);
    const auto since = static_cast<std::uint64_t>(time->number) - 1000;
    EXPECT_TRUE(since % 640 == 0 || since == 40'000) << since;
  }
  EXPECT_EQ(sum, 4001);
}

TEST(ImportPerfData, KeepsTheTimesOfWaits) {
  PerfDataBuilder file(perfdata::Container::kPipe);  // has names of events
  file.AddEvent({.name = "offcpu-time"});
  for (const std::uint64_t time : {1000U, 1001U, 41'010U}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time});
  }
  EXPECT_THAT(RoundedTimes(file, 2), UnorderedElementsAre("1000: 1", "1001: 1", "41010: 1"));
}

TEST(ImportPerfData, ReportsWhatHappenedToThreadsIfAsked) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1000});
  file.AddFork({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .time = 2000});
  file.AddComm({.pid = 8, .tid = 8, .comm = "ls", .time = 3000});
  file.AddLost(5, 4000);
  file.AddLostSamples(6, 5000);
  file.AddExit({.pid = 8, .ppid = 7, .tid = 8, .ptid = 7, .time = 6000});
  std::vector<std::string> shown;
  for (const TaskEvent& event : Import(file, {.time_label = true}).report.task_events) {
    if (event.time_ns < 2000) continue;
    shown.push_back(fmt::format("{} {} {} {} {}", static_cast<int>(event.type), event.time_ns,
                                event.tid, event.comm, event.lost));
    if (event.type == TaskEvent::Type::kFork) {
      EXPECT_EQ(event.parent_pid, 7U);
      EXPECT_EQ(event.parent_tid, 7U);
    }
  }
  EXPECT_THAT(shown, ElementsAre("0 2000 8  0", "2 3000 8 ls 0", "4 4000 0  5", "4 5000 0  6",
                                 "3 6000 8  0"));
  EXPECT_TRUE(Import(file).report.task_events.empty());
}

TEST(ImportPerfData, ReadsOnlySamplesOfTheWantedEvents) {
  PerfDataBuilder file = OneProcess();
  file.AddEvent({.name = "probe"});
  file.AddFeature(FeatureBit::kEventDesc, file.Description());
  for (const std::size_t event : {0U, 1U, 0U}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = 1000, .event = event});
  }
  ImportOptions options;
  options.wants_event = [](std::string_view event) { return event == "probe"; };
  const Imported imported = Import(file, options);
  ASSERT_EQ(imported.profile.samples().size(), 1U);
  const Profile& profile = imported.profile;
  EXPECT_EQ(profile.text(profile[profile.samples()[0].event].name), "probe");
  EXPECT_EQ(imported.report.skipped_samples, 0U);
  EXPECT_THAT(imported.report.events, ElementsAre("cpu-clock", "probe"));
}

TEST(ImportPerfData, ReportsContextSwitchesIfAsked) {
  PerfDataBuilder file = OneProcess();
  file.Add(perfdata::Switch{}, {.pid = 7, .tid = 8, .time = 1000}, perfdata::kMiscSwitchOut);
  file.Add(perfdata::SwitchCpuWide{}, {.pid = 7, .tid = 9, .time = 2000});
  std::vector<std::string> shown;
  const ImportOptions options = {.time_label = true, .thread_switches = true};
  for (const ThreadSwitch& one : Import(file, options).report.switches) {
    shown.push_back(fmt::format("{} {} {} {}", one.time_ns, one.tid, one.is_in, one.is_cpu_wide));
  }
  EXPECT_THAT(shown, ElementsAre("1000 8 false false", "2000 9 true true"));
  EXPECT_TRUE(Import(file, {.time_label = true}).report.switches.empty());
}

TEST(ImportPerfData, MakesLabelsOfControlGroupsIfAsked) {
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
  file.AddSample({.ip = 0x400001, .pid = 7, .tid = 7});  // without a time
  const Imported imported = Import(file, {.time = TimeRange{.from = TimePoint{.nanoseconds = 500},
                                                            .to = TimePoint{.percent = 75}}});
  EXPECT_THAT(Lines(imported.profile), ElementsAre("worker;app+1001 1", "worker;app+17d0 1"));
  EXPECT_EQ(imported.report.samples, 2U);
  EXPECT_EQ(imported.report.outside_time, 2U);
}

TEST(ImportPerfData, KeepsTheFirstTimesIfAsked) {
  PerfDataBuilder file = OneProcess();
  for (const std::uint64_t time : {9'000'000, 5'000'000, 7'000'000}) {
    file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7, .time = time});
  }
  file.AddSample({.ip = 0x400020, .pid = 7, .tid = 7, .time = 12'000'000});
  const auto times = [&file](const ImportOptions& options) {
    std::vector<std::uint32_t> found;
    const Imported imported = Import(file, options);
    for (const Sample& sample : imported.profile.samples()) found.push_back(sample.first_ms);
    return found;
  };
  EXPECT_THAT(times({.first_times = true}), ElementsAre(0, 7));
  EXPECT_THAT(times({}), ElementsAre(Sample::kNoTime, Sample::kNoTime));
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

std::string BuildIdOfApp(const PerfDataBuilder& file) {
  const Profile profile = Import(file).profile;
  for (const Mapping& mapping : profile.mappings()) {
    if (profile.text(mapping.filename) == "/bin/app") {
      return std::string(profile.text(mapping.build_id));
    }
  }
  return "no such mapping";
}

TEST(ImportPerfData, ReadsBuildIdsFromTheFeature) {
  PerfDataBuilder file = OneProcess();
  file.AddFeature(FeatureBit::kBuildId,
                  perfdata::BuildIds{{{CpuMode::kUser, *BuildId::FromHex("aa01"), "/bin/app"}}});
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  EXPECT_EQ(BuildIdOfApp(file), "aa01");
}

TEST(ImportPerfData, ReadsBuildIdsFromTheStreamOtherwise) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  file.AddBuildId("/bin/app", *BuildId::FromHex("aa02"));  // recorded after the sample
  EXPECT_EQ(BuildIdOfApp(file), "aa02");
}

TEST(ImportPerfData, PrefersBuildIdsOfMmap2) {
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

TEST(ImportPerfData, HasNoBuildIdIfNoneIsRecorded) {
  PerfDataBuilder file = OneProcess();
  file.AddSample({.ip = 0x400010, .pid = 7, .tid = 7});
  EXPECT_EQ(BuildIdOfApp(file), "");
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

}  // namespace
}  // namespace perftape::convert
