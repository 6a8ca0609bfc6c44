// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/event_files.h"

#include <gmock/gmock.h>

#include <fstream>

#include "convert/model/profile_builder.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert_tool {
namespace {

using testing::ElementsAre;

// One sample of each event, and an event without.
convert::Profile ProfileOf(const std::vector<std::string>& events) {
  convert::ProfileBuilder builder;
  for (const std::string& name : events) {
    const convert::EventId event =
        builder.Add(convert::Event{.name = builder.Add(name), .unit = builder.Add(name)});
    builder.Add(convert::Sample{.event = event, .count = 1, .period = 5});
  }
  builder.Add(convert::Event{.name = builder.Add("none")});
  return std::move(builder).Finish();
}

TEST(OutputName, HasTheEventInItsLastComponent) {
  EXPECT_TRUE(NamesEvent("a/%e.folded"));
  EXPECT_TRUE(NamesEvent("%%%e"));
  EXPECT_FALSE(NamesEvent("%e/out.folded"));
  EXPECT_FALSE(NamesEvent("%%e.folded"));
  EXPECT_FALSE(NamesEvent("100%.folded"));
  EXPECT_FALSE(NamesEvent("%"));
}

TEST(OutputName, IsExpanded) {
  EXPECT_EQ(ExpandOutput("%e/a-%e-%e.folded", "x"), "%e/a-x-x.folded");
  EXPECT_EQ(ExpandOutput("50%%-%e.folded", "x"), "50%-x.folded");
  EXPECT_EQ(ExpandOutput("50%%e.folded", ""), "50%e.folded");
  EXPECT_EQ(ExpandOutput("50%.folded", ""), "50%.folded");
}

TEST(OutputName, HasNoCharacterThatAShellOrADirectoryWouldRead) {
  EXPECT_EQ(FileNamePart("sched:sched_switch"), "sched_sched_switch");
  EXPECT_EQ(FileNamePart("cpu/cycles,name=x/u"), "cpu_cycles,name=x_u");
  EXPECT_EQ(FileNamePart("../etc"), "_._etc");
  EXPECT_EQ(FileNamePart("a b\n\xc3\xa4%"), "a_b____");
  EXPECT_EQ(FileNamePart(""), "event");
  EXPECT_EQ(FileNamePart(std::string(1000, 'a')).size(), 128U);
}

TEST(EventFiles, AreThoseOfTheEventsWithSamples) {
  const TempDir directory;
  const auto files = ChooseEventFiles(ProfileOf({"cycles", "sched:x", "sched_x"}),
                                      directory.path() / "%e.folded", IfExists::kRefuse);
  ASSERT_THAT(files, IsOk());
  std::vector<std::string> shown;
  for (const EventFile& file : *files) {
    shown.push_back(file.path.filename().native() + ' ' + file.name + ' ' + file.amount);
  }
  EXPECT_THAT(shown, ElementsAre("cycles.folded cycles 1 sample", "sched_x.folded sched:x 1 sample",
                                 "sched_x_2.folded sched_x 1 sample"));
}

TEST(EventFiles, AreRefusedIfOneExists) {
  const TempDir directory;
  std::ofstream(directory.path() / "b.folded") << "old";
  const auto choose = [&](IfExists if_exists) {
    return ChooseEventFiles(ProfileOf({"a", "b"}), directory.path() / "%e.folded", if_exists);
  };
  EXPECT_THAT(choose(IfExists::kRefuse),
              FailsWith(ErrorCode::kInvalidArgument, testing::HasSubstr("b.folded")));
  EXPECT_THAT(choose(IfExists::kReplace), IsOk());
}

}  // namespace
}  // namespace perftape::convert_tool
