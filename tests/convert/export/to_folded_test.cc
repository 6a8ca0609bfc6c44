// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_folded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "convert/model/sample_thread.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

std::string Folded(const Profile& profile, const FoldedOptions& options = {}) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.folded").value();
  EXPECT_TRUE(WriteFolded(profile, options, out));
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "out.folded").value();
}

TEST(WriteFolded, PutsTheCommBelowTheStack) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("app"), made.Counts("cycles"), 3);
  EXPECT_EQ(Folded(made.Make()), "app;main;f 3\n");
}

TEST(WriteFolded, OmitsTheCommIfAsked) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main"}), made.Runs("a"), cycles, 3);
  made.Hit(made.Calls({"main"}), made.Runs("b"), cycles, 4);
  EXPECT_EQ(Folded(made.Make(), {.root = folded::Root::kNone}), "main 7\n");
}

TEST(WriteFolded, SortsLines) {
  ProfileMaker made;
  const ThreadId app = made.Runs("app");
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "z"}), app, cycles, 1);
  made.Hit(made.Calls({"main"}), app, cycles, 2);
  made.Hit(made.Calls({"main", "a", "x"}), app, cycles, 3);
  EXPECT_EQ(Folded(made.Make()), "app;main 2\napp;main;a;x 3\napp;main;z 1\n");
}

TEST(WriteFolded, WritesTheSameWithSeveralThreads) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const std::vector<std::string> names = {"a", "b;", "b", "long name", "z z 1"};
  for (std::size_t i = 0; i < 3000; ++i) {
    StackId stack = made.Calls({"main"});
    for (std::size_t rest = i; rest > 0; rest /= names.size()) {
      stack = made.builder.Push(stack, made.Frame(names[rest % names.size()]));
    }
    const ThreadId thread = made.Runs(i % 7 == 0 ? "other" : "app");
    made.Hit(stack, thread, cycles, static_cast<std::int64_t>(i) + 1);
  }
  const Profile profile = made.Make();
  const std::string one = Folded(profile);
  EXPECT_EQ(std::ranges::count(one, '\n'), 3000);
  EXPECT_EQ(Folded(profile, {.threads = 2}), one);
  EXPECT_EQ(Folded(profile, {.threads = 7}), one);
}

TEST(WriteFolded, JoinsWhatIsWrittenAlike) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x10, {"f"})}), made.Runs("app", 1, 1), cycles, 1);
  made.Hit(made.Calls({made.Frame(app, 0x20, {"f"})}), made.Runs("app", 2, 2), cycles, 2);
  EXPECT_EQ(Folded(made.Make()), "app;f 3\n");
}

TEST(WriteFolded, JoinsAnInlinedCallWithARealOneOfTheSameNames) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const ThreadId thread = made.Runs("app");
  const MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x10, {"inner", "outer"})}), thread, cycles, 1);
  made.Hit(made.Calls({"outer", "inner"}), thread, cycles, 2);
  EXPECT_EQ(Folded(made.Make()), "app;outer;inner 3\n");
}

TEST(WriteFolded, NamesTheFileOfAFrameWithoutName) {
  ProfileMaker made;
  const StackId stack = made.Calls(
      {made.Frame(made.Map("/usr/lib/libc.so.6"), 0x10), made.Frame(MappingId{}, 0xdead),
       made.Frame(made.Map("[vdso]"), 0x10), made.Frame(made.Map("/bin/x"), 0x10, {""})});
  made.Hit(stack, made.Runs("app"), made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make()), "app;[libc.so.6];[unknown];[vdso];[x] 1\n");
}

TEST(WriteFolded, MarksKernelFramesIfAsked) {
  ProfileMaker made;
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  made.Hit(made.Calls({made.Frame("main"), made.Frame(kernel, 0x10, {"do_syscall_64"}),
                       made.Frame(kernel, 0x20)}),
           made.Runs("app"), made.Counts("cycles"), 1);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app;main;do_syscall_64;[kernel.kallsyms] 1\n");
  EXPECT_EQ(Folded(profile, {.mark_kernel = true}),
            "app;main;do_syscall_64_[k];[kernel.kallsyms]_[k] 1\n");
}

