// SPDX-License-Identifier: Apache-2.0
#include "tools/record/command_line.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::record_tool {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Result<RecordRun> PlanOfWords(std::vector<std::string> words) {
  TRY_ASSIGN(Plan parsed, cli::Parse<Plan>(RecordCommand(), words));
  return PlanOf(std::move(parsed));
}

TEST(RecordPlan, RecordsTheWholeSystemAt99HertzByDefault) {
  const auto plan = PlanOfWords({});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(std::holds_alternative<record::WholeSystem>(plan->input.target));
  EXPECT_EQ(std::get<record::Frequency>(plan->input.rate).hz, 99U);
  EXPECT_EQ(plan->input.callchains, record::Callchains::kFramePointers);
  EXPECT_EQ(plan->output.file, "perf.data");
  EXPECT_EQ(plan->input.include_self, record::IncludeSelf::kNo);
}

TEST(RecordPlan, KeepsSymbolsInTheRecordingByDefault) {
  using Destination = record::BundleRequest::Destination;
  const auto plain = PlanOfWords({});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->output.bundle.destination, Destination::kRecording);
  EXPECT_EQ(plain->output.bundle.depth, record::BundleDepth::kSymbols);
  const auto none = PlanOfWords({"--no-bundle"});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->output.bundle.destination, Destination::kNone);
  const auto aside = PlanOfWords({"--bundle", "x.tar.zst", "--bundle-debug"});
  ASSERT_TRUE(aside);
  EXPECT_EQ(aside->output.bundle.destination, Destination::kSeparateFile);
  EXPECT_EQ(aside->output.bundle.file, "x.tar.zst");
  EXPECT_EQ(aside->output.bundle.depth, record::BundleDepth::kDebug);
  const auto whole = PlanOfWords({"--bundle-full"});
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->output.bundle.depth, record::BundleDepth::kWhole);
}

