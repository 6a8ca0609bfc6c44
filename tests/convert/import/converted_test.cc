// SPDX-License-Identifier: Apache-2.0
#include "convert/import/converted.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convert/export/to_perfdata.h"
#include "convert/import/from_perfdata.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/matchers.h"
#include "tests/support/profile_check.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

// Writes `profile` as perf.data and reads it back.
Profile ThereAndBack(const Profile& profile, const PerfDataOptions& options = {},
                     const ImportOptions& reading = {}) {
  const TempDir directory;
  EXPECT_THAT(WritePerfData(profile, options, directory / "there.data"), IsOk());
  Input input = Input::Open(directory / "there.data").value();
  ImportReport report;
  Result<Profile> back = ReadPerfData(input, reading, report);
  EXPECT_THAT(back, IsOk());
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(Validate(*back), IsOk());
  return *back;
}

// Returns "event/unit pid/tid comm: root;leaf[k] = count, period", unnamed frames as "file+offset".
std::string Line(const Profile& profile, const Sample& sample) {
  std::string frames;
  for (StackId at = sample.stack; at != StackId{}; at = profile[at].caller) {
    const Location& frame = profile[profile[at].leaf];
    const Mapping& mapping = profile[frame.mapping];
    const std::string mark = mapping.type == MappingType::kKernel ? "[k]" : "";
    if (frame.lines.empty()) {
      frames = ";" + std::string(profile.text(mapping.filename)) + "+" +
               std::to_string(frame.offset.value) + mark + frames;
    }
    for (const convert::Line& line : frame.lines) {
      frames = ";" + std::string(profile.text(profile[line.function].name)) + mark + frames;
    }
  }
  const Event& event = profile[sample.event];
  const Thread& thread = profile[sample.thread];
  const std::string whose = sample.thread == ThreadId{}
                                ? "nobody"
                                : std::to_string(thread.pid) + "/" + std::to_string(thread.tid) +
                                      " " + std::string(profile.text(thread.comm));
  return std::string(profile.text(event.name)) + "/" + std::string(profile.text(event.unit)) + " " +
         whose + ": " + frames + " = " + std::to_string(sample.count) + ", " +
         std::to_string(sample.period);
}

std::vector<std::string> Lines(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) lines.push_back(Line(profile, sample));
  return lines;
}

void ExpectSameBack(const Profile& profile) {
  EXPECT_THAT(Lines(ThereAndBack(profile)), UnorderedElementsAreArray(Lines(profile)));
  EXPECT_THAT(Lines(ThereAndBack(profile, {.container = perfdata::Container::kPipe})),
              UnorderedElementsAreArray(Lines(profile)));
}

EventId Plain(ProfileMaker& made, std::string_view name, std::string_view unit,
              std::uint8_t decimals = 0) {
  return made.builder.Add(Event{.name = made.builder.Add(name),
                                .unit = made.builder.Add(unit),
                                .values = EventValues::kPlain,
                                .decimals = decimals});
}

TEST(Converted, KeepsPlainValuesOfSeveralEvents) {
  ProfileMaker made;
  const EventId objects = Plain(made, "alloc_objects", "count");
  const EventId space = Plain(made, "alloc_space", "bytes");
  made.Hit(made.Calls({"main", "f"}), made.Runs("app", 7, 8), objects, 0, 12);
  made.Hit(made.Calls({"main", "f"}), made.Runs("app", 7, 8), space, 0, 4096);
  made.Hit(made.Calls({"main"}), made.Runs("app", 7, 8), space, 0, 0);
  ExpectSameBack(made.Make());
}

TEST(Converted, KeepsSamplesAndPeriods) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("a", 1, 2), made.Counts("cycles"), 3, 1000);
  made.Hit(made.Calls({"main", "g"}), made.Runs("b", 1, 2), made.Counts("cpu-clock", "nanoseconds"),
           2, 2'000'000);
  made.Hit(made.Calls({"main", "g"}), made.Runs("", 3, 3), made.Counts("odd", "furlongs"), 1, 7);
  ExpectSameBack(made.Make());
}

