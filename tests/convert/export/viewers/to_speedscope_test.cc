// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "convert/export/viewers/viewers.h"
#include "convert/model/label_keys.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/temp_dir.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::FoldedOptions;
using convert::FoldedValue;
using convert::ProfileMaker;
using testing::HasSubstr;

constexpr FoldedOptions kPeriods = {.value = FoldedValue::kPeriod};

std::string SpeedscopeText(const convert::Profile& profile, const FoldedOptions& options,
                           ViewReport* report = nullptr) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.json").value();
  const Result<ViewReport> written = WriteSpeedscope(profile, options, out);
  EXPECT_TRUE(written);
  if (report != nullptr) *report = *written;
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "out.json").value();
}

nlohmann::json Speedscope(const convert::Profile& profile, const FoldedOptions& options = {}) {
  return nlohmann::json::parse(SpeedscopeText(profile, options));
}

// Returns "app;main;work" for a sample.
std::string StackText(const nlohmann::json& file, const nlohmann::json& stack) {
  std::string text;
  for (const auto& frame : stack) {
    if (!text.empty()) text += ';';
    text += file["shared"]["frames"][frame.get<std::size_t>()]["name"].get<std::string>();
  }
  return text;
}

TEST(WriteSpeedscope, WritesAStackAndAWeightForEachSample) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  made.Hit(made.Calls({"main", "work"}), made.Runs("app"), cycles, 3, 750);
  made.Hit(made.Calls({"main"}), made.Runs("app"), cycles, 1, 250);
  const nlohmann::json file = Speedscope(made.Make(), kPeriods);
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  ASSERT_EQ(file["profiles"].size(), 1U);
  const nlohmann::json& profile = file["profiles"][0];
  EXPECT_EQ(profile["type"], "sampled");
  EXPECT_EQ(profile["name"], "cycles");
  EXPECT_EQ(profile["unit"], "none");
  EXPECT_EQ(profile["startValue"], 0);
  EXPECT_EQ(profile["endValue"], 1000);
  EXPECT_EQ(profile["weights"], nlohmann::json({250, 750}));
  ASSERT_EQ(profile["samples"].size(), 2U);
  EXPECT_EQ(StackText(file, profile["samples"][0]), "app;main");
  EXPECT_EQ(StackText(file, profile["samples"][1]), "app;main;work");
}

TEST(WriteSpeedscope, CountsSamplesOnRequest) {
  ProfileMaker made;
  made.Hit(made.Calls({"main"}), {}, made.Counts("cpu-clock", "nanoseconds", 10), 7, 70);
  const nlohmann::json profile = Speedscope(made.Make(), {})["profiles"][0];
  EXPECT_EQ(profile["unit"], "none");
  EXPECT_EQ(profile["weights"], nlohmann::json({7}));
}

TEST(WriteSpeedscope, WritesAProfileForEachEventWithItsUnit) {
  ProfileMaker made;
  made.Counts("unused");
  made.Hit(made.Calls({"a"}), {}, made.Counts("cpu-clock", "nanoseconds"), 1, 10);
  made.Hit(made.Calls({"a"}), {}, made.CountsPlainly("space", "bytes"), 0, 20);
  made.Hit(made.Calls({"a"}), {}, made.CountsPlainly("odd", "parsecs"), 0, 30);
  const nlohmann::json profiles = Speedscope(made.Make(), kPeriods)["profiles"];
  ASSERT_EQ(profiles.size(), 3U);
  EXPECT_EQ(profiles[0]["name"], "cpu-clock");
  EXPECT_EQ(profiles[0]["unit"], "nanoseconds");
  EXPECT_EQ(profiles[1]["unit"], "bytes");
  EXPECT_EQ(profiles[2]["unit"], "none");
  EXPECT_EQ(profiles[2]["endValue"], 30);
}

TEST(WriteSpeedscope, KeepsThreadsAndTheOrderOfTime) {
  ProfileMaker made;
  const EventId clock = made.Counts("cpu-clock", "nanoseconds");
  const auto hit = [&](std::string_view function, std::uint32_t tid, std::int64_t time_ns) {
    const convert::Label time = {.key = made.builder.Add(convert::kTimestampLabel),
                                 .number = time_ns};
    made.builder.Add(convert::Sample{.stack = made.Calls({"main", function}),
                                     .thread = made.Runs("app", 7, tid),
                                     .event = clock,
                                     .labels = made.builder.Add(std::span(&time, 1)),
                                     .count = 1,
                                     .period = 10});
  };
  hit("z", 7, 100);
  hit("a", 7, 200);
  hit("z", 7, 300);
  hit("b", 8, 150);
  const nlohmann::json file = Speedscope(made.Make(), kPeriods);
  ASSERT_EQ(file["profiles"].size(), 2U);
  EXPECT_EQ(file["activeProfileIndex"], 0);
  const nlohmann::json& first = file["profiles"][0];
  EXPECT_EQ(first["name"], "app 7/7");
  EXPECT_EQ(first["unit"], "nanoseconds");
  EXPECT_EQ(first["weights"], nlohmann::json({10, 10, 10}));
  EXPECT_EQ(first["endValue"], 30);
  EXPECT_EQ(StackText(file, first["samples"][0]), "main;z");
  EXPECT_EQ(StackText(file, first["samples"][1]), "main;a");
  EXPECT_EQ(StackText(file, first["samples"][2]), "main;z");
  EXPECT_EQ(file["profiles"][1]["name"], "app 7/8");
}