TEST(RecordPlan, RefusesBundlesThatContradictThemselves) {
  EXPECT_THAT(PlanOfWords({"--no-bundle", "--bundle-full"}),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(PlanOfWords({"--bundle-debug", "--bundle-full"}),
              FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(PlanOfWords({"--bundle", "-"}), FailsWith(ErrorCode::kInvalidArgument));
  EXPECT_THAT(PlanOfWords({"--bundle", "perf.data"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("the same file")));
  EXPECT_THAT(PlanOfWords({"-o", "-", "--bundle-full"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("--bundle FILE")));
}

TEST(RecordPlan, TargetsACommandWithoutOtherTargets) {
  const auto plan = PlanOfWords({"-F", "50", "ls", "-a"});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(std::holds_alternative<record::Workload>(plan->input.target));
  EXPECT_THAT(plan->command, ElementsAre("ls", "-a"));
}

TEST(RecordPlan, UsesCommandsAsDurationBesideOtherTargets) {
  for (const char* target : {"-a", "-u0", "-C0"}) {
    const auto plan = PlanOfWords({target, "--", "sleep", "1"});
    ASSERT_TRUE(plan) << target;
    EXPECT_EQ(std::holds_alternative<record::WholeSystem>(plan->input.target), target[1] != 'C')
        << target;
    EXPECT_THAT(plan->command, ElementsAre("sleep", "1")) << target;
  }
  const auto plan = PlanOfWords({"-p", "1", "--", "sleep", "1"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(std::get<record::ProcessTrees>(plan->input.target).pids, ElementsAre(1));
}

TEST(RecordPlan, AddsUpPidsOfSeveralOptions) {
  const auto plan = PlanOfWords({"-p", "1,2", "-p3"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(std::get<record::ProcessTrees>(plan->input.target).pids, ElementsAre(1, 2, 3));
}

TEST(RecordPlan, AcceptsThreadsCpusUserAndDuration) {
  const auto plan = PlanOfWords({"-t", "5", "-C", "0-1", "-u", "root", "--duration", "0.5"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(std::get<record::Threads>(plan->input.target).tids, ElementsAre(5));
  EXPECT_THAT(plan->input.cpus, ElementsAre(0, 1));
  EXPECT_EQ(plan->input.user, 0U);
  EXPECT_EQ(plan->duration, std::chrono::milliseconds(500));
}

TEST(RecordPlan, RoundsTheRingUpToAPowerOfTwo) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(PlanOfWords({"-m", "3"})->input.ring_bytes, 4 * page);
  EXPECT_EQ(PlanOfWords({"-m", "1B"})->input.ring_bytes, page);
  EXPECT_EQ(PlanOfWords({"-m", "16M"})->input.ring_bytes, std::size_t{16} << 20);
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  for (const char* bad : {"M", "8X", "100T", "", "-1"}) {
    EXPECT_THAT(PlanOfWords({"-m", bad}), refuses("is not a size: use a number of pages")) << bad;
  }
  for (const char* large :
       {"2G", "100G", "1025M", "99999999999999999999", "99999999999999999999G"}) {
    EXPECT_THAT(PlanOfWords({"-m", large}), refuses("is out of range: use 1B to 1G")) << large;
  }
  EXPECT_THAT(PlanOfWords({"-m", "0"}), refuses("-m: 0 is out of range: use 1B to"));
}

TEST(RecordPlan, CompressesIfAsked) {
  EXPECT_EQ(PlanOfWords({})->output.compression_level, std::nullopt);
  EXPECT_EQ(PlanOfWords({"-z"})->output.compression_level, 1);
  EXPECT_EQ(PlanOfWords({"-z22"})->output.compression_level, 22);
  EXPECT_EQ(PlanOfWords({"--compression-level"})->output.compression_level, 1);
  EXPECT_EQ(PlanOfWords({"--compression-level=9"})->output.compression_level, 9);
}

TEST(RecordPlan, RejectsASeparateLevelUnlessACommand) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"-z", "3", "--", "true"}, {"-qz", "3", "true"}, {"--compression-level", "3", "true"}}) {
    EXPECT_THAT(PlanOfWords(words), FailsWith(ErrorCode::kInvalidArgument,
                                              "-z 3: the level must be in the same word: use -z3"));
  }
  EXPECT_THAT(PlanOfWords({"-z", "23"})->command, ElementsAre("23"));
  const TempDir directory;
  ASSERT_EQ(chmod(directory.Write("3", "#!/bin/sh\n").c_str(), 0755), 0);
  const std::string before = getenv("PATH");
  setenv("PATH", directory.path().c_str(), 1);
  EXPECT_THAT(PlanOfWords({"-z", "3", "--"})->command, ElementsAre("3", "--"));
  setenv("PATH", before.c_str(), 1);
}

TEST(RecordPlan, AcceptsPerfsNamesOfDefaults) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"-e", "cpu-clock"}, {"-k", "mono"}, {"-kCLOCK_MONOTONIC"}, {"--clockid=1"}}) {
    EXPECT_TRUE(PlanOfWords(words)) << words[0];
  }
}

TEST(RecordPlan, SuggestsReplacementsForPerfsOptions) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(PlanOfWords({"-e", "cycles:pppp"}), refuses("-e: event 'cycles:pppp': bad modifier"));
  EXPECT_THAT(PlanOfWords({"-k", "realtime"}), refuses("always of CLOCK_MONOTONIC"));
  EXPECT_THAT(PlanOfWords({"--time", "5"}), refuses("--duration TIME"));
}

