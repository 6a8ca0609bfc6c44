// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "convert/model/mappings_without_files.h"
#include "convert/summarize/contents.h"
#include "formats/bundle/recording_notes.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> WarningsFor(const Profile& profile, const ReadContents& read = {}) {
  const Contents contents = MakeContents(profile, read, {});
  return contents.events.at(0).warnings;
}

TEST(WarningsOf, AreNoneForManySamplesWithWholeStacks) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()), IsEmpty());
}

TEST(WarningsOf, TellHowExactSharesOfFewSamplesAre) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 100, 100);
  // 1.96 * sqrt(0.1 * 0.9 / 100)
  EXPECT_THAT(
      WarningsFor(made.Make()),
      ElementsAre(HasSubstr("only 100 samples: a share of 10 % is accurate to 6 percentage")));
}

TEST(WarningsOf, DoNotJudgeCompleteCountsAsSamples) {
  for (const char* name : {"offcpu-time", "syscalls:sys_enter_write"}) {
    ProfileMaker made;
    made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts(name, "count", 1), 3, 3);
    EXPECT_THAT(WarningsFor(made.Make()), IsEmpty()) << name;
  }
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"),
           made.Counts("cpu-clock", "nanoseconds", 1000), 1, 1000);
  EXPECT_THAT(WarningsFor(made.Make()), ElementsAre(HasSubstr("only 1 sample:")));
}

TEST(WarningsOf, NameTheSwitchOfTheRuntimeThatMadeTheCode) {
  ProfileMaker made;
  const LocationId start = made.Frame(made.Map("/usr/bin/node"), 1, {"main"});
  const LocationId compiled = made.Frame(made.Map("//anon"), 2);
  const LocationId idle = made.Frame(made.Map("/usr/bin/php8.2"), 3, {"php_main"});
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({start, compiled}), made.Runs("worker"), cycles, 5000, 5000);
  made.Hit(made.Calls({idle}), made.Runs("php8.2"), cycles, 100, 100);
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre(AllOf(HasSubstr("in code of //anon without a name"),
                                HasSubstr("perf map"), HasSubstr("node --perf-basic-prof"),
                                Not(HasSubstr("php")), Not(HasSubstr("--symfs")))));
}

TEST(WarningsOf, NameTheRuntimeOfTheThreadOrOfTheRecording) {
  for (const char* comm : {"beam.smp", "sched_1"}) {
    ProfileMaker made;
    const LocationId vm = made.Frame(made.Map("/usr/lib/erlang/bin/beam.smp"), 1, {"main"});
    const LocationId compiled = made.Frame(made.Map("/memfd:vmem (deleted)"), 2);
    const LocationId caller = made.Frame(MappingId{}, 7, {"call"});
    const EventId cycles = made.Counts("cycles");
    made.Hit(made.Calls({caller, compiled}), made.Runs(comm), cycles, 5000, 5000);
    made.Hit(made.Calls({vm}), made.Runs("main"), cycles, 10, 10);
    EXPECT_THAT(WarningsFor(made.Make()), Contains(HasSubstr("erl +JPperf true"))) << comm;
  }
}

