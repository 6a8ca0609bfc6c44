// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/filter.h"

#include <gmock/gmock.h>

#include "tests/convert/export/profile_maker.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Kept(const Profile& profile, const FilterOptions& options) {
  FilterReport report;
  const Profile kept = ApplyFilter(profile, options, report);
  EXPECT_TRUE(Validate(kept));
  return SampleLines(kept);
}

Total Dropped(const Profile& profile, const FilterOptions& options, Filter filter) {
  FilterReport report;
  ApplyFilter(profile, options, report);
  return report.events.at(0).dropped[static_cast<std::size_t>(filter)];
}

// Returns two processes and two events; user code in /bin/app and libc, with kernel frames.
Profile Example() {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("page-faults");
  const MappingId app = made.Map("/bin/app");
  const MappingId libc = made.Map("/lib/libc.so.6");
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const LocationId main = made.Frame(app, 1, {"main"});
  const LocationId work = made.Frame(app, 2, {"work"});
  const LocationId copy = made.Frame(libc, 3, {"memcpy"});
  const LocationId read = made.Frame(kernel, 4, {"sys_read"});
  const ThreadId one = made.Runs("app", 10, 11);
  const ThreadId two = made.Runs("java", 20, 20);
  made.Hit(made.Calls({main, work}), one, cycles, 5, 500);
  made.Hit(made.Calls({main, work, copy}), one, cycles, 3, 300);
  made.Hit(made.Calls({main, read}), two, cycles, 2, 200);
  made.Hit(made.Calls({read}), two, cycles, 1, 100);
  made.Hit(made.Calls({main}), two, faults, 7, 7);
  return made.Make();
}

TEST(ApplyFilter, KeepsAllWhereNothingIsAsked) {
  EXPECT_EQ(Kept(Example(), {}), SampleLines(Example()));
  EXPECT_FALSE(FilterOptions{}.changes_anything());
}

TEST(ApplyFilter, ChoosesEventsCommsPidsAndTids) {
  EXPECT_THAT(Kept(Example(), {.events = Globs("page*")}),
              ElementsAre("page-faults java/20 main 7:7"));
  EXPECT_THAT(Kept(Example(), {.comms = Globs("app,x*")}),
              ElementsAre("cycles app/10 main;work 5:500", "cycles app/10 main;work;memcpy 3:300"));
  EXPECT_EQ(Kept(Example(), {.pids = {10}}), Kept(Example(), {.comms = Globs("app")}));
  EXPECT_EQ(Kept(Example(), {.tids = {11}}), Kept(Example(), {.comms = Globs("app")}));
  EXPECT_THAT(Kept(Example(), {.tids = {10}}), IsEmpty());
}

TEST(ApplyFilter, AsksForTheDsoAndTheSymbolOfTheInnermostFrame) {
  EXPECT_THAT(Kept(Example(), {.dsos = Globs("libc*")}),
              ElementsAre("cycles app/10 main;work;memcpy 3:300"));
  EXPECT_THAT(Kept(Example(), {.dsos = Globs("[kernel.kallsyms]")}),
              ElementsAre("cycles java/20 main;sys_read 2:200", "cycles java/20 sys_read 1:100"));
  EXPECT_THAT(Kept(Example(), {.symbols = Globs("work")}),
              ElementsAre("cycles app/10 main;work 5:500"));
}

TEST(ApplyFilter, FocusesOnAnyFrameByFunctionOrFile) {
  EXPECT_THAT(Kept(Example(), {.focus = NameRegex::Compile("^work$").value()}),
              ElementsAre("cycles app/10 main;work 5:500", "cycles app/10 main;work;memcpy 3:300"));
  EXPECT_THAT(Kept(Example(), {.focus = NameRegex::Compile("libc").value()}),
              ElementsAre("cycles app/10 main;work;memcpy 3:300"));
  EXPECT_THAT(Kept(Example(), {.ignore = NameRegex::Compile("main").value()}),
              ElementsAre("cycles java/20 sys_read 1:100"));
}

TEST(ApplyFilter, LeavesOutFramesOfTheKernelOrOfPrograms) {
  EXPECT_THAT(Kept(Example(), {.events = Globs("cycles"), .no_kernel = true}),
              ElementsAre("cycles app/10 main;work 5:500", "cycles app/10 main;work;memcpy 3:300",
                          "cycles java/20 main 2:200"));
  EXPECT_EQ(Dropped(Example(), {.no_kernel = true}, Filter::kNoKernel).samples, 1);
  EXPECT_THAT(Kept(Example(), {.events = Globs("cycles"), .no_user = true}),
              ElementsAre("cycles java/20 sys_read 3:300"));
  EXPECT_EQ(Dropped(Example(), {.no_user = true}, Filter::kNoUser).period, 800);
}