TEST(RecordPlan, AppliesOptionsOfPerfThatWork) {
  const auto user = PlanOfWords({"--all-user", "-e", "cycles:k,page-faults"});
  ASSERT_TRUE(user);
  for (const auto& event : user->input.events) EXPECT_EQ(event.modifiers, "u");
  EXPECT_TRUE(PlanOfWords({"--all-user", "--off-cpu"}));
  const auto kernel = PlanOfWords({"--all-kernel", "--off-cpu"});
  ASSERT_TRUE(kernel);
  ASSERT_EQ(kernel->input.events.size(), 2U);
  EXPECT_EQ(kernel->input.events[0].modifiers, "k");
  EXPECT_EQ(kernel->input.events[1].name, "offcpu");
  const auto chains = PlanOfWords({"--kernel-callchains", "-g"});
  ASSERT_TRUE(chains);
  EXPECT_EQ(chains->input.callchains, record::Callchains::kOnlyKernel);
  EXPECT_FALSE(chains->input.prefers_unwind_tables);
  EXPECT_EQ(PlanOfWords({"--no-call-graph"})->input.callchains, record::Callchains::kNone);
  EXPECT_FALSE(PlanOfWords({"--no-bpf-event"})->input.bpf_events);
  EXPECT_TRUE(PlanOfWords({"--data-mmap"})->input.data_mappings);
  EXPECT_EQ(PlanOfWords({"--max-size=1M"})->max_file_bytes, 1U << 20);
  EXPECT_EQ(PlanOfWords({"-r", "5"})->realtime, 5);
  EXPECT_TRUE(PlanOfWords({"--dry-run"})->dry_run);
  EXPECT_LT(PlanOfWords({"--no-buffering"})->flush_interval, std::chrono::milliseconds(50));
  EXPECT_TRUE(PlanOfWords({"-F 999", "-aTNPR"}));
}

TEST(RecordPlan, ReadsNoBuildIdsIfAsked) {
  const auto plan = PlanOfWords({"-B"});
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->output.build_ids);
  EXPECT_EQ(plan->output.bundle.destination, record::BundleRequest::Destination::kNone);
}

TEST(RecordPlan, FollowsNoChildrenIfAsked) {
  const auto command = PlanOfWords({"-i", "--", "make"});
  ASSERT_TRUE(command);
  EXPECT_EQ(std::get<record::Workload>(command->input.target).inherit, record::Inherit::kNo);
  const auto process = PlanOfWords({"-i", "-p1"});
  ASSERT_TRUE(process);
  EXPECT_EQ(std::get<record::ProcessTrees>(process->input.target).inherit, record::Inherit::kNo);
  const auto again = PlanOfWords({"-i", "--inherit", "-p1"});
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<record::ProcessTrees>(again->input.target).inherit, record::Inherit::kYes);
}

TEST(RecordPlan, NamesFilesByTheTime) {
  const auto plan = PlanOfWords({"--timestamp-filename", "-ox.data"});
  ASSERT_TRUE(plan);
  ASSERT_TRUE(plan->rotation);
  EXPECT_FALSE(plan->rotation->switch_bytes);
  EXPECT_FALSE(plan->rotation->switch_interval);
}

TEST(RecordPlan, RefusesWhatOptionsOfPerfCannotDo) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(PlanOfWords({"-b"}), refuses("-b is not supported: samples are taken by BPF"));
  EXPECT_THAT(PlanOfWords({"--synth", "no"}), refuses("--synth: 'no' is not supported"));
  EXPECT_THAT(PlanOfWords({"--all-user", "--all-kernel"}), refuses("cannot be combined"));
  EXPECT_THAT(PlanOfWords({"--all-user", "-e", "sched:sched_switch"}), refuses("--all-user"));
  EXPECT_THAT(PlanOfWords({"--max-size=0"}), refuses("--max-size"));
  EXPECT_THAT(PlanOfWords({"-r", "100"}), refuses("-r: 100 is out of range"));
}

