// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/stack_quality.h"

#include <gmock/gmock.h>

#include "tests/convert/export/profile_maker.h"

namespace perftape::summarize {
namespace {

using convert::EventId;
using convert::LocationId;
using convert::MappingId;
using convert::MappingType;
using convert::Profile;
using convert::ProfileMaker;

struct Judged {
  Profile profile;
  convert::FrameTable frames;
  StackAmounts amounts;
  explicit Judged(ProfileMaker& made)
      : profile(made.Make()),
        frames(profile, convert::FrameIdentity::kFunction),
        amounts(profile, EventId{}) {}
};

TEST(JudgeStacks, CountsStacksWhoseOutermostUserFrameHasNoName) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const LocationId main = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const LocationId unnamed = made.Frame(made.Map("/lib/libz.so"), 2);
  const LocationId kernel = made.Frame(made.Map("[kernel.kallsyms]", MappingType::kKernel), 3);
  made.Hit(made.Calls({main, unnamed}), made.Runs("app"), event, 1, 5);
  made.Hit(made.Calls({unnamed, main}), made.Runs("app"), event, 1, 3);
  made.Hit(made.Calls({kernel}), made.Runs("app"), event, 1, 2);
  made.Hit({}, made.Runs("app"), event, 1, 1);
  const Judged judged(made);

  const StackQuality quality = JudgeStacks(judged.profile, judged.frames, judged.amounts);

  EXPECT_EQ(quality.distinct, 3U);
  EXPECT_DOUBLE_EQ(quality.average_frames, 5.0 / 4);
  EXPECT_EQ(quality.without_frames.weight, 1);
  EXPECT_EQ(quality.with_one_frame.weight, 2);
  EXPECT_EQ(quality.with_unnamed_root.weight, 3);
  EXPECT_EQ(quality.with_root_in_unnamed_file.weight, 3);
  EXPECT_EQ(quality.unnamed.weight, 7);
}

// A missing name means something only where others of the file are known.
TEST(JudgeStacks, TellsFilesWithoutAnyNamesApart) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId app = made.Map("/bin/app");
  const LocationId main = made.Frame(app, 1, {"main"});
  made.Hit(made.Calls({made.Frame(app, 2), main}), made.Runs("app"), event, 1, 3);
  made.Hit(made.Calls({made.Frame(made.Map("/bin/dd"), 2), main}), made.Runs("dd"), event, 1, 4);
  made.Hit(made.Calls({made.Frame(MappingId{}, 2), main}), made.Runs("app"), event, 1, 5);
  const Judged judged(made);

  const StackQuality quality = JudgeStacks(judged.profile, judged.frames, judged.amounts);

  EXPECT_EQ(quality.with_unnamed_root.weight, 12);
  EXPECT_EQ(quality.with_root_in_unnamed_file.weight, 4);
}

TEST(SumUnnamed, AddsUpTheInnermostFramesByBinary) {
  ProfileMaker made;
  const EventId event = made.Counts("cycles");
  const MappingId zlib = made.Map("/lib/libz.so");
  made.Hit(made.Calls({made.Frame(zlib, 1)}), made.Runs("app"), event, 1, 5);
  made.Hit(made.Calls({made.Frame(zlib, 2)}), made.Runs("app"), event, 1, 3);
  made.Hit(made.Calls({made.Frame(MappingId{}, 9)}), made.Runs("app"), event, 1, 9);
  made.Hit(made.Calls({"main"}), made.Runs("app"), event, 1, 9);
  const Judged judged(made);

  const auto unnamed = SumUnnamed(judged.profile, judged.frames, judged.amounts);

  ASSERT_EQ(unnamed.size(), 2U);
  EXPECT_EQ(judged.profile.text(unnamed[0].filename), "");
  EXPECT_EQ(unnamed[0].amount.weight, 9);
  EXPECT_EQ(judged.profile.text(unnamed[1].filename), "/lib/libz.so");
  EXPECT_EQ(unnamed[1].amount.weight, 8);
}

}  // namespace
}  // namespace perftape::summarize