TEST(ApplyFilter, KeepsTheOutermostFrames) {
  EXPECT_THAT(Kept(Example(), {.comms = Globs("app"), .max_depth = 2}),
              ElementsAre("cycles app/10 main;work 8:800"));
}

TEST(ApplyFilter, CutsOffFramesThatHoldTooLittle) {
  // Of 1100 samples: memcpy has 27 %, main's sys_read 18 %, sys_read alone 9 %.
  EXPECT_THAT(Kept(Example(), {.events = Globs("cycles"), .min_percent = 20}),
              ElementsAre("cycles app/10 main;work 5:500", "cycles app/10 main;work;memcpy 3:300",
                          "cycles java/20 main 2:200"));
  const FilterOptions options = {.events = Globs("cycles"), .min_percent = 20};
  EXPECT_EQ(Dropped(Example(), options, Filter::kMinPercent).samples, 1);
  EXPECT_EQ(Dropped(Example(), options, Filter::kMinPercent).period, 100);
}

TEST(ApplyFilter, JoinsFramesOfOneNameBeforeItCuts) {
  ProfileMaker made;
  const MappingId app = made.Map("/bin/app");
  const EventId cycles = made.Counts("cycles");
  for (std::uint64_t address = 0; address < 10; ++address) {
    made.Hit(made.Calls({made.Frame(app, address, {"main"})}), made.Runs("app", 10), cycles, 1, 10);
  }
  EXPECT_EQ(Kept(made.Make(), {.min_percent = 50}).size(), 10U);
}

TEST(ApplyFilter, ChoosesByLabels) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const StringId cpu = made.builder.Add("cpu");
  const StringId cgroup = made.builder.Add("cgroup");
  const Label here[] = {{.key = cpu, .number = 3},
                        {.key = cgroup, .text = made.builder.Add("/web")}};
  const Label there[] = {{.key = cpu, .number = 4}};
  const StackId stack = made.Calls({"f"});
  for (const LabelsId labels : {made.builder.Add(here), made.builder.Add(there), LabelsId{}}) {
    made.builder.Add(Sample{.stack = stack, .event = cycles, .labels = labels, .count = 1});
  }
  const Profile profile = made.Make();
  EXPECT_THAT(Kept(profile, {.cpus = {4, 5}}), ElementsAre("cycles f {cpu=4} 1:0"));
  EXPECT_THAT(Kept(profile, {.cgroups = Globs("/w*")}),
              ElementsAre("cycles f {cgroup=/web} {cpu=3} 1:0"));
}

TEST(ApplyFilter, FindsTheProcessInLabels) {
  ProfileMaker made;
  const Label pid[] = {{.key = made.builder.Add("pid"), .number = 12}};
  made.builder.Add(Sample{.stack = made.Calls({"f"}),
                          .event = made.Counts("cpu"),
                          .labels = made.builder.Add(pid),
                          .count = 1});
  const Profile profile = made.Make();
  EXPECT_EQ(Kept(profile, {.pids = {12}}).size(), 1U);
  EXPECT_THAT(Kept(profile, {.pids = {13}}), IsEmpty());
}

TEST(ApplyFilter, CountsReadKeptAndDroppedOfEachEvent) {
  FilterReport report;
  ApplyFilter(Example(), {.pids = {10}, .symbols = Globs("work")}, report);
  ASSERT_EQ(report.events.size(), 2U);
  EXPECT_EQ(report.events[0].name, "cycles");
  EXPECT_EQ(report.events[0].read.samples, 11);
  EXPECT_EQ(report.events[0].kept.samples, 5);
  EXPECT_EQ(report.events[0].dropped[static_cast<std::size_t>(Filter::kPid)].samples, 3);
  EXPECT_EQ(report.events[0].dropped[static_cast<std::size_t>(Filter::kSymbol)].samples, 3);
  EXPECT_EQ(report.events[1].dropped[static_cast<std::size_t>(Filter::kPid)].samples, 7);
}

TEST(TotalsOf, CountsAllAsKept) {
  const FilterReport report = TotalsOf(Example());
  EXPECT_EQ(report.events[0].read.period, 1100);
  EXPECT_EQ(report.events[0].kept.period, 1100);
}

}  // namespace
}  // namespace perftape::convert