TEST(RecordPlan, TakesPerfsDelaysAndControl) {
  using std::chrono::milliseconds;
  EXPECT_EQ(PlanOfWords({})->input.first_state, record::FirstState::kOn);
  const auto late = PlanOfWords({"-D", "500"});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->input.first_state, record::FirstState::kOff);
  EXPECT_THAT(*late->control.delay, ElementsAre(record::EnabledRange{milliseconds(500)}));
  const auto off = PlanOfWords({"-D", "-1", "--control", "fifo:ctl,ack", "--", "true"});
  ASSERT_TRUE(off);
  EXPECT_THAT(*off->control.delay, IsEmpty());
  EXPECT_EQ(off->control.channel, record::ControlSpec(record::ControlFifos{"ctl", "ack"}));
  EXPECT_THAT(PlanOfWords({"--delay=20-10"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("--delay 20-10: use milliseconds")));
  EXPECT_THAT(PlanOfWords({"--control", "ctl"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("--control ctl: use fifo:CTL")));
}

TEST(RecordPlan, RecordsCgroupsOfTheWholeSystem) {
  const auto plan = PlanOfWords({"-G", "a,/b/c", "--container", "3f2a", "--", "sleep", "1"});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(std::holds_alternative<record::WholeSystem>(plan->input.target));
  EXPECT_THAT(plan->input.scope.cgroups, ElementsAre("a", "/b/c"));
  EXPECT_THAT(plan->input.scope.containers, ElementsAre("3f2a"));
  EXPECT_FALSE(plan->input.scope.all_cgroups);
  EXPECT_THAT(PlanOfWords({"-G", "a,,b"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("-G: empty name in 'a,,b'")));
}

TEST(RecordPlan, SelectsThreadsOfTheCommandByName) {
  const auto plan = PlanOfWords({"--comm", "cc1*", "--comm", "ld", "--", "make"});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(std::holds_alternative<record::Workload>(plan->input.target));
  EXPECT_THAT(plan->input.scope.comms, ElementsAre("cc1*", "ld"));
}

TEST(RecordPlan, AddsCgroupsAndNamespacesIfAsked) {
  const auto plan = PlanOfWords({"--all-cgroups", "--namespaces"});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->input.scope.all_cgroups);
  EXPECT_TRUE(plan->input.scope.namespaces);
}

TEST(RecordPlan, AcceptsSeveralEvents) {
  const auto plan = PlanOfWords({"-e", "cpu-clock,cs/period=1/", "-e", "sched:*", "-c1"});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->input.events.size(), 3U);
  EXPECT_EQ(plan->input.events[1].name, "cs");
  EXPECT_EQ(plan->input.events[2].name, "sched:*");
}

TEST(RecordPlan, MakesTheReportOfTheDoctorInsteadOfRecording) {
  const auto diagnosis_of = [](std::vector<std::string> words) {
    return PlanOfWords(std::move(words))->diagnosis;
  };
  EXPECT_EQ(diagnosis_of({"doctor"}), doctor_tool::ReportAs::kText);
  EXPECT_EQ(diagnosis_of({"doctor", "--json"}), doctor_tool::ReportAs::kJson);
  EXPECT_EQ(diagnosis_of({"doctor", "who"}), std::nullopt);
  EXPECT_EQ(diagnosis_of({"./doctor"}), std::nullopt);
  EXPECT_EQ(diagnosis_of({}), std::nullopt);
}

TEST(RecordPlan, ListsEventsInsteadOfRecording) {
  EXPECT_EQ(PlanOfWords({"-e", "list"})->listed_events, ListRequest{});
  EXPECT_EQ(PlanOfWords({"list"})->listed_events, ListRequest{});
  EXPECT_EQ(PlanOfWords({"list", "sched:*"})->listed_events, ListRequest{.glob = "sched:*"});
  EXPECT_EQ(PlanOfWords({"list", "--names", "cp*"})->listed_events,
            (ListRequest{.glob = "cp*", .form = ListForm::kNames}));
  EXPECT_EQ(PlanOfWords({"./list"})->listed_events, std::nullopt);
  EXPECT_EQ(PlanOfWords({"list", "a", "b"})->listed_events, std::nullopt);
}