// The leaf, its caller, and the user's frame that entered the kernel.
TEST(WriteFolded, AppendsOffsetsInSymbolsIfAsked) {
  ProfileMaker made;
  const auto frame = [&](MappingId mapping, std::uint64_t address,
                         std::initializer_list<std::string_view> names) {
    const LocationId location = made.Frame(mapping, address, names);
    std::vector<Line> lines;
    for (const std::string_view name : names) {
      lines.push_back({.function = made.builder.Add(Function{.name = made.builder.Add(name)})});
    }
    made.builder.SetLines(location, lines, address - 0x10);
    return location;
  };
  const MappingId app = made.Map("/bin/app");
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const LocationId main = frame(app, 0x20, {"inlined", "main"});
  const StackId user = made.Calls({made.Frame(app, 0x5, {"_start"}), main});
  const StackId in_kernel = made.builder.Push(user, frame(kernel, 0x11, {"do_syscall_64"}));
  const ThreadId thread = made.Runs("app");
  const EventId cycles = made.Counts("cycles");
  made.Hit(in_kernel, thread, cycles, 1);
  made.Hit(made.builder.Push(in_kernel, frame(kernel, 0x30, {"read"})), thread, cycles, 2);
  made.Hit(made.builder.Push(user, made.Frame(app, 0x40)), thread, cycles, 4);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile, {.offsets = true}),
            "app;_start;main+0x10;inlined;do_syscall_64+0x1 1\n"
            "app;_start;main+0x10;inlined;do_syscall_64+0x2;read+0x20 2\n"
            "app;_start;main+0x11;inlined;[app] 4\n");
  EXPECT_EQ(Folded(profile, {.mark_kernel = true, .offsets = true}),
            "app;_start;main+0x10;inlined;do_syscall_64+0x1_[k] 1\n"
            "app;_start;main+0x10;inlined;do_syscall_64+0x2_[k];read+0x20_[k] 2\n"
            "app;_start;main+0x11;inlined;[app] 4\n");
}

TEST(WriteFolded, CountsPeriodsIfAsked) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), made.Runs("app"), made.Counts("cycles"), 3, 3000);
  made.Hit(made.Calls({"idle"}), made.Runs("app"), made.Counts("cycles"), 1, 0);
  EXPECT_EQ(Folded(made.Make(), {.value = FoldedValue::kPeriod}), "app;main 3000\n");
}

TEST(WriteFolded, CountsPeriodsIfSamplesStandForUnequalAmounts) {
  ProfileMaker made;
  const EventId wait = made.Counts("offcpu-time", "nanoseconds");
  made.Hit(made.Calls({"long"}), made.Runs("app"), wait, 1, 400);
  made.Hit(made.Calls({"short"}), made.Runs("app"), wait, 80, 400);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app;long 400\napp;short 400\n");
  EXPECT_EQ(Folded(profile, {.value = FoldedValue::kSamples}), "app;long 1\napp;short 80\n");
}

TEST(WriteFolded, CountsSamplesIfAllStandForTheSameAmount) {
  ProfileMaker made;
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 1000);
  made.Hit(made.Calls({"a"}), made.Runs("app"), clock, 3, 3000);
  made.Hit(made.Calls({"b"}), made.Runs("app"), clock, 1, 1000);
  EXPECT_EQ(Folded(made.Make()), "app;a 3\napp;b 1\n");
}

TEST(WriteFolded, WritesTheDefaultEvent) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("faults");
  made.Hit(made.Calls({"f"}), made.Runs("app"), faults, 5);
  made.Hit(made.Calls({"f"}), made.Runs("app"), cycles, 2);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app;f 5\n");
  EXPECT_EQ(Folded(profile, {.event = cycles}), "app;f 2\n");
}

