// SPDX-License-Identifier: Apache-2.0
#include "convert/model/profile_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using testing::ElementsAre;

// Adds a location that only has a name.
LocationId Named(ProfileBuilder& builder, std::string_view name) {
  const Line line = {.function = builder.Add(Function{.name = builder.Add(name)})};
  return builder.Add(Location{.lines = {&line, 1}});
}

std::vector<std::string> Names(const Profile& profile, StackId stack) {
  std::vector<std::string> names;
  for (StackId at = stack; at != StackId{}; at = profile[at].caller) {
    const Location& location = profile[profile[at].leaf];
    names.emplace_back(
        location.lines.empty() ? "?" : profile.text(profile[location.lines[0].function].name));
  }
  return names;
}

TEST(Profile, IsEmptyWhenNothingWasAdded) {
  const Profile profile = ProfileBuilder().Finish();
  EXPECT_THAT(profile.samples(), testing::IsEmpty());
  EXPECT_EQ(profile.text(StringId{}), "");
  EXPECT_EQ(profile.stacks().size(), 1U);
  EXPECT_EQ(profile.mappings().size(), 1U);
}

TEST(Profile, CopiesShareTheirTables) {
  ProfileBuilder builder;
  builder.Add("text");
  const Profile profile = std::move(builder).Finish();
  const Profile copy = profile;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.texts().data(), profile.texts().data());
}

TEST(ProfileBuilder, HasAMappingOfMemoryWithoutAFileForEachAddress) {
  for (const std::string_view name :
       {"//anon", "/memfd:jit (deleted)", "/SYSV00000000 (deleted)"}) {
    ProfileBuilder builder;
    const StringId filename = builder.Add(name);
    const MappingId first = builder.Add(Mapping{.filename = filename, .start = 0, .limit = 0x10});
    const MappingId high =
        builder.Add(Mapping{.filename = filename, .start = 0x800, .limit = 0x810});
    const MappingId low =
        builder.Add(Mapping{.filename = filename, .start = 0x300, .limit = 0x310});
    EXPECT_NE(first, low) << name;
    EXPECT_NE(high, low) << name;
    EXPECT_EQ(builder.Add(Mapping{.filename = filename, .start = 0x800, .limit = 0x810}), high);
    const LocationId frame = builder.Add(Location{.mapping = high, .offset = {4}});
    const Profile profile = std::move(builder).Finish();
    EXPECT_EQ(profile.AddressOf(profile[frame]).value, 0x804U) << name;
  }
}

TEST(Profile, KnowsWhichCallersHaveReturnAddresses) {
  ProfileBuilder builder;
  const MappingId kernel = builder.Add(
      Mapping{.filename = builder.Add("[kernel.kallsyms]"), .type = MappingType::kKernel});
  StackId stacks[4];
  stacks[0] = builder.Push({}, builder.Add(Location{.offset = {1}}));
  stacks[1] = builder.Push(stacks[0], builder.Add(Location{.offset = {2}}));
  stacks[2] = builder.Push(stacks[1], builder.Add(Location{.mapping = kernel, .offset = {3}}));
  stacks[3] = builder.Push(stacks[2], builder.Add(Location{.mapping = kernel, .offset = {4}}));
  const Profile profile = std::move(builder).Finish();
  EXPECT_EQ(profile.CallerAddress(stacks[0]), AddressKind::kInstruction);
  EXPECT_EQ(profile.CallerAddress(stacks[1]), AddressKind::kReturn);
  EXPECT_EQ(profile.CallerAddress(stacks[2]), AddressKind::kInstruction);
  EXPECT_EQ(profile.CallerAddress(stacks[3]), AddressKind::kReturn);
}

TEST(Profile, KeepsTheOffsetInASymbolThatOneOfEqualLocationsHas) {
  ProfileBuilder builder;
  const LocationId location = builder.Add(Location{.offset = {1}});
  EXPECT_EQ(builder.Add(Location{.offset = {1}, .symbol_offset = 7}), location);
  EXPECT_EQ(builder.Add(Location{.offset = {1}}), location);
  EXPECT_EQ(std::move(builder).Finish()[location].symbol_offset, 7);
}