TEST(RecordPlan, HelpsWithItsVerbs) {
  EXPECT_THAT(PlanOfWords({"list", "--help"})->verb_help, HasSubstr("Usage: perftape-record list"));
  EXPECT_THAT(PlanOfWords({"doctor", "-h"})->verb_help, HasSubstr("Usage: perftape-record doctor"));
  EXPECT_EQ(PlanOfWords({"list"})->verb_help, "");
}

TEST(RecordPlan, RefusesUnknownOptionsOfVerbs) {
  const auto plan = PlanOfWords({"list", "--nams"});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "perftape-record list: unknown option --nams; did you mean --names?");
}

TEST(RecordPlan, AcceptsAPeriodInsteadOfAFrequency) {
  const auto plan = PlanOfWords({"-c", "1000000"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(std::get<record::Period>(plan->input.rate).count, 1000000U);
  EXPECT_THAT(plan->input.cpus, IsEmpty());
}

TEST(RecordPlan, DisablesCallchainsIfAsked) {
  EXPECT_EQ(PlanOfWords({"--no-callgraph"})->input.callchains, record::Callchains::kNone);
  EXPECT_EQ(PlanOfWords({"-g"})->input.callchains, record::Callchains::kFramePointers);
  EXPECT_EQ(PlanOfWords({"--call-graph", "fp"})->input.callchains,
            record::Callchains::kFramePointers);
}

// perf's default, rounding and limits.
TEST(RecordPlan, CopiesStacksOfTheSizeThatIsAskedFor) {
  const auto size_of = [](const char* method) {
    const auto plan = PlanOfWords({"--call-graph", method});
    EXPECT_EQ(plan->input.callchains, record::Callchains::kOnlyKernel);
    return plan->input.stack_bytes;
  };
  EXPECT_EQ(size_of("dwarf"), 8192U);
  EXPECT_EQ(size_of("dwarf,"), 8192U);
  EXPECT_EQ(size_of("dwarf,1024"), 1024U);
  EXPECT_EQ(size_of("dwarf,1"), 8U);
  EXPECT_EQ(size_of("dwarf,65528"), 65528U);
  EXPECT_EQ(size_of("dwarf,16K"), 16384U);
  for (const std::string size : {"0", "65529", "99999999999", "64K"}) {
    EXPECT_THAT(PlanOfWords({"--call-graph", "dwarf," + size}),
                FailsWith(ErrorCode::kInvalidArgument,
                          HasSubstr(size + " is out of range: use 1B to 65528B")));
  }
  for (const std::string size : {"-8", "8k", "8 "}) {
    EXPECT_THAT(PlanOfWords({"--call-graph", "dwarf," + size}),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("'" + size + "' is not a size")));
  }
}

TEST(RecordPlan, CopiesStacksBesidesTheChain) {
  const auto plan = PlanOfWords({"--call-graph", "fp+dwarf,16384"});
  EXPECT_EQ(plan->input.callchains, record::Callchains::kFramePointers);
  EXPECT_EQ(plan->input.stack_bytes, 16384U);
  for (const char* method : {"fp,8", "+dwarf", "lbr+dwarf", "dwarf+dwarf", "fp+dwarfs"}) {
    EXPECT_THAT(PlanOfWords({"--call-graph", method}),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("is not supported")));
  }
}

TEST(RecordPlan, RefusesWordsThatContradictEachOther) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(PlanOfWords({"-F9", "-c9999"}), refuses("-F and -c cannot be combined"));
  EXPECT_THAT(PlanOfWords({"-a", "-p1"}), refuses("-a and -p cannot be combined"));
  EXPECT_THAT(PlanOfWords({"-g", "--no-callgraph"}),
              refuses("-g and --no-callgraph cannot be combined"));
}

