// SPDX-License-Identifier: Apache-2.0
#include "convert/export/to_pprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "formats/perfdata/event_meanings.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/pprof_reader.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Writes a profile and reads it back, which checks it as pprof does.
pprof::Profile Written(const Profile& profile, const PprofOptions& options = {}) {
  const auto file = EncodePprof(profile, options);
  Result<pprof::Profile> read = pprof::ReadProfile(file.value());
  EXPECT_TRUE(read) << read.error().message;
  return std::move(read).value();
}

const std::string& Text(const pprof::Profile& profile, pprof::StringIndex index) {
  return profile.string_table[static_cast<std::size_t>(index)];
}

std::vector<std::string> SampleTypes(const pprof::Profile& profile) {
  std::vector<std::string> types;
  for (const pprof::ValueType& type : profile.header.sample_types) {
    types.push_back(Text(profile, type.type) + "/" + Text(profile, type.unit));
  }
  return types;
}

// Returns the innermost names of a sample's frames, leaf first.
std::vector<std::string> Frames(const pprof::Profile& profile, const pprof::Sample& sample) {
  std::vector<std::string> names;
  for (const std::uint64_t id : sample.location_ids) {
    const pprof::Location& location = profile.locations[id - 1];
    names.push_back(location.lines.empty()
                        ? "?"
                        : Text(profile, profile.functions[location.lines[0].function_id - 1].name));
  }
  return names;
}

TEST(EncodePprof, WritesOffsetsInSymbolsOnlyIfAsked) {
  ProfileMaker made;
  const Line line = {.function = made.builder.Add(Function{.name = made.builder.Add("f")})};
  const LocationId f = made.builder.Add(Location{.lines = {&line, 1}, .symbol_offset = 0});
  made.Hit(made.Calls({made.Frame("main"), f}), made.Runs("app"), made.Counts("cycles"), 1);
  const Profile profile = made.Make();
  const auto offsets = [&](const PprofOptions& options) {
    std::vector<std::uint64_t> found;
    for (const pprof::Location& one : Written(profile, options).locations)
      found.push_back(one.symbol_offset);
    std::ranges::sort(found);
    return found;
  };
  EXPECT_THAT(offsets({}), ElementsAre(0, 0));
  EXPECT_THAT(offsets({.symbol_offsets = true}), ElementsAre(0, 1));
}

TEST(EncodePprof, WritesStacksLeafFirstWithCountsAndPeriods) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("app"), made.Counts("cpu-clock", "nanoseconds"), 3,
           30'000);
  const pprof::Profile profile = Written(made.Make());
  EXPECT_THAT(SampleTypes(profile),
              ElementsAre("cpu-clock_sample/count", "cpu-clock_event/nanoseconds"));
  ASSERT_EQ(profile.samples.size(), 1U);
  EXPECT_THAT(Frames(profile, profile.samples[0]), ElementsAre("f", "main"));
  EXPECT_THAT(profile.samples[0].values, ElementsAre(3, 30'000));
}

TEST(EncodePprof, JoinsTheEventsOfAStackAndThread) {
  ProfileMaker made;
  const ThreadId app = made.Runs("app");
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("faults");
  made.Hit(made.Calls({"f"}), app, faults, 1, 10);
  made.Hit(made.Calls({"f"}), app, cycles, 2, 20);
  made.Hit(made.Calls({"g"}), app, cycles, 3, 30);
  const pprof::Profile profile = Written(made.Make());
  EXPECT_THAT(SampleTypes(profile), ElementsAre("cycles_sample/count", "cycles_event/count",
                                                "faults_sample/count", "faults_event/count"));
  ASSERT_EQ(profile.samples.size(), 2U);
  EXPECT_THAT(profile.samples[0].values, ElementsAre(2, 20, 1, 10));
  EXPECT_THAT(profile.samples[1].values, ElementsAre(3, 30, 0, 0));
}

TEST(EncodePprof, LabelsSamplesWithTheirThread) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), made.Runs("swapper", 0, 0), made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  std::map<std::string, std::string> labels;
  for (const pprof::Label& label : profile.samples[0].labels) {
    labels[Text(profile, label.key)] =
        label.str != 0 ? Text(profile, label.str)
                       : std::to_string(label.num) + " " + Text(profile, label.num_unit);
  }
  EXPECT_EQ(labels, (std::map<std::string, std::string>{
                        {"pid", "0 pid"}, {"tid", "0 tid"}, {"comm", "swapper"}}));
}