TEST(Profile, AddressesAreThoseOfTheFirstMapping) {
  ProfileBuilder builder;
  const MappingId mapping = builder.Add(Mapping{
      .filename = builder.Add("/bin/x"), .start = 0x7000, .limit = 0x9000, .file_offset = 0x1000});
  const LocationId location = builder.Add(Location{.mapping = mapping, .offset = {0x1234}});
  const LocationId unmapped = builder.Add(Location{.offset = {0xdead}});
  const Profile profile = std::move(builder).Finish();
  EXPECT_EQ(profile.AddressOf(profile[location]), RuntimeAddress{0x7234});
  EXPECT_EQ(profile.AddressOf(profile[unmapped]), RuntimeAddress{0xdead});
}

TEST(BaseNameOf, ReturnsWhatFollowsTheLastSlash) {
  EXPECT_EQ(BaseName("/usr/lib/libc.so.6"), "libc.so.6");
  EXPECT_EQ(BaseName("[vdso]"), "[vdso]");
  EXPECT_EQ(BaseName("/ends/here/"), "");
}

TEST(ProfileBuilder, GivesEqualTextsOneId) {
  ProfileBuilder builder;
  const StringId main_id = builder.Add("main");
  EXPECT_EQ(builder.Add(std::string("ma") + "in"), main_id);
  EXPECT_NE(builder.Add("main2"), main_id);
  EXPECT_EQ(builder.Add(""), StringId{});
}

TEST(ProfileBuilder, KeepsNulBytesInTexts) {
  ProfileBuilder builder;
  const std::string_view text("a\0b", 3);
  const StringId id = builder.Add(text);
  EXPECT_NE(builder.Add("a"), id);
  EXPECT_EQ(std::move(builder).Finish().text(id), text);
}

TEST(ProfileBuilder, JoinsMappingsThatDifferOnlyInWhereTheyWere) {
  ProfileBuilder builder;
  const StringId name = builder.Add("/lib/libc.so.6");
  const MappingId first = builder.Add(
      Mapping{.filename = name, .start = 0x1000, .limit = 0x3000, .file_offset = 0x400});
  const MappingId moved = builder.Add(
      Mapping{.filename = name, .start = 0x7000, .limit = 0x9000, .file_offset = 0x400});
  EXPECT_EQ(moved, first);
  EXPECT_EQ(std::move(builder).Finish()[first].start, 0x1000U);
}

TEST(ProfileBuilder, KeepsMappingsApartThatAreNotTheSamePiece) {
  ProfileBuilder builder;
  const Mapping mapping = {
      .filename = builder.Add("/lib/x.so"), .start = 0x1000, .limit = 0x3000, .file_offset = 0x400};
  const MappingId id = builder.Add(mapping);
  Mapping other = mapping;
  other.build_id = builder.Add("c0ffee");
  EXPECT_NE(builder.Add(other), id);
  other = mapping;
  other.limit = 0x4000;
  EXPECT_NE(builder.Add(other), id);
  other = mapping;
  other.file_offset = 0;
  EXPECT_NE(builder.Add(other), id);
  other = mapping;
  other.type = MappingType::kKernel;
  EXPECT_NE(builder.Add(other), id);
}

TEST(ProfileBuilder, TreatsAnEmptyMappingAsNone) {
  ProfileBuilder builder;
  EXPECT_EQ(builder.Add(Mapping{}), MappingId{});
}

TEST(ProfileBuilder, DistinguishesLocationsByTheirLines) {
  ProfileBuilder builder;
  const LocationId a = Named(builder, "a");
  EXPECT_NE(Named(builder, "b"), a);
  EXPECT_EQ(Named(builder, "a"), a);
  EXPECT_NE(builder.Add(Location{}), a);
}

TEST(ProfileBuilder, KeepsTheLinesOfALocationThatTheCallerForgets) {
  ProfileBuilder builder;
  const LocationId id = Named(builder, "gone");
  const Profile profile = std::move(builder).Finish();
  ASSERT_EQ(profile[id].lines.size(), 1U);
  EXPECT_EQ(profile.text(profile[profile[id].lines[0].function].name), "gone");
}

