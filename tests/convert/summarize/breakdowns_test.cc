// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/breakdowns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::Function;
using convert::FunctionId;
using convert::Label;
using convert::Line;
using convert::Location;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using convert::Sample;
using testing::ElementsAre;

// Returns "work 5/8": the weights of self and inclusive.
std::vector<std::string> Texts(const Profile& profile, EventId event, bool by_inclusive = false) {
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  auto functions = SumFunctions(profile, frames, StackAmounts(profile, event));
  if (by_inclusive) SortByInclusive(functions);
  std::vector<std::string> texts;
  for (const FunctionAmounts& function : functions) {
    texts.push_back(fmt::format("{} {}/{}", frames.NameOf(function.frame), function.self.weight,
                                function.inclusive.weight));
  }
  return texts;
}

TEST(SumFunctions, AddsAllAddressesOfAFunctionTogether) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId app = made.Map("/bin/app");
  const LocationId main = made.Frame(app, 1, {"main"});
  const LocationId one = made.Frame(app, 2, {"work"});
  const LocationId other = made.Frame(app, 3, {"work"});
  made.Hit(made.Calls({main, one}), made.Runs("app"), event, 1, 3);
  made.Hit(made.Calls({main, other}), made.Runs("app"), event, 1, 4);
  made.Hit(made.Calls({main}), made.Runs("app"), event, 1, 2);
  const Profile profile = made.Make();

  EXPECT_THAT(Texts(profile, event), ElementsAre("work 7/7", "main 2/9"));
  EXPECT_THAT(Texts(profile, event, true), ElementsAre("main 2/9", "work 7/7"));
}

TEST(SumFunctions, CountsARecursiveFunctionOnceInEachStack) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  made.Hit(made.Calls({"main", "walk", "walk", "walk"}), made.Runs("app"), event, 1, 5);

  EXPECT_THAT(Texts(made.Make(), event), ElementsAre("walk 5/5", "main 0/5"));
}

TEST(SumFunctions, ShowsInlinedFunctionsAsFramesOfTheirOwn) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId app = made.Map("/bin/app");
  const LocationId inlined = made.Frame(app, 1, {"inner", "outer"});
  made.Hit(made.Calls({inlined}), made.Runs("app"), event, 1, 5);

  EXPECT_THAT(Texts(made.Make(), event), ElementsAre("inner 5/5", "outer 0/5"));
}

TEST(SumFunctions, NamesFramesWithoutAFunctionByTheirBinary) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId libc = made.Map("/lib/libc.so.6");
  made.Hit(made.Calls({made.Frame(libc, 1)}), made.Runs("app"), event, 1, 5);
  made.Hit(made.Calls({made.Frame(libc, 2)}), made.Runs("app"), event, 1, 5);
  made.Hit(made.Calls({made.Frame(MappingId{}, 7)}), made.Runs("app"), event, 1, 1);

  EXPECT_THAT(Texts(made.Make(), event), ElementsAre("[libc.so.6] 10/10", "[unknown] 1/1"));
}

TEST(SumFunctions, KeepsFunctionsOfTwoBinariesApart) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const LocationId one = made.Frame(made.Map("/bin/a"), 1, {"main"});
  const LocationId other = made.Frame(made.Map("/bin/b"), 1, {"main"});
  made.Hit(made.Calls({one}), made.Runs("a"), event, 1, 5);
  made.Hit(made.Calls({other}), made.Runs("b"), event, 1, 6);

  EXPECT_THAT(Texts(made.Make(), event), ElementsAre("main 6/6", "main 5/5"));
}

LocationId FrameAt(ProfileMaker& made, std::uint64_t offset, std::string_view name,
                   std::int64_t line) {
  auto& builder = made.builder;
  const FunctionId function =
      builder.Add(Function{.name = builder.Add(name), .filename = builder.Add("app.c")});
  const std::vector<Line> lines = {{.function = function, .number = line}};
  return builder.Add(Location{.mapping = {}, .offset = {offset}, .lines = lines});
}

std::vector<std::string> NamesOf(const Profile& profile, EventId event) {
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  std::vector<std::string> names;
  for (const FunctionAmounts& one : SumFunctions(profile, frames, StackAmounts(profile, event))) {
    names.emplace_back(frames.NameOf(one.frame));
  }
  return names;
}