TEST(WarningsOf, PointToTheManualForAnUnknownRuntime) {
  ProfileMaker made;
  const LocationId main = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId compiled = made.Frame(made.Map("[anon:code]"), 2);
  made.Hit(made.Calls({main, compiled}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre(AllOf(HasSubstr("perf map or jitdump"), HasSubstr("perftape(7)"))));
}

TEST(WarningsOf, NameMissingCallChains) {
  ProfileMaker made;
  made.Hit(made.Calls({"work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()), ElementsAre(HasSubstr("without call chains")));
}

TEST(WarningsOf, NameStacksThatMayBeCut) {
  ProfileMaker made;
  const LocationId leaf = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId wrong = made.Frame(MappingId{}, 7);
  made.Hit(made.Calls({wrong, leaf}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre(HasSubstr("100.0 % of the samples have a stack whose outermost frame")));
}

TEST(WarningsOf, NameTheBinariesWithoutNames) {
  ProfileMaker made;
  const LocationId main = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId unnamed = made.Frame(made.Map("/lib/libz.so"), 2);
  made.Hit(made.Calls({main, unnamed}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  ReadContents read;
  read.symbols.mappings.push_back({.filename = "/lib/libz.so",
                                   .build_id = "",
                                   .counts = {0, 1, 0, 0},
                                   .problem = "",
                                   .source = "",
                                   .tried = {}});
  EXPECT_THAT(WarningsFor(made.Make(), read),
              ElementsAre(HasSubstr("100.0 % of the samples are in code of /lib/libz.so without a "
                                    "name: no file: bundle the symbols")));
}

TEST(WarningsOf, TellLossesAboveAPercent) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  const Profile profile = made.Make();
  ReadContents read;
  read.inputs.push_back({.name = "a.data", .format = "perf.data", .read = {}});
  read.inputs[0].read.samples = 5000;
  read.inputs[0].read.lost_samples = 40;
  EXPECT_THAT(WarningsFor(profile, read), IsEmpty());
  read.inputs[0].read.lost_samples = 200;
  EXPECT_THAT(WarningsFor(profile, read),
              ElementsAre(HasSubstr("a.data: 3.8 % of the samples were lost")));
}

TEST(WarningsOf, NameTheHiddenKernel) {
  ProfileMaker made;
  const LocationId main = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId hidden = made.Frame(convert::AddHiddenKernel(made.builder), 0xffffffff81000010);
  made.Hit(made.Calls({main, hidden}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  EXPECT_THAT(WarningsFor(made.Make()),
              ElementsAre("100.0 % of the samples are in code of [kernel] without a name: recorded "
                          "without CAP_SYSLOG: no kernel names"));
}

// Stacks of an event "cycles" whose outermost frame has no name.
Profile WithUnnamedRoots() {
  ProfileMaker made;
  const LocationId leaf = made.Frame(made.Map("/bin/app"), 1, {"main"});
  made.Hit(made.Calls({made.Frame(MappingId{}, 7), leaf}), made.Runs("app"), made.Counts("cycles"),
           5000, 5000);
  return made.Make();
}

ReadContents Noted(std::map<std::string, convert::ChainCount, std::less<>> chains) {
  ReadContents read;
  read.inputs.push_back({.name = "a.data", .format = "perf.data", .read = {}});
  read.inputs[0].read.noted_chains = std::move(chains);
  return read;
}

TEST(WarningsOf, DoNotSuspectStacksThatTheRecordingKnowsToBeComplete) {
  const auto chains = [](std::uint64_t complete) {
    return Noted({{"cycles", {.all = 5000, .complete = complete}}, {"other", {.all = 7}}});
  };
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), chains(5000)), IsEmpty());
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), chains(4600)), IsEmpty());
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), chains(4000)),
              ElementsAre(AllOf(HasSubstr("20.0 % of the call chains"),
                                Not(HasSubstr("--call-graph eh")))));
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), Noted({{"other", {.all = 7}}})), IsEmpty());
}

TEST(WarningsOf, DoNotSuspectStacksThatWereUnwoundFromCopies) {
  ReadContents read = Noted({});
  auto& unwound = read.inputs[0].read.unwound;
  unwound.ends[static_cast<std::size_t>(unwind::WalkEnd::kEndOfStack)] = 5000;
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), read), IsEmpty());
  unwound.of_32_bit = 1;  // has the call chain of the kernel
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), read), ElementsAre(HasSubstr("--call-graph eh")));
}

TEST(WarningsOf, NameTheTimeInWhichEventsWereOff) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), made.Counts("cycles"), 5000, 5000);
  bundle::RecordingNotes notes;
  notes.start_ns = 1'000'000'000;
  notes.end_ns = 6'000'000'000;
  notes.pauses = {{"", 2, 3'200'000'000, {}}, {"page-faults", 1, 500'000'000, {}}};
  ReadContents read = Noted({});
  read.inputs[0].read.recording_notes = std::make_shared<bundle::RecordingNotes>(notes);
  EXPECT_THAT(WarningsFor(made.Make(), read),
              ElementsAre(HasSubstr("events were off for 3.2 s of 5.0 s"),
                          HasSubstr("page-faults was off for 0.5 s of 5.0 s")));
}

TEST(WarningsOf, SuspectStacksUnlessAllRecordingsKnowThem) {
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), Noted({})),
              ElementsAre(HasSubstr("--call-graph eh")));
  ReadContents both = Noted({{"cycles", {.all = 5000, .complete = 5000}}});
  both.inputs.push_back({.name = "b.data", .format = "perf.data", .read = {}});
  EXPECT_THAT(WarningsFor(WithUnnamedRoots(), both), ElementsAre(HasSubstr("--call-graph eh")));
}

}  // namespace
}  // namespace perftape::summarize