TEST(ProfileBuilder, SharesTheCallersOfTwoStacks) {
  ProfileBuilder builder;
  const StackId main_id = builder.Push({}, Named(builder, "main"));
  const StackId f = builder.Push(main_id, Named(builder, "f"));
  const StackId g = builder.Push(main_id, Named(builder, "g"));
  EXPECT_EQ(builder.Push(main_id, Named(builder, "f")), f);
  const Profile profile = std::move(builder).Finish();
  EXPECT_THAT(Names(profile, f), ElementsAre("f", "main"));
  EXPECT_THAT(Names(profile, g), ElementsAre("g", "main"));
  EXPECT_EQ(profile.stacks().size(), 4U);
}

TEST(ProfileBuilder, AddsUpSamplesOfOneStackThreadAndEvent) {
  ProfileBuilder builder;
  const ThreadId thread = builder.Add(Thread{.pid = 1, .tid = 1});
  const EventId event = builder.Add(Event{.name = builder.Add("cycles")});
  const StackId stack = builder.Push({}, Named(builder, "main"));
  builder.Add(Sample{.stack = stack, .thread = thread, .event = event, .count = 1, .period = 100});
  builder.Add(Sample{.stack = {}, .thread = thread, .event = event, .count = 1, .period = 7});
  builder.Add(Sample{.stack = stack, .thread = thread, .event = event, .count = 2, .period = 50});
  const Profile profile = std::move(builder).Finish();
  ASSERT_EQ(profile.samples().size(), 2U);
  EXPECT_EQ(profile.samples()[0].count, 3);
  EXPECT_EQ(profile.samples()[0].period, 150);
  EXPECT_EQ(profile.samples()[1].period, 7);
}

TEST(ProfileBuilder, KeepsSamplesOfOtherThreadsAndEventsApart) {
  ProfileBuilder builder;
  const ThreadId one = builder.Add(Thread{.pid = 1, .tid = 1});
  const ThreadId two = builder.Add(Thread{.pid = 1, .tid = 2});
  const EventId cycles = builder.Add(Event{.name = builder.Add("cycles")});
  const EventId faults = builder.Add(Event{.name = builder.Add("faults")});
  builder.Add(Sample{.thread = one, .event = cycles, .count = 1});
  builder.Add(Sample{.thread = two, .event = cycles, .count = 1});
  builder.Add(Sample{.thread = one, .event = faults, .count = 1});
  EXPECT_EQ(std::move(builder).Finish().samples().size(), 3U);
}

TEST(ProfileBuilder, StopsSumsAtTheLargestNumber) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  ProfileBuilder builder;
  builder.Add(Thread{});
  builder.Add(Event{});
  builder.Add(Sample{.count = 1, .period = kMax - 1});
  builder.Add(Sample{.count = 1, .period = 5});
  EXPECT_EQ(std::move(builder).Finish().samples()[0].period, kMax);
}

TEST(ProfileBuilder, KeepsASampleOfNothing) {
  ProfileBuilder builder;
  builder.Add(Event{});
  builder.Add(Sample{});
  EXPECT_THAT(std::move(builder).Finish().samples(), testing::SizeIs(1));
}

TEST(ProfileBuilder, KeepsSamplesOfOtherLabelsApart) {
  ProfileBuilder builder;
  builder.Add(Event{});
  const Label cpu = {.key = builder.Add("cpu"), .number = 3};
  builder.Add(Sample{.labels = builder.Add(std::span(&cpu, 1)), .count = 1});
  builder.Add(Sample{.count = 1});
  builder.Add(Sample{.labels = builder.Add(std::span(&cpu, 1)), .count = 1});
  const Profile profile = std::move(builder).Finish();
  ASSERT_EQ(profile.samples().size(), 2U);
  EXPECT_EQ(profile.samples()[0].count, 2);
}

TEST(ProfileBuilder, SortsLabelsByTheTextOfTheirKeysAndKeepsThoseOfOneKeyInOrder) {
  ProfileBuilder builder;
  const StringId b = builder.Add("b");
  const StringId a = builder.Add("a");
  const Label labels[] = {{.key = b, .number = 2}, {.key = b, .number = 1}, {.key = a}};
  const LabelsId id = builder.Add(labels);
  const Profile profile = std::move(builder).Finish();
  EXPECT_THAT(profile[id], testing::ElementsAre(labels[2], labels[0], labels[1]));
}