TEST(WriteFolded, EscapesWhatWouldEndAFrameOrALine) {
  ProfileMaker made;
  made.Hit(made.Calls({"a;b", "line\nend", "id "}), made.Runs("my;app"), made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make()), "my%3Bapp;a%3Bb;line%0Aend;id  1\n");
}

TEST(WriteFolded, SortsByWhatIsWritten) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  for (const char* name : {"a;", "a", "a b", "a!", "a%"})
    made.Hit(made.Calls({name}), {}, cycles, 1);
  made.Hit(made.Calls({"a", "x"}), {}, cycles, 1);
  EXPECT_EQ(Folded(made.Make()), "a 1\na b 1\na! 1\na% 1\na%3B 1\na;x 1\n");
}

TEST(WriteFolded, EscapesANumberAtTheEndOfAStack) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"id 7", "id 7"}), {}, cycles, 1);
  made.Hit(made.Calls({"main"}), {}, cycles, 1);
  EXPECT_EQ(Folded(made.Make()), "id 7;id%207 1\nmain 1\n");
}

TEST(WriteFolded, DoesNotEscapeNumbersThatEndAllStacks) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "f 7"}), {}, cycles, 1);
  made.Hit(made.Calls({"main", "f 12"}), {}, cycles, 5);
  EXPECT_EQ(Folded(made.Make()), "main;f 12 5\nmain;f 7 1\n");
}

TEST(WriteFolded, PutsPidAndTidIntoTheRootFrame) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main"}), made.Runs("app", 10, 11), cycles, 3);
  made.Hit(made.Calls({"main"}), made.Runs("app", 10, 12), cycles, 4);
  made.Hit(made.Calls({"main"}), made.Runs("app", kUnknownId, 13), cycles, 5);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile, {.root = folded::Root::kCommPid}), "app-10;main 7\napp-?;main 5\n");
  EXPECT_EQ(Folded(profile, {.root = folded::Root::kCommPidTid}),
            "app-10/11;main 3\napp-10/12;main 4\napp-?/13;main 5\n");
}

TEST(WriteFolded, ReadsThreadsFromLabelsAsLastResort) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const Label comm[] = {{.key = made.builder.Add("comm"), .text = made.builder.Add("app")}};
  const Label pid[] = {{.key = made.builder.Add("pid"), .number = 7}};
  made.builder.Add(Sample{.stack = made.Calls({"f"}),
                          .event = cycles,
                          .labels = made.builder.Add(std::span(comm)),
                          .count = 1});
  made.builder.Add(Sample{.stack = made.Calls({"f"}),
                          .event = cycles,
                          .labels = made.builder.Add(std::span(pid)),
                          .count = 2});
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app;f 1\nf 2\n");
  EXPECT_EQ(Folded(profile, {.root = folded::Root::kCommPid}), "[unknown]-7;f 2\napp-?;f 1\n");
}

TEST(WriteFolded, JoinsARootWithAFrameOfItsName) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main"}), made.Runs("app"), cycles, 1);
  made.Hit(made.Calls({"app", "main"}), {}, cycles, 2);
  made.Hit(made.Calls({"app"}), {}, cycles, 4);
  made.Hit({}, made.Runs("app"), cycles, 8);
  EXPECT_EQ(Folded(made.Make()), "app 12\napp;main 3\n");
}

TEST(WriteFolded, DoesNotDoubleTheKernelsMark) {
  ProfileMaker made;
  const MappingId kernel = made.Map("[kernel]", MappingType::kKernel);
  made.Hit(made.Calls({made.Frame(kernel, 0, {"read_[k]"}), made.Frame(kernel, 0, {"read"})}), {},
           made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make(), {.mark_kernel = true}), "read_[k];read_[k] 1\n");
}

TEST(WriteFolded, WritesPlainValuesWithTheirDecimals) {
  ProfileMaker made;
  const EventId values = made.CountsPlainly("samples", "count", 3);
  made.Hit(made.Calls({"a"}), {}, values, 0, 12500);
  made.Hit(made.Calls({"b"}), {}, values, 0, -7);
  made.Hit(made.Calls({"c"}), {}, values, 0, 19000);
  EXPECT_EQ(Folded(made.Make()), "a 12.5\nb -0.007\nc 19.0\n");
}