TEST(RecordPlan, NamesTheWordThatItDoesNotUnderstand) {
  const auto refuses = [](const char* message) {
    return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
  };
  EXPECT_THAT(PlanOfWords({"-F", "0"}), refuses("-F: 0 is out of range: use at least 1"));
  EXPECT_THAT(PlanOfWords({"-F", "fast"}), refuses("-F: 'fast' is not a whole number"));
  EXPECT_THAT(PlanOfWords({"-F", "4000000000"}), refuses("-F: 4000000000 exceeds the limit"));
  EXPECT_THAT(PlanOfWords({"-c", "1"}),
              refuses("-c: 1 is out of range: use 1000 to 9223372036854775807"));
  EXPECT_THAT(PlanOfWords({"-c", "9223372036854775808"}), refuses("is out of range: use 1 to"));
  EXPECT_THAT(PlanOfWords({"-e", "cpu-clock/freq=4000000000/"}), refuses("exceeds the limit"));
  EXPECT_THAT(PlanOfWords({"-c", "99999999999999999999"}), refuses("is out of range"));
  EXPECT_THAT(PlanOfWords({"--call-graph", "lbr"}),
              refuses("--call-graph: method 'lbr' is not supported"));
  EXPECT_THAT(PlanOfWords({"-o", ""}), refuses("-o: the file name is empty"));
  EXPECT_THAT(PlanOfWords({"-z0"}), refuses("-z: 0 is out of range: use 1 to 22"));
  EXPECT_THAT(PlanOfWords({"-z23"}), refuses("-z: 23 is out of range: use 1 to 22"));
  EXPECT_THAT(PlanOfWords({"--compression-level=best"}),
              refuses("--compression-level: 'best' is not a whole number"));
}