TEST(WriteSpeedscope, GivesEqualFramesOneIndex) {
  ProfileMaker made;
  const convert::MappingId user = made.Map("/bin/app");
  const convert::MappingId other = made.Map("/lib/other.so");
  const EventId cycles = made.Counts("cycles");
  // At two addresses, once inlined, and a function of the same name in another file.
  made.Hit(made.Calls({made.Frame(user, 0x10, {"work"}), made.Frame(user, 0x20, {"work"})}), {},
           cycles, 1, 1);
  made.Hit(made.Calls({made.Frame(user, 0x30, {"work", "main"})}), {}, cycles, 1, 1);
  made.Hit(made.Calls({made.Frame(other, 0x10, {"work"})}), {}, cycles, 1, 1);
  const nlohmann::json frames = Speedscope(made.Make(), kPeriods)["shared"]["frames"];
  EXPECT_EQ(frames, nlohmann::json({{{"name", "main"}, {"file", "/bin/app"}},
                                    {{"name", "work"}, {"file", "/bin/app"}},
                                    {{"name", "work"}, {"file", "/lib/other.so"}}}));
}

TEST(WriteSpeedscope, PrefersTheSourceFileAndItsFirstLine) {
  ProfileMaker made;
  const convert::FunctionId work = made.builder.Add(convert::Function{
      .name = made.builder.Add("work"), .filename = made.builder.Add("/src/work.c")});
  for (const int line : {30, 12}) {
    const convert::Line at = {.function = work, .number = line};
    const convert::LocationId frame =
        made.builder.Add(convert::Location{.mapping = made.Map("/bin/app"), .lines = {&at, 1}});
    made.Hit(made.Calls({frame}), {}, made.Counts("cycles"), 1, 1);
  }
  EXPECT_EQ(Speedscope(made.Make(), kPeriods)["shared"]["frames"],
            nlohmann::json({{{"name", "work"}, {"file", "/src/work.c"}, {"line", 12}}}));
}

TEST(WriteSpeedscope, WritesLargeAndFractionalNumbersExactly) {
  ProfileMaker made;
  constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max();
  made.Hit(made.Calls({"a"}), {}, made.CountsPlainly("large"), 0, kLarge);
  made.Hit(made.Calls({"a"}), {}, made.CountsPlainly("fractional", "count", 2), 0, 1250);
  const std::string text = SpeedscopeText(made.Make(), kPeriods);
  EXPECT_THAT(text, HasSubstr("\"weights\":[9223372036854775807]"));
  EXPECT_THAT(text, HasSubstr("\"weights\":[12.5]"));
}

TEST(WriteSpeedscope, LeavesOutNegativeNumbersAndCountsThem) {
  ProfileMaker made;
  const EventId change = made.CountsPlainly("change");
  made.Hit(made.Calls({"a"}), {}, change, 0, -5);
  made.Hit(made.Calls({"b"}), {}, change, 0, 5);
  ViewReport report;
  const auto file = nlohmann::json::parse(SpeedscopeText(made.Make(), kPeriods, &report));
  EXPECT_EQ(report.negative_samples, 1U);
  EXPECT_EQ(file["profiles"][0]["weights"], nlohmann::json({5}));
}

TEST(WriteSpeedscope, EscapesNames) {
  ProfileMaker made;
  made.Hit(made.Calls({"a\"},{\"b\n\xff"}), made.Runs("co\\mm"), made.Counts("e\"v"), 1, 1);
  const nlohmann::json file = Speedscope(made.Make(), kPeriods);
  EXPECT_EQ(StackText(file, file["profiles"][0]["samples"][0]), "co\\mm;a\"},{\"b\n\ufffd");
  EXPECT_EQ(file["profiles"][0]["name"], "e\"v");
}

TEST(WriteSpeedscope, DoesNotDependOnTheOrderOfSamples) {
  const auto made_in_order = [](bool is_reversed) {
    ProfileMaker made;
    for (int i = 0; i < 20; ++i) {
      const int number = is_reversed ? 19 - i : i;
      const std::string name = "f" + std::to_string(number % 7);
      made.Hit(made.Calls({"main", name}), made.Runs("app" + std::to_string(number % 3)),
               made.Counts("cycles"), 1, number);
    }
    return SpeedscopeText(made.Make(), kPeriods);
  };
  EXPECT_EQ(made_in_order(false), made_in_order(true));
}

TEST(WriteSpeedscope, WritesNoProfileWithoutSamples) {
  EXPECT_TRUE(Speedscope(convert::Profile())["profiles"].empty());
}

}  // namespace
}  // namespace perftape::viewers