TEST(Converted, KeepsUnusualNamesAndStacks) {
  ProfileMaker made;
  const EventId event = Plain(made, "samples", "count");
  const MappingId folded = made.builder.Add(Mapping{.filename = made.builder.Add("[folded]")});
  made.Hit({}, {}, event, 0, 1);
  made.Hit(made.Calls({made.Frame(folded, 0, {"a;b"}), made.Frame(folded, 0, {""}),
                       made.Frame(folded, 0, {" x\ny "})}),
           {}, event, 0, 2);
  made.Hit(made.Calls({made.Frame(folded, 0, {"\xc3\xa9\xff"})}), {}, event, 0, 3);
  made.Hit(made.Calls({made.Frame(folded, 0, {std::string(60'000, 'n')})}), {}, event, 0, 4);
  ExpectSameBack(made.Make());
}

TEST(Converted, KeepsKernelFramesDistinct) {
  ProfileMaker made;
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x10, {"read"}), made.Frame(kernel, 0x20, {"read"})}), {},
           Plain(made, "samples", "count"), 0, 1);
  ExpectSameBack(made.Make());
}

TEST(Converted, KeepsMappingsOfUnnamedFrames) {
  ProfileMaker made;
  const MappingId app = made.Map("/bin/app");
  const MappingId module = made.builder.Add(Mapping{.filename = made.builder.Add("[nf_tables]"),
                                                    .start = 0xffff'ffff'c000'0000,
                                                    .limit = 0xffff'ffff'c000'1000,
                                                    .type = MappingType::kKernel});
  made.Hit(made.Calls({made.Frame(app, 0x10), made.Frame(app, 0x20), made.Frame({}, 0x77),
                       made.Frame(module, 0x30), made.Frame(module, 0x40)}),
           made.Runs("app"), Plain(made, "samples", "count"), 0, 1);
  ExpectSameBack(made.Make());
}

TEST(Converted, KeepsThreadsWithUnknownSharedOrZeroIds) {
  ProfileMaker made;
  const EventId event = Plain(made, "samples", "count");
  const std::uint32_t unknown = 0xffff'ffff;
  int value = 0;
  for (const ThreadId thread :
       {made.Runs("a", unknown, unknown), made.Runs("b", unknown, unknown), made.Runs("c", 0, 0),
        made.Runs("d", 0, 0), made.Runs("e", 5, 6), made.Runs("f", 5, 6), made.Runs("e", 7, 6)}) {
    made.Hit(made.Calls({"f"}), thread, event, 0, ++value);
  }
  ExpectSameBack(made.Make());
}

TEST(Converted, KeepsDecimals) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, Plain(made, "samples", "count", 2), 0, 1250);
  const Profile back = ThereAndBack(made.Make());
  EXPECT_EQ(back.events()[0].decimals, 2);
  EXPECT_EQ(back.samples()[0].period, 1250);
}

TEST(Converted, KeepsEventsWithoutSamplesAndTheirOrder) {
  ProfileMaker made;
  Plain(made, "first", "count");
  made.Hit(made.Calls({"f"}), {}, Plain(made, "second", "count"), 0, 1);
  const Profile back = ThereAndBack(made.Make());
  ASSERT_EQ(back.events().size(), 2);
  EXPECT_EQ(back.text(back.events()[0].name), "first");
}

TEST(Converted, KeepsTimesAndComments) {
  const Metadata metadata = {.start_time_ns = 1'700'000'000'000'000'000,
                             .duration_ns = 5'000'000'000,
                             .comments = {"hostname: box", "command line: app -x  'y z'"}};
  for (const std::int64_t count : {1, 7}) {
    ProfileMaker made;
    made.Hit(made.Calls({"f"}), {}, made.Counts("cycles", "count", 99), count, 1000);
    made.builder.SetMetadata(metadata);
    const Profile back = ThereAndBack(made.Make());
    EXPECT_EQ(back.metadata().start_time_ns, metadata.start_time_ns);
    EXPECT_EQ(back.metadata().duration_ns, metadata.duration_ns);
    EXPECT_EQ(back.metadata().comments, metadata.comments);
    EXPECT_EQ(back.events()[0].period, 99);
  }
}

TEST(Converted, MakesUpNoTimes) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles"), 7, 1000);
  const Profile back = ThereAndBack(made.Make());
  EXPECT_EQ(back.metadata().start_time_ns, std::nullopt);
  EXPECT_EQ(back.metadata().duration_ns, 0);
}

TEST(Converted, KeepsLabelsForCpuAndControlGroup) {
  ProfileMaker made;
  ProfileBuilder& builder = made.builder;
  const Label labels[] = {{.key = builder.Add("cgroup"), .text = builder.Add("/system.slice")},
                          {.key = builder.Add("cpu"), .number = 3, .unit = builder.Add("cpu")}};
  builder.Add(Sample{.stack = made.Calls({"f"}),
                     .event = Plain(made, "samples", "count"),
                     .labels = builder.Add(labels),
                     .period = 1});
  const Profile back = ThereAndBack(made.Make(), {}, {.cpu_label = true, .cgroup_label = true});
  const std::span<const Label> found = back[back.samples()[0].labels];
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(back.text(found[0].text), "/system.slice");
  EXPECT_EQ(found[1].number, 3);
}

}  // namespace
}  // namespace perftape::convert