TEST(RecordPlan, ReadsTheOffCpuThresholdInItsUnit) {
  using std::chrono::nanoseconds;
  const std::pair<const char*, nanoseconds> thresholds[] = {
      {"0", nanoseconds(0)},           {"500", std::chrono::milliseconds(500)},
      {"250us", nanoseconds(250'000)}, {"1.5ms", nanoseconds(1'500'000)},
      {"700ns", nanoseconds(700)},     {"2s", std::chrono::seconds(2)},
      {"1m", std::chrono::minutes(1)}};
  for (const auto& [text, threshold] : thresholds) {
    const auto plan = PlanOfWords({"-e", "offcpu", "--off-cpu-threshold", text});
    ASSERT_TRUE(plan) << text;
    EXPECT_EQ(plan->input.off_cpu_threshold, threshold) << text;
  }
  for (const char* text : {"", "ms", "-1ms", "1x", "1e3", "inf", "99999999999s"}) {
    EXPECT_THAT(PlanOfWords({"-e", "offcpu", "--off-cpu-threshold", text}),
                FailsWith(ErrorCode::kInvalidArgument, HasSubstr("is not a time")))
        << text;
  }
}

TEST(RecordPlan, ASizeWithoutUnitIsInBytes) {
  EXPECT_EQ(PlanOfWords({"--unwind-memory", "65536"})->input.unwind_bytes, 65536U);
  EXPECT_EQ(PlanOfWords({"--reserve-space", "4096"})->output.reserved_space, 4096U);
  const auto rotation = PlanOfWords({"--switch-output=1m", "--keep-bytes", "10"});
  EXPECT_EQ(rotation->rotation->files.keep.bytes, 10U);
  EXPECT_EQ(rotation->rotation->switch_interval, std::chrono::minutes(1));
  const auto flight = PlanOfWords({"--flight", "30", "--flight-memory", "33554432"});
  EXPECT_EQ(flight->flight->memory, std::uint64_t{32} << 20);
  EXPECT_THAT(PlanOfWords({"--flight", "30", "--flight-memory", "32"}),
              FailsWith(ErrorCode::kInvalidArgument,
                        HasSubstr("32 is out of range: use at least 1M; a number without a unit "
                                  "counts bytes")));
}

TEST(RecordPlan, AddsTheEventOfWakers) {
  const auto plan = PlanOfWords({"-e", "offcpu", "--wakers"});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->input.events.size(), 2U);
  EXPECT_EQ(plan->input.events[1].name, "wakeup");
  EXPECT_THAT(PlanOfWords({"--wakers"}),
              FailsWith(ErrorCode::kInvalidArgument, HasSubstr("add -e offcpu")));
}

auto Refuses(const char* message) {
  return FailsWith(ErrorCode::kInvalidArgument, HasSubstr(message));
}

std::vector<std::string> NamesOf(const std::vector<record::EventSpec>& events) {
  std::vector<std::string> names;
  for (const record::EventSpec& event : events) names.push_back(event.name);
  return names;
}

TEST(RecordPlan, WhyAddsEventsRateAndThreshold) {
  const auto plan = PlanOfWords({"--why", "-p", "7"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(NamesOf(plan->input.events), ElementsAre("cpu-clock", "offcpu", "wakeup"));
  const std::uint64_t highest = recording::HighestFrequency().value_or(999);
  EXPECT_EQ(std::get<record::Frequency>(plan->input.rate).hz,
            std::min<std::uint64_t>(999, highest));
  EXPECT_EQ(plan->input.off_cpu_threshold, std::chrono::microseconds(100));
  EXPECT_THAT(std::get<record::ProcessTrees>(plan->input.target).pids, ElementsAre(7));
}

TEST(RecordPlan, OptionsBesideWhyReplaceItsValues) {
  const auto plan = PlanOfWords({"-F", "50", "--off-cpu-threshold", "0", "-e", "offcpu,page-faults",
                                 "--call-graph", "fp", "--why", "--wakers", "--", "ls"});
  ASSERT_TRUE(plan);
  EXPECT_THAT(NamesOf(plan->input.events),
              ElementsAre("cpu-clock", "wakeup", "offcpu", "page-faults"));
  EXPECT_EQ(std::get<record::Frequency>(plan->input.rate).hz, 50U);
  EXPECT_EQ(plan->input.off_cpu_threshold, std::chrono::nanoseconds(0));
  EXPECT_THAT(plan->command, ElementsAre("ls"));

  const auto period = PlanOfWords({"--why", "-c", "2000000", "-e", "cpu-clock/freq=20/"});
  ASSERT_TRUE(period);
  EXPECT_EQ(std::get<record::Period>(period->input.rate).count, 2'000'000U);
  EXPECT_THAT(NamesOf(period->input.events), ElementsAre("offcpu", "wakeup", "cpu-clock"));
}

TEST(RecordPlan, MessagesNameWhyBesideItsEvents) {
  EXPECT_EQ(PlanOfWords({"--why"})->input.events[1].text, "offcpu of --why");
  EXPECT_EQ(PlanOfWords({"-e", "offcpu", "--why"})->input.events[2].text, "offcpu");
}

TEST(RecordPlan, WhyRefusesWhatLeavesGapsInThePath) {
  const std::vector<std::string> refused[] = {
      {"-C", "0"}, {"--aggregate", "1"}, {"--no-callgraph"}, {"--allow-missing-events"}};
  for (std::vector<std::string> words : refused) {
    words.emplace_back("--why");
    EXPECT_THAT(PlanOfWords(words), Refuses("cannot be combined")) << words.front();
  }
  EXPECT_THAT(PlanOfWords({"--why", "--call-graph", "none"}),
              Refuses("--call-graph eh, fp or dwarf"));
  EXPECT_TRUE(PlanOfWords({"--why", "--call-graph", "dwarf"}));
}

TEST(RecordPlan, WhyRecordsTheWaitsOfTriggers) {
  EXPECT_TRUE(PlanOfWords({"--why", "--flight", "30", "--trigger", "offcpu>500us"}));
  EXPECT_THAT(PlanOfWords({"--why", "--flight", "30", "--trigger", "offcpu>50us"}),
              Refuses("shorter than --off-cpu-threshold"));
}

}  // namespace
}  // namespace perftape::record_tool
