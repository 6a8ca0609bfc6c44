// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/functions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
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

}  // namespace
}  // namespace perftape::summarize