TEST(ProfileBuilder, KeepsTheLowestStartThatAMappingHad) {
  ProfileBuilder builder;
  const StringId name = builder.Add("/lib/x.so");
  const MappingId id = builder.Add(Mapping{.filename = name, .start = 0x5000, .limit = 0x6000});
  EXPECT_EQ(builder.Add(Mapping{.filename = name, .start = 0x2000, .limit = 0x3000}), id);
  EXPECT_EQ(builder.Add(Mapping{.filename = name, .start = 0x4000, .limit = 0x5000}), id);
  const Profile profile = std::move(builder).Finish();
  EXPECT_EQ(profile[id].start, 0x2000U);
  EXPECT_EQ(profile[id].limit, 0x3000U);
}

TEST(ProfileBuilder, KeepsTheLargestPeriodThatAnEventHas) {
  ProfileBuilder builder;
  const StringId name = builder.Add("cycles");
  const EventId id = builder.Add(Event{.name = name});
  EXPECT_EQ(builder.Add(Event{.name = name, .period = 4000}), id);
  EXPECT_EQ(builder.Add(Event{.name = name, .period = 1}), id);
  EXPECT_EQ(std::move(builder).Finish()[id].period, 4000U);
}

// A profile of one mapping with one unnamed location, for the tests of symbolizing.
struct Unnamed {
  MappingId mapping;
  LocationId location;
  StackId stack;
  std::optional<Profile> profile;

  Unnamed() {
    ProfileBuilder builder;
    mapping = builder.Add(Mapping{.filename = builder.Add("/bin/x"), .start = 0, .limit = 0x1000});
    location = builder.Add(Location{.mapping = mapping, .offset = {0x10}});
    stack = builder.Push({}, location);
    const ThreadId thread = builder.Add(Thread{.pid = 1, .tid = 1, .comm = builder.Add("x")});
    const EventId event = builder.Add(Event{.name = builder.Add("cycles")});
    builder.Add(Sample{.stack = stack, .thread = thread, .event = event, .count = 3});
    profile = std::move(builder).Finish();
  }
};

TEST(ProfileBuilder, NamesTheLocationsOfAFinishedProfile) {
  const Unnamed before;
  ProfileBuilder builder(*before.profile);
  const Line line = {.function = builder.Add(Function{.name = builder.Add("main")}), .number = 7};
  builder.SetLines(before.location, {&line, 1});
  const Profile after = std::move(builder).Finish();

  EXPECT_THAT(Names(after, before.stack), ElementsAre("main"));
  EXPECT_EQ(after.samples()[0].count, 3);
  EXPECT_THAT(Names(*before.profile, before.stack), ElementsAre("?"));
  EXPECT_TRUE(Validate(after));
}

TEST(ProfileBuilder, KeepsTheTablesOfAnEarlierProfile) {
  const Unnamed before;
  ProfileBuilder builder(*before.profile);
  EXPECT_EQ(builder.Add(Location{.mapping = before.mapping, .offset = {0x10}}), before.location);
  EXPECT_EQ(builder.Push({}, before.location), before.stack);
  builder.Add(before.profile->samples()[0]);
  const Profile after = std::move(builder).Finish();
  ASSERT_EQ(after.samples().size(), 1U);
  EXPECT_EQ(after.samples()[0].count, 6);
}

TEST(ProfileBuilder, FindsALocationByItsNewLines) {
  const Unnamed before;
  ProfileBuilder builder(*before.profile);
  const Line line = {.function = builder.Add(Function{.name = builder.Add("main")})};
  const Location named = {.mapping = before.mapping, .offset = {0x10}, .lines = {&line, 1}};
  const Location bare = {.mapping = before.mapping, .offset = {0x10}};
  ASSERT_EQ(builder.Add(bare), before.location);
  builder.SetLines(before.location, {&line, 1});
  EXPECT_EQ(builder.Add(named), before.location);
  EXPECT_NE(builder.Add(bare), before.location);
}

