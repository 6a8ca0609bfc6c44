// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/source_lines.h"

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
using convert::Line;
using convert::Location;
using convert::LocationId;
using convert::MappingId;
using convert::Profile;
using convert::ProfileMaker;
using testing::ElementsAre;

LocationId FrameAt(ProfileMaker& made, std::uint64_t offset, std::string_view name,
                   std::int64_t line) {
  auto& builder = made.builder;
  const FunctionId function =
      builder.Add(Function{.name = builder.Add(name), .filename = builder.Add("app.c")});
  const std::vector<Line> lines = {{.function = function, .number = line}};
  return builder.Add(Location{.mapping = {}, .offset = {offset}, .lines = lines});
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

}  // namespace
}  // namespace perftape::summarize
