// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/report.h"

#include <gmock/gmock.h>

#include "convert/model/profile_builder.h"

namespace perftape::convert_tool {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadLine, SaysNothingOfWhatDidNotHappen) {
  EXPECT_EQ(ReadLine({.samples = 4950, .frames = 80123, .problems = {}}),
            "4950 samples; 80123 frames");
}

TEST(ReadLine, SaysWhatTheRecordingLost) {
  EXPECT_EQ(ReadLine({.samples = 9,
                      .lost_samples = 2,
                      .lost_records = 3,
                      .frames = 5,
                      .unmapped_frames = 1,
                      .problems = {}}),
            "9 samples, 2 lost while recording, 3 records lost while recording; 5 frames, 1 of "
            "them in no mapping");
}

TEST(DamageLines, AreNoneForASoundInput) {
  EXPECT_THAT(DamageLines({.samples = 9, .lost_samples = 2, .problems = {}}), IsEmpty());
}

TEST(DamageLines, TellOfAllThatCouldNotBeRead) {
  EXPECT_THAT(
      DamageLines({.skipped_samples = 4,
                   .unknown_events = 3,
                   .first_skipped = "0x1f40",
                   .damaged_records = 2,
                   .problems = {"feature BUILD_ID: cut off"}}),
      ElementsAre("feature BUILD_ID: cut off",
                  "4 samples could not be read, the first at 0x1f40; 3 of them of an unknown event",
                  "shorter than it says: 2 records"));
}

SymbolizeReport TwoMappings() {
  SymbolizeReport report;
  report.mappings.push_back(
      {.filename = "/bin/ls", .build_id = "abcd", .places = {5, 0, 0, 2}, .problem = ""});
  report.mappings.push_back(
      {.filename = "[vdso]", .build_id = "", .places = {0, 3, 0, 0}, .problem = "no such file"});
  return report;
}

TEST(SymbolLine, SaysWhyPlacesHaveNoName) {
  SymbolizeReport report = TwoMappings();
  report.unmapped = 7;
  EXPECT_EQ(SymbolLine(report),
            "symbols: 5 places named; without a name: 3 no file, 2 no symbol, 7 in no mapping");
}

TEST(SymbolLine, IsShortWhereAllHaveNames) {
  EXPECT_EQ(SymbolLine({.mappings = {}, .kept = 12}), "symbols: 12 places named");
}

TEST(MappingLines, SayTheSameOfEachMapping) {
  EXPECT_THAT(MappingLines(TwoMappings()),
              ElementsAre("/bin/ls abcd: 5 places named, 2 no symbol",
                          "[vdso]: 0 places named, 3 no file: no such file"));
}

TEST(EventsBeside, AreThoseWithSamplesThatAreNotTaken) {
  ProfileBuilder builder;
  const ThreadId thread = builder.Add(Thread{.pid = 1, .tid = 1});
  const EventId taken = builder.Add(Event{.name = builder.Add("cycles")});
  const EventId other = builder.Add(Event{.name = builder.Add("faults")});
  builder.Add(Event{.name = builder.Add("dummy")});
  builder.Add(Sample{.thread = thread, .event = taken, .count = 5});
  builder.Add(Sample{.thread = thread, .event = other, .count = 3});
  EXPECT_THAT(EventsBeside(std::move(builder).Finish(), taken), ElementsAre("faults (3 samples)"));
}

}  // namespace
}  // namespace perftape::convert_tool
