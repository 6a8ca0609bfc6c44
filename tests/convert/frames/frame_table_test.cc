// SPDX-License-Identifier: Apache-2.0
#include "convert/frames/frame_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/model/mappings_without_files.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

// Returns "name type" of each frame, innermost first.
std::vector<std::string> Describe(const FrameTable& frames, LocationId location) {
  constexpr std::string_view kTypes[] = {"thread", "user", "kernel", "inlined", "jit"};
  std::vector<std::string> lines;
  for (const FrameId frame : frames.Of(location)) {
    lines.push_back(std::string(frames.NameOf(frame)) + " " +
                    std::string(kTypes[static_cast<std::size_t>(frames[frame].type)]));
  }
  return lines;
}

TEST(FrameTable, TellsInlinedCallsFromFunctions) {
  ProfileMaker made;
  const LocationId frame = made.Frame(made.Map("/bin/app"), 0x10, {"innermost", "inner", "outer"});
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kType);
  EXPECT_THAT(Describe(frames, frame),
              ElementsAre("innermost inlined", "inner inlined", "outer user"));
}

TEST(FrameTable, JoinsInlinedCallsWithTheirFunction) {
  ProfileMaker made;
  const MappingId app = made.Map("/bin/app");
  const LocationId inlined = made.Frame(app, 0x10, {"inner", "outer"});
  const LocationId called = made.Frame(app, 0x20, {"inner"});
  const Profile profile = made.Make();
  const FrameTable by_function(profile, FrameIdentity::kFunction);
  EXPECT_EQ(by_function.Of(inlined)[0], by_function.Of(called)[0]);
  EXPECT_THAT(Describe(by_function, inlined), ElementsAre("inner user", "outer user"));
  const FrameTable by_type(profile, FrameIdentity::kType);
  EXPECT_NE(by_type.Of(inlined)[0], by_type.Of(called)[0]);
}

TEST(FrameTable, JoinsFunctionsOfTwoBuilds) {
  ProfileMaker made;
  const LocationId in_new = made.Frame(made.Map("/opt/new/app-2"), 0x10, {"inner", "outer"});
  const LocationId in_old = made.Frame(made.Map("/opt/old/app-1"), 0x20, {"inner"});
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kName);
  EXPECT_EQ(frames.Of(in_new)[0], frames.Of(in_old)[0]);
  EXPECT_THAT(Describe(frames, in_new), ElementsAre("inner user", "outer user"));
  EXPECT_EQ(frames.BinaryOf(frames.Of(in_old)[0]), "app-2");
}

TEST(FrameTable, KnowsWhichFramesHaveNames) {
  ProfileMaker made;
  const LocationId nameless = made.Frame(made.Map("/bin/app"), 0x10);
  const LocationId unmapped = made.Frame({}, 0x10);
  const LocationId empty = made.Frame(made.Map("[folded]"), 1, {""});
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kFunction);
  EXPECT_EQ(frames.NameOf(frames.Of(nameless)[0]), "[app]");
  EXPECT_FALSE(frames[frames.Of(nameless)[0]].has_name);
  EXPECT_EQ(frames.NameOf(frames.Of(unmapped)[0]), "[unknown]");
  EXPECT_EQ(frames.NameOf(frames.Of(empty)[0]), "");
  EXPECT_TRUE(frames[frames.Of(empty)[0]].has_name);
}

TEST(FrameTable, AddsFramesOfThreads) {
  ProfileMaker made;
  const LocationId function = made.Frame("main");
  const Profile profile = made.Make();
  FrameTable frames(profile, FrameIdentity::kName);
  const FrameId thread = frames.Add("main", FrameType::kThread);
  EXPECT_NE(thread, frames.Of(function)[0]);
  EXPECT_EQ(frames.Add(std::string("main"), FrameType::kThread), thread);
}