TEST(EncodePprof, LeavesOutIdsThatAreUnknown) {
  const auto labels = [](std::uint32_t pid, std::uint32_t tid) {
    ProfileMaker made;
    made.Hit(made.Calls({"f"}), made.Runs("app", pid, tid), made.Counts("cycles"), 1);
    const pprof::Profile profile = Written(made.Make());
    std::string keys;
    for (const pprof::Label& label : profile.samples[0].labels) {
      keys += std::string(Text(profile, label.key)) + " ";
    }
    return keys;
  };
  EXPECT_EQ(labels(kUnknownId, 8), "tid comm ");
  EXPECT_EQ(labels(7, kUnknownId), "pid comm ");
  EXPECT_EQ(labels(kUnknownId, kUnknownId), "comm ");
}

TEST(EncodePprof, JoinsThreadsWithoutLabels) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"f"}), made.Runs("a"), cycles, 1);
  const Label woken[] = {{.key = made.builder.Add(kWokenLabel), .text = made.builder.Add("c")}};
  made.builder.Add(Sample{.stack = made.Calls({"f"}),
                          .thread = made.Runs("b"),
                          .event = cycles,
                          .labels = made.builder.Add(woken),
                          .count = 2});
  const pprof::Profile profile = Written(made.Make(), {.thread_labels = false});
  ASSERT_EQ(profile.samples.size(), 1U);
  EXPECT_EQ(profile.samples[0].values[0], 3);
  EXPECT_THAT(profile.samples[0].labels, IsEmpty());
}

TEST(EncodePprof, WritesMappingsWithAddressesOfTheirFirstStart) {
  ProfileMaker made;
  const MappingId app = made.builder.Add(Mapping{.filename = made.builder.Add("/bin/app"),
                                                 .build_id = made.builder.Add("c0ffee"),
                                                 .start = 0x7000,
                                                 .limit = 0x9000,
                                                 .file_offset = 0x1000});
  made.Hit(made.Calls({made.Frame(app, 0x1234), made.Frame(MappingId{}, 0xdead)}), made.Runs("app"),
           made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  ASSERT_EQ(profile.mappings.size(), 1U);
  const pprof::Mapping& mapping = profile.mappings[0];
  EXPECT_EQ(mapping.memory_start, 0x7000U);
  EXPECT_EQ(mapping.memory_limit, 0x9000U);
  EXPECT_EQ(mapping.file_offset, 0x1000U);
  EXPECT_EQ(Text(profile, mapping.filename), "/bin/app");
  EXPECT_EQ(Text(profile, mapping.build_id), "c0ffee");
  ASSERT_EQ(profile.locations.size(), 2U);
  EXPECT_EQ(profile.locations[0].mapping_id, 0U);
  EXPECT_EQ(profile.locations[0].address, 0xdeadU);
  EXPECT_EQ(profile.locations[1].mapping_id, mapping.id);
  EXPECT_EQ(profile.locations[1].address, 0x7234U);
}

TEST(EncodePprof, PutsTheProgramBelowMostSamplesFirst) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const LocationId kernel = made.Frame(made.Map("[kernel.kallsyms]", MappingType::kKernel), 1);
  const LocationId libc = made.Frame(made.Map("/lib/libc.so.6"), 1);
  const LocationId rare = made.Frame(made.Map("/bin/a"), 1);
  const LocationId often = made.Frame(made.Map("/bin/b"), 1);
  made.Hit(made.Calls({kernel}), made.Runs("swapper"), cycles, 100);
  made.Hit(made.Calls({libc, rare}), made.Runs("a"), cycles, 1);
  made.Hit(made.Calls({libc, often, libc}), made.Runs("b"), cycles, 2);
  const pprof::Profile profile = Written(made.Make());
  std::vector<std::string> files;
  for (const pprof::Mapping& mapping : profile.mappings) {
    files.push_back(Text(profile, mapping.filename));
  }
  EXPECT_THAT(files, ElementsAre("/bin/b", "/bin/a", "/lib/libc.so.6", "[kernel.kallsyms]"));
}