TEST(SumFunctions, SortsFunctionsWithAShareOfZeroByTheirTotal) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "loop", "work"}), {}, cycles, 100'000, 100'000);
  made.Hit(made.Calls({"main", "a"}), {}, cycles, 1, 1);
  made.Hit(made.Calls({"main", "loop"}), {}, cycles, 1, 1);
  EXPECT_THAT(NamesOf(made.Make(), cycles), testing::ElementsAre("work", "main", "loop", "a"));
}

TEST(SumFunctions, SortsDifferencesByTheirSize) {
  ProfileMaker made;
  const EventId space = made.CountsPlainly("inuse_space", "bytes");
  made.Hit(made.Calls({"grew"}), {}, space, 0, 512);
  made.Hit(made.Calls({"shrank"}), {}, space, 0, -2048);
  EXPECT_THAT(NamesOf(made.Make(), space), testing::ElementsAre("shrank", "grew"));
}

TEST(SumLines, AddsUpTheLinesOfTheSelectedFunctions) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const LocationId call = FrameAt(made, 1, "work", 10);
  const LocationId loop = FrameAt(made, 2, "work", 12);
  const LocationId leaf = FrameAt(made, 3, "leaf", 30);
  made.Hit(made.Calls({call, leaf}), made.Runs("app"), event, 1, 5);
  made.Hit(made.Calls({loop}), made.Runs("app"), event, 1, 3);
  made.Hit(made.Calls({call, call}), made.Runs("app"), event, 1, 2);  // recursive
  const Profile profile = made.Make();
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  std::vector<bool> selected;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    selected.push_back(frames.NameOf(i) == "work");
  }

  std::vector<std::string> texts;
  for (const LineAmounts& line :
       SumLines(profile, frames, StackAmounts(profile, event), selected)) {
    texts.push_back(fmt::format("{} {}:{} {}/{}", frames.NameOf(line.frame), line.filename,
                                line.number, line.self.weight, line.inclusive.weight));
  }
  EXPECT_THAT(texts, ElementsAre("work app.c:10 2/7", "work app.c:12 3/3"));
}

std::vector<std::string> Texts(const Profile& profile, const GroupBy& by) {
  std::vector<std::string> texts;
  for (const GroupAmount& group : SumGroups(profile, StackAmounts(profile, EventId{}), by)) {
    texts.push_back(fmt::format("{}={}", group.name, group.amount.weight));
  }
  return texts;
}

TEST(SumGroups, AddsUpByThreadAndBinary) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const auto app = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const auto libc = made.Frame(made.Map("/lib/libc.so.6"), 1, {"read"});
  made.Hit(made.Calls({app, libc}), made.Runs("one", 10, 10), event, 1, 5);
  made.Hit(made.Calls({app}), made.Runs("one", 10, 11), event, 1, 2);
  made.Hit(made.Calls({app}), made.Runs("two", 20, 20), event, 1, 4);
  made.Hit({}, {}, event, 1, 1);
  const Profile profile = made.Make();

  EXPECT_THAT(Texts(profile, {.property = Property::kComm}), ElementsAre("one=7", "two=4", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kPid}), ElementsAre("10=7", "20=4", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kTid}),
              ElementsAre("10=5", "20=4", "11=2", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kDso}),
              ElementsAre("/bin/app=6", "/lib/libc.so.6=5", "=1"));
}

TEST(SumGroups, AddsUpByLabels) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  auto& builder = made.builder;
  const auto add = [&](std::vector<Label> labels, std::int64_t period) {
    builder.Add(Sample{.stack = made.Calls({"main"}),
                       .event = event,
                       .labels = builder.Add(labels),
                       .count = 1,
                       .period = period});
  };
  add({{.key = builder.Add("cpu"), .number = 3, .unit = builder.Add("cpu")}}, 5);
  add({{.key = builder.Add("cpu"), .number = 4, .unit = builder.Add("cpu")},
       {.key = builder.Add("region"), .text = builder.Add("eu")}},
      6);
  add({{.key = builder.Add("size"), .number = 64, .unit = builder.Add("bytes")}}, 1);
  const Profile profile = made.Make();

  EXPECT_THAT(Texts(profile, {.property = Property::kCpu}), ElementsAre("4=6", "3=5", "=1"));
  EXPECT_THAT(Texts(profile, {.property = Property::kLabel, .label = "region"}),
              ElementsAre("=6", "eu=6"));
  EXPECT_THAT(Texts(profile, {.property = Property::kLabel, .label = "size"}),
              ElementsAre("=11", "64 bytes=1"));
}

}  // namespace
}  // namespace perftape::summarize