TEST(ProfileBuilder, MarksMappingsThatHaveNames) {
  const Unnamed before;
  EXPECT_EQ((*before.profile)[before.mapping].names, MappingNames{});

  ProfileBuilder builder(*before.profile);
  const FunctionId inner = builder.Add(Function{.name = builder.Add("inner")});
  const FunctionId outer =
      builder.Add(Function{.name = builder.Add("outer"), .filename = builder.Add("x.c")});
  const Line plain[] = {{.function = inner}};
  builder.SetLines(before.location, plain);
  const Profile named = std::move(builder).Finish();
  EXPECT_EQ(named[before.mapping].names, MappingNames{.functions = true});

  ProfileBuilder again(named);
  const Line full[] = {{.function = inner, .number = 3}, {.function = outer, .number = 9}};
  again.SetLines(before.location, full);
  EXPECT_EQ(
      std::move(again).Finish()[before.mapping].names,
      (MappingNames{
          .functions = true, .filenames = true, .line_numbers = true, .inline_frames = true}));
}

TEST(ProfileBuilder, ForgetsTheNamesOfReplacedLines) {
  const Unnamed before;
  ProfileBuilder builder(*before.profile);
  const LocationId other = builder.Add(Location{.mapping = before.mapping, .offset = {0x20}});
  const FunctionId function =
      builder.Add(Function{.name = builder.Add("f"), .filename = builder.Add("x.c")});
  const Line full[] = {{.function = function, .number = 3}, {.function = function, .number = 9}};
  builder.SetLines(before.location, full);
  const Line in_file[] = {{.function = function}};
  builder.SetLines(other, in_file);
  const Profile named = std::move(builder).Finish();

  ProfileBuilder again(named);
  const Line plain[] = {{.function = again.Add(Function{.name = again.Add("f")})}};
  again.SetLines(before.location, plain);
  EXPECT_EQ(std::move(again).Finish()[before.mapping].names,
            (MappingNames{.functions = true, .filenames = true}));
}

TEST(ProfileBuilder, KeepsItsMetadata) {
  ProfileBuilder builder;
  builder.SetMetadata({.start_time_ns = 5, .duration_ns = 9, .comments = {"host: x"}});
  const Profile profile = std::move(builder).Finish();
  EXPECT_EQ(profile.metadata().start_time_ns, 5);
  EXPECT_EQ(profile.metadata().duration_ns, 9);
  EXPECT_THAT(profile.metadata().comments, ElementsAre("host: x"));
}

// For any stacks in any order, the profile is valid, and each stack has the sum of its counts.
RC_GTEST_PROP(ProfileBuilder, KeepsTheSumOfEachStack,
              (const std::vector<std::vector<std::uint8_t>>& stacks)) {
  ProfileBuilder builder;
  builder.Add(Thread{});
  builder.Add(Event{});
  std::map<std::vector<std::string>, std::int64_t> expected;
  for (const std::vector<std::uint8_t>& leaf_first : stacks) {
    std::vector<std::string> names;
    for (const std::uint8_t frame : leaf_first) names.push_back(std::to_string(frame % 4));
    StackId stack;
    for (auto name = names.rbegin(); name != names.rend(); ++name) {
      stack = builder.Push(stack, Named(builder, *name));
    }
    builder.Add(Sample{.stack = stack, .count = 1});
    ++expected[names];
  }
  const Profile profile = std::move(builder).Finish();
  RC_ASSERT(Validate(profile).has_value());
  std::map<std::vector<std::string>, std::int64_t> found;
  for (const Sample& sample : profile.samples()) found[Names(profile, sample.stack)] = sample.count;
  RC_ASSERT(found == expected);
}

TEST(ProfileBuilder, AddsToASampleThatWasNew) {
  ProfileBuilder builder;
  const EventId event = builder.Add(Event{.name = builder.Add("cycles")});
  builder.AddNew(Sample{.event = event, .count = 1, .period = 10});
  builder.Add(Sample{.event = event, .count = 2, .period = 20});
  const Profile profile = std::move(builder).Finish();
  ASSERT_EQ(profile.samples().size(), 1U);
  EXPECT_EQ(profile.samples()[0].count, 3);
  EXPECT_EQ(profile.samples()[0].period, 30);
}

}  // namespace
}  // namespace perftape::convert