TEST(EncodePprof, MarksMappingsThatHaveNames) {
  ProfileMaker made;
  made.Hit(made.Calls(
               {made.Frame(made.Map("/bin/a"), 1, {"f", "g"}), made.Frame(made.Map("/bin/b"), 1)}),
           made.Runs("a"), made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  EXPECT_TRUE(profile.mappings[0].has_functions);
  EXPECT_TRUE(profile.mappings[0].has_inline_frames);
  EXPECT_FALSE(profile.mappings[0].has_line_numbers);
  EXPECT_FALSE(profile.mappings[1].has_functions);
}

TEST(EncodePprof, WritesSystemNamesAsTheyAre) {
  ProfileMaker made;
  ProfileBuilder& builder = made.builder;
  const StringId plain = builder.Add("main(int)");
  const auto frame = [&](StringId system_name) {
    const Line line = {.function =
                           builder.Add(Function{.name = plain, .system_name = system_name})};
    return builder.Add(Location{.lines = {&line, 1}});
  };
  made.Hit(made.Calls({frame({}), frame(plain), frame(builder.Add("_Z4maini"))}), made.Runs("a"),
           made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  std::vector<std::string> system_names;
  for (const pprof::Function& function : profile.functions) {
    EXPECT_EQ(Text(profile, function.name), "main(int)");
    system_names.push_back(Text(profile, function.system_name));
  }
  EXPECT_THAT(system_names, ElementsAre("", "_Z4maini", "main(int)"));
}

TEST(EncodePprof, WritesInlinedCallsInnermostFirst) {
  ProfileMaker made;
  made.Hit(made.Calls({made.Frame(made.Map("/bin/a"), 1, {"inner", "outer"})}), made.Runs("a"),
           made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  ASSERT_EQ(profile.locations[0].lines.size(), 2U);
  EXPECT_THAT(Frames(profile, profile.samples[0]), ElementsAre("inner"));
}

TEST(EncodePprof, WritesWhenAndHowItWasRecorded) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), made.Runs("a"), made.Counts("cpu-clock", "nanoseconds", 10'101'010),
           1);
  made.builder.SetMetadata(
      {.start_time_ns = 1'700'000'000, .duration_ns = 5'000, .comments = {"host: x", "os: y"}});
  const pprof::Profile profile = Written(made.Make());
  EXPECT_EQ(profile.header.time_nanos, 1'700'000'000);
  EXPECT_EQ(profile.header.duration_nanos, 5'000);
  EXPECT_EQ(profile.header.period, 10'101'010);
  ASSERT_TRUE(profile.header.period_type);
  EXPECT_EQ(Text(profile, profile.header.period_type->type), "cpu-clock");
  EXPECT_EQ(Text(profile, profile.header.period_type->unit), "nanoseconds");
  ASSERT_EQ(profile.header.comments.size(), 2U);
  EXPECT_EQ(Text(profile, profile.header.comments[1]), "os: y");
}

TEST(EncodePprof, WritesTheMainProgramThoughNoSampleLeadsToIt) {
  ProfileMaker made;
  made.Map("/bin/b");
  made.Map("/bin/a");
  made.Hit(made.Calls({made.Frame(made.Map("/lib/libc.so.6"), 1)}), {}, made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  ASSERT_EQ(profile.mappings.size(), 2U);
  EXPECT_EQ(Text(profile, profile.mappings[0].filename), "/bin/a");
}

TEST(EncodePprof, WritesPlainValuesAsOneTypeEach) {
  ProfileMaker made;
  const EventId objects = made.CountsPlainly("alloc_objects", "count");
  const EventId space = made.CountsPlainly("alloc_space", "bytes");
  made.Hit(made.Calls({"f"}), {}, objects, 0, 3);
  made.Hit(made.Calls({"f"}), {}, space, 0, -4096);
  made.Hit(made.Calls({"g"}), {}, objects, 0, 0);
  const pprof::Profile profile = Written(made.Make());
  EXPECT_THAT(SampleTypes(profile), ElementsAre("alloc_objects/count", "alloc_space/bytes"));
  ASSERT_EQ(profile.samples.size(), 2U);
  EXPECT_THAT(profile.samples[0].values, ElementsAre(3, -4096));
  EXPECT_THAT(profile.samples[1].values, ElementsAre(0, 0));
  EXPECT_FALSE(profile.header.period_type);
}

// The sample types for Go; that which viewers show by default is in parentheses.
std::vector<std::string> GoTypes(const Profile& profile) {
  const pprof::Profile written = Written(profile, {.types = PprofTypes::kGo});
  std::vector<std::string> types = SampleTypes(written);
  for (std::string& type : types) {
    if (type.starts_with(Text(written, written.header.default_sample_type) + "/"))
      type = "(" + type + ")";
  }
  return types;
}

// With a second event that has less samples.
std::vector<std::string> GoTypesOf(const std::string& event, std::string_view default_value = {}) {
  ProfileMaker made;
  const std::string unit(perfdata::PeriodUnitOf(event));
  made.Hit(made.Calls({"f"}), {}, made.Counts("minor-faults"), 1, 1);
  made.Hit(made.Calls({"f"}), {}, made.Counts(event, unit), 2, 14);
  made.builder.SetMetadata({.default_value = std::string(default_value)});
  return GoTypes(made.Make());
}

TEST(EncodePprof, NamesTheTypesOfTheDefaultEventForGo) {
  const auto types = [](std::string_view shown) {
    return ElementsAre("minor-faults_sample/count", "minor-faults_event/count", "samples/count",
                       "(" + std::string(shown) + ")");
  };
  EXPECT_THAT(GoTypesOf("cpu-clock"), types("cpu/nanoseconds"));
  EXPECT_THAT(GoTypesOf("cpu-clock:u"), types("cpu/nanoseconds"));
  EXPECT_THAT(GoTypesOf("task-clock"), types("cpu/nanoseconds"));
  EXPECT_THAT(GoTypesOf("cycles"), types("cycles/count"));
  EXPECT_THAT(GoTypesOf("page-faults"), types("page-faults/count"));
  EXPECT_THAT(GoTypesOf("skb:kfree_skb"), types("skb:kfree_skb/count"));
}

TEST(EncodePprof, NamesOtherTimesThanThatOnACpuByTheirEventForGo) {
  for (const std::string event :
       {"offcpu-time", "offcpu-time:u", "offcpu-disk-time", "offcpu-runnable-time", "lock-time",
        "wakeup", "latency:tcp_connect", "latency:syscall_read"}) {
    SCOPED_TRACE(event);
    EXPECT_EQ(GoTypesOf(event).back(), "(" + event + "/nanoseconds)");
  }
}

TEST(EncodePprof, KeepsTheChosenValueForGo) {
  EXPECT_THAT(GoTypesOf("cpu-clock", "cpu-clock_event").back(), "(cpu/nanoseconds)");
  EXPECT_THAT(GoTypesOf("cpu-clock", "cpu-clock_sample"),
              ElementsAre("minor-faults_sample/count", "minor-faults_event/count",
                          "(samples/count)", "cpu/nanoseconds"));
  EXPECT_THAT(GoTypesOf("cpu-clock", "minor-faults_event"),
              ElementsAre("samples/count", "(minor-faults/count)", "cpu-clock_sample/count",
                          "cpu-clock_event/nanoseconds"));
}

TEST(EncodePprof, HasThePeriodOfTheDefaultEventForGo) {
  ProfileMaker made;
  const EventId clock = made.builder.Add(Event{.name = made.builder.Add("cpu-clock"),
                                               .unit = made.builder.Add("nanoseconds"),
                                               .period = 52'000});
  made.Hit(made.Calls({"f"}), {}, clock, 2, 104'000);
  made.Hit(made.Calls({"f"}), {}, made.Counts("minor-faults"), 1, 1);
  const pprof::Profile written = Written(made.Make(), {.types = PprofTypes::kGo});
  EXPECT_EQ(Text(written, written.header.period_type->type), "cpu-clock");
  EXPECT_EQ(written.header.period, 52'000);
}

TEST(EncodePprof, NamesPlainTypesForGo) {
  const auto types = [](const std::string& name, const std::string& unit) {
    ProfileMaker made;
    made.Hit(made.Calls({"f"}), {}, made.CountsPlainly(name, unit), 0, 7);
    return GoTypes(made.Make());
  };
  EXPECT_THAT(types("value", "count"), ElementsAre("(samples/count)"));
  EXPECT_THAT(types("value", "nanoseconds"), ElementsAre("(cpu/nanoseconds)"));
  EXPECT_THAT(types("offcpu-time", "nanoseconds"), ElementsAre("(offcpu-time/nanoseconds)"));
  EXPECT_THAT(types("value", "bytes"), ElementsAre("(value/bytes)"));
}

TEST(EncodePprof, RoundsDecimalsHalvesAwayFromZero) {
  ProfileMaker made;
  const EventId event = made.builder.Add(
      Event{.name = made.builder.Add("samples"), .values = EventValues::kPlain, .decimals = 2});
  const std::int64_t values[] = {149, 150, -149, -150, 99, 50, 49};
  std::uint64_t offset = 0;
  for (const std::int64_t value : values) {
    made.Hit(made.Calls({made.Frame({}, ++offset)}), {}, event, 0, value);
  }
  const Profile profile = made.Make();
  std::vector<std::int64_t> written;
  for (const pprof::Sample& sample : Written(profile).samples) written.push_back(sample.values[0]);
  EXPECT_THAT(written, ElementsAre(1, 2, -1, -2, 1, 1, 0));
  EXPECT_THAT(LossyEvents(profile), ElementsAre(event));
}

TEST(EncodePprof, WritesOtherLabelsBehindTheThread) {
  ProfileMaker made;
  const std::vector<Label> labels = {
      {.key = made.builder.Add("request"), .text = made.builder.Add("GET")},
      {.key = made.builder.Add("cpu"), .number = 0, .unit = made.builder.Add("cpu")}};
  made.builder.Add(Sample{.stack = made.Calls({"f"}),
                          .thread = made.Runs("app", 1, 2),
                          .event = made.Counts("cycles"),
                          .labels = made.builder.Add(labels),
                          .count = 1});
  const pprof::Profile profile = Written(made.Make());
  std::vector<std::string> keys;
  for (const pprof::Label& label : profile.samples[0].labels) {
    keys.push_back(Text(profile, label.key));
  }
  EXPECT_THAT(keys, ElementsAre("pid", "tid", "comm", "cpu", "request"));
  EXPECT_EQ(Text(profile, profile.samples[0].labels[3].num_unit), "cpu");
  EXPECT_EQ(Text(profile, profile.samples[0].labels[4].str), "GET");
}

TEST(EncodePprof, LeavesOutLabelsOfThreadsThatAreForeignToo) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  for (const std::int64_t pid : {7, 8}) {
    const std::vector<Label> labels = {{.key = made.builder.Add("pid"), .number = pid},
                                       {.key = made.builder.Add("zone"), .number = 3}};
    made.builder.Add(Sample{.stack = made.Calls({"f"}),
                            .event = cycles,
                            .labels = made.builder.Add(labels),
                            .count = 1});
  }
  const pprof::Profile profile = Written(made.Make(), {.thread_labels = false});
  ASSERT_EQ(profile.samples.size(), 1U);
  EXPECT_EQ(profile.samples[0].values[0], 2);
  ASSERT_EQ(profile.samples[0].labels.size(), 1U);
  EXPECT_EQ(Text(profile, profile.samples[0].labels[0].key), "zone");
}

TEST(EncodePprof, WritesDisplayOptionsOfAPprof) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.CountsPlainly("space", "bytes"), 0, 1);
  made.builder.SetMetadata({.drop_frames = "drop.*",
                            .keep_frames = "keep.*",
                            .doc_url = "https://example.org",
                            .default_value = "space",
                            .period_type = ValueType{"space", "bytes"},
                            .period = 512});
  const pprof::Profile profile = Written(made.Make());
  EXPECT_EQ(Text(profile, profile.header.drop_frames), "drop.*");
  EXPECT_EQ(Text(profile, profile.header.keep_frames), "keep.*");
  EXPECT_EQ(Text(profile, profile.header.doc_url), "https://example.org");
  EXPECT_EQ(Text(profile, profile.header.default_sample_type), "space");
  ASSERT_TRUE(profile.header.period_type);
  EXPECT_EQ(Text(profile, profile.header.period_type->unit), "bytes");
  EXPECT_EQ(profile.header.period, 512);
}

TEST(EncodePprof, WritesNoPeriodTypeWhereTheMetadataHasAnEmptyOne) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.Counts("cycles", "count", 9), 1);
  made.builder.SetMetadata({.period_type = ValueType{}});
  const pprof::Profile profile = Written(made.Make());
  EXPECT_FALSE(profile.header.period_type);
  EXPECT_EQ(profile.header.period, 0);
}

TEST(EncodePprof, WritesTheSamePlainAndAtEveryLevel) {
  ProfileMaker made;
  made.Hit(made.Calls({"f", "g"}), made.Runs("a"), made.Counts("cycles"), 1);
  const Profile profile = made.Make();
  const pprof::Profile usual = Written(profile);
  EXPECT_EQ(Written(profile, {.compression = PprofCompression::kNone}), usual);
  EXPECT_EQ(Written(profile, {.level = 1}), usual);
  EXPECT_EQ(Written(profile, {.level = 12}), usual);
}

TEST(EncodePprof, LeavesOutWhatNoSampleLeadsTo) {
  ProfileMaker made;
  made.Frame(made.Map("/lib/unused.so"), 1, {"unused"});
  made.Hit(made.Calls({"f"}), made.Runs("a"), made.Counts("cycles"), 1);
  const pprof::Profile profile = Written(made.Make());
  EXPECT_THAT(profile.mappings, IsEmpty());
  EXPECT_EQ(profile.functions.size(), 1U);
  EXPECT_EQ(profile.locations.size(), 1U);
  EXPECT_THAT(profile.string_table, testing::Not(testing::Contains("unused")));
}

TEST(EncodePprof, StopsValuesAtTheLargestNumber) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), made.Runs("a"), made.Counts("cycles"), 1,
           std::numeric_limits<std::int64_t>::max());
  EXPECT_THAT(Written(made.Make()).samples[0].values,
              ElementsAre(1, std::numeric_limits<std::int64_t>::max()));
}

