// SPDX-License-Identifier: Apache-2.0
#include "convert/filter/dropped_frames.h"

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/convert/export/profile_maker.h"
#include "tests/convert/profile_lines.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

// The stacks of a heap, with these hints, as they are shown.
std::vector<std::string> Shown(
    std::initializer_list<std::initializer_list<std::string_view>> stacks, std::string drop,
    std::string keep = {}) {
  ProfileMaker made;
  const EventId event = made.CountsPlainly("inuse_space", "bytes");
  for (const auto& stack : stacks) made.Hit(made.Calls(stack), {}, event, 0, 1);
  made.builder.SetMetadata({.drop_frames = std::move(drop), .keep_frames = std::move(keep)});
  const auto shown = WithoutDroppedFrames(made.Make());
  if (!shown) return {shown.error().message};
  EXPECT_TRUE(Validate(*shown));
  EXPECT_EQ(shown->metadata().drop_frames, "");
  return SampleLines(*shown);
}

TEST(WithoutDroppedFrames, RemovesTheOutermostMatchAndWhatItCalled) {
  EXPECT_THAT(Shown({{"main", "work", "malloc", "sbrk"}, {"main", "work"}}, "malloc"),
              ElementsAre("inuse_space main;work 2"));
}

TEST(WithoutDroppedFrames, ComparesWholeNamesWithoutArguments) {
  EXPECT_THAT(Shown({{"main", "my_malloc"}}, "malloc"),
              ElementsAre("inuse_space main;my_malloc 1"));
  EXPECT_THAT(Shown({{"main", "pool::Alloc<int>(unsigned long)"}}, "pool::Alloc|x"),
              ElementsAre("inuse_space main 1"));
}

TEST(WithoutDroppedFrames, KeepsWhatIsToBeKeptAndStacksWithoutACaller) {
  EXPECT_THAT(Shown({{"main", "malloc_hook", "malloc"}}, "malloc.*", "malloc_hook"),
              ElementsAre("inuse_space main;malloc_hook 1"));
  EXPECT_THAT(Shown({{"malloc", "sbrk"}}, "malloc"), ElementsAre("inuse_space malloc;sbrk 1"));
}

TEST(WithoutDroppedFrames, CutsALocationBetweenItsInlinedFunctions) {
  ProfileMaker made;
  const EventId event = made.CountsPlainly("inuse_space", "bytes");
  const MappingId app = made.Map("/bin/app");
  const LocationId main = made.Frame(app, 1, {"main"});
  const LocationId work = made.Frame(app, 2, {"malloc", "work"});  // malloc is inlined
  const LocationId leaf = made.Frame(app, 3, {"sbrk"});
  made.Hit(made.Calls({main, work, leaf}), {}, event, 0, 5);
  made.builder.SetMetadata({.drop_frames = "malloc"});
  const auto shown = WithoutDroppedFrames(made.Make());
  ASSERT_TRUE(shown);
  EXPECT_THAT(SampleLines(*shown), ElementsAre("inuse_space main;work 5"));
}

TEST(WithoutDroppedFrames, FailsForWhatIsNoExpression) {
  EXPECT_THAT(Shown({{"main"}}, "a(").front(), testing::HasSubstr("drop_frames"));
}

}  // namespace
}  // namespace perftape::convert