TEST(FrameTable, TellsKernelAndJitByTheMapping) {
  ProfileMaker made;
  const LocationId kernel =
      made.Frame(made.Map("[kernel.kallsyms]", MappingType::kKernel), 0x10, {"do_idle"});
  const LocationId anonymous = made.Frame(made.Map("//anon"), 0x10, {"java"});
  const LocationId map = made.Frame(made.Map("/tmp/perf-12.map"), 0x10, {"node"});
  const LocationId nameless = made.Frame(made.Map("/bin/app"), 0x10);
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kType);
  EXPECT_THAT(Describe(frames, kernel), ElementsAre("do_idle kernel"));
  EXPECT_THAT(Describe(frames, anonymous), ElementsAre("java jit"));
  EXPECT_THAT(Describe(frames, map), ElementsAre("node jit"));
  EXPECT_THAT(Describe(frames, nameless), ElementsAre("[app] user"));
}

TEST(FrameTable, TellsTypesOfFoldedFramesByTheirMarks) {
  ProfileMaker made;
  const MappingId folded = made.Map("[folded]");
  const LocationId kernel = made.Frame(folded, 1, {"vfs_read_[k]"});
  const LocationId inlined = made.Frame(folded, 2, {"get_[i]"});
  const LocationId jit = made.Frame(folded, 3, {"Loop_[j]"});
  const LocationId user = made.Frame(folded, 4, {"main"});
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kType);
  EXPECT_THAT(Describe(frames, kernel), ElementsAre("vfs_read_[k] kernel"));
  EXPECT_THAT(Describe(frames, inlined), ElementsAre("get_[i] inlined"));
  EXPECT_THAT(Describe(frames, jit), ElementsAre("Loop_[j] jit"));
  EXPECT_THAT(Describe(frames, user), ElementsAre("main user"));
  EXPECT_EQ(profile.text(frames[frames.Of(user)[0]].dso), "");
}

TEST(FrameTable, JoinsAddressesOfAFunctionAndTheirLines) {
  ProfileMaker made;
  const MappingId app = made.Map("/bin/app");
  const FunctionId function = made.builder.Add(Function{
      .name = made.builder.Add("f"), .filename = made.builder.Add("src/f.cc"), .start_line = 10});
  std::vector<LocationId> locations;
  for (const std::int64_t line : {30, 12, 0}) {
    const Line lines[] = {{.function = function, .number = line}};
    locations.push_back(made.builder.Add(
        Location{.mapping = app, .offset = {static_cast<std::uint64_t>(line)}, .lines = lines}));
  }
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kType);
  for (const LocationId location : locations) EXPECT_THAT(frames.Of(location), ElementsAre(0));
  EXPECT_EQ(profile.text(frames[0].dso), "/bin/app");
  EXPECT_EQ(profile.text(frames[0].source), "src/f.cc");
  EXPECT_EQ(frames[0].first_line, 10);
  EXPECT_EQ(frames[0].last_line, 30);
}

TEST(FrameTable, KeepsFunctionsOfOneNameInTwoFilesApart) {
  ProfileMaker made;
  const LocationId one = made.Frame(made.Map("/lib/one.so"), 0x10, {"init"});
  const LocationId two = made.Frame(made.Map("/lib/two.so"), 0x10, {"init"});
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kType);
  const FrameId second = frames.Of(two)[0];
  EXPECT_NE(second, frames.Of(one)[0]);
  EXPECT_THAT(frames.Ranks(), ElementsAre(0, 1));
}

TEST(FrameTable, HasAHiddenKernelAsBinary) {
  ProfileMaker made;
  const LocationId hidden = made.Frame(AddHiddenKernel(made.builder), 0xffffffff81000010);
  const Profile profile = made.Make();
  const FrameTable frames(profile, FrameIdentity::kFunction);
  EXPECT_THAT(Describe(frames, hidden), ElementsAre("[kernel] kernel"));
  EXPECT_EQ(frames.BinaryOf(frames.Of(hidden)[0]), "[kernel]");
  EXPECT_FALSE(frames[frames.Of(hidden)[0]].has_name);
}

}  // namespace
}  // namespace perftape::convert