TEST(EncodePprof, WritesAProfileWithoutSamples) {
  ProfileMaker made;
  made.Counts("cycles");
  EXPECT_THAT(SampleTypes(Written(made.Make())),
              ElementsAre("cycles_sample/count", "cycles_event/count"));
  EXPECT_THAT(Written(Profile()).samples, IsEmpty());
}

// Adds the same samples in another order.
TEST(EncodePprof, DoesNotDependOnTheOrderOfAdding) {
  const std::vector<std::vector<std::string_view>> stacks = {
      {"main", "f"}, {"main", "g", "h"}, {"main"}, {"start", "f"}};
  const auto encode = [&](const std::vector<std::size_t>& order) {
    ProfileMaker made;
    for (const std::size_t i : order) {
      StackId stack;
      for (const std::string_view name : stacks[i]) {
        const MappingId mapping = made.builder.Add(
            Mapping{.filename = made.builder.Add(name), .start = 0x1000, .limit = 0x2000});
        stack = made.builder.Push(stack, made.Frame(mapping, name.size(), {name}));
      }
      const ThreadId thread = made.Runs(i % 2 == 0 ? "even" : "odd", static_cast<std::uint32_t>(i));
      made.Hit(stack, thread, made.Counts("cycles"), i + 1);
    }
    return EncodePprof(made.Make(), {}).value();
  };
  EXPECT_EQ(encode({0, 1, 2, 3}), encode({3, 1, 0, 2}));
}

}  // namespace
}  // namespace perftape::convert