TEST(WriteFolded, KeepsZerosOfPlainValuesOnly) {
  ProfileMaker made;
  const EventId values = made.CountsPlainly("samples");
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"a"}), {}, values, 0, 0);
  made.Hit(made.Calls({"a"}), {}, cycles, 0, 0);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile, {.event = values}), "a 0\n");
  EXPECT_EQ(Folded(profile, {.event = cycles}), "");
}

TEST(WriteFolded, WritesTwoColumnsOfADifference) {
  ProfileMaker made;
  const EventId before = made.CountsPlainly("before");
  const EventId after = made.CountsPlainly("after", "count", 1);
  made.Hit(made.Calls({"a"}), {}, before, 0, 5);
  made.Hit(made.Calls({"b"}), {}, before, 0, 7);
  made.Hit(made.Calls({"b"}), {}, after, 0, 45);
  EXPECT_EQ(Folded(made.Make(), {.differential = true}), "a 5 0.0\nb 7 4.5\n");
}

TEST(WriteFolded, RefusesADifferenceOfOtherEvents) {
  ProfileMaker made;
  made.CountsPlainly("before");
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.folded").value();
  EXPECT_THAT(WriteFolded(made.Make(), {.differential = true}, out),
              FailsWith(ErrorCode::kNotFound));
}

TEST(WriteFolded, DoesNotDependOnTheOrderOfAdding) {
  const auto folded = [](bool is_reversed) {
    ProfileMaker made;
    std::vector<std::pair<const char*, std::string_view>> hits = {
        {"a", "x"}, {"b", "x"}, {"a", "y;"}, {"a", "x 1"}, {"c", "_[k]"}};
    if (is_reversed) std::ranges::reverse(hits);
    for (const auto& [comm, frame] : hits) {
      made.Hit(made.Calls({"main", frame}), made.Runs(comm), made.Counts("cycles"), 1);
    }
    return Folded(made.Make());
  };
  EXPECT_EQ(folded(false), folded(true));
}

TEST(WriteFolded, PutsAByteOrderMarkBeforeWhatLooksLikeOne) {
  ProfileMaker made;
  made.Hit(made.Calls({"\xef\xbb\xbf main"}), {}, made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make()), "\xef\xbb\xbf\xef\xbb\xbf main 1\n");
}

TEST(WriteFolded, WritesStacksOfAnyDepth) {
  ProfileMaker made;
  StackId stack;
  std::string expected = "f";
  for (int i = 0; i < 100'000; ++i) stack = made.builder.Push(stack, made.Frame("f"));
  for (int i = 1; i < 100'000; ++i) expected += ";f";
  made.Hit(stack, {}, made.Counts("cycles"), 1);
  EXPECT_EQ(Folded(made.Make()), expected + " 1\n");
}

TEST(WriteFolded, KeepsSamplesWithoutFrames) {
  ProfileMaker made;
  made.Hit({}, made.Runs("app"), made.Counts("cycles"), 2);
  const Profile profile = made.Make();
  EXPECT_EQ(Folded(profile), "app 2\n");
  EXPECT_EQ(Folded(profile, {.root = folded::Root::kNone}), "[unknown] 2\n");
}

TEST(WriteFolded, StopsSumsAtTheLargestNumber) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"f"}), made.Runs("app", 1, 1), cycles,
           std::numeric_limits<std::int64_t>::max());
  made.Hit(made.Calls({"f"}), made.Runs("app", 1, 2), cycles, 2);
  EXPECT_EQ(Folded(made.Make()), "app;f 9223372036854775807\n");
}

TEST(WriteFolded, WritesNothingOfAnEmptyProfile) {
  EXPECT_EQ(Folded(Profile()), "");
}

}  // namespace
}  // namespace perftape::convert
