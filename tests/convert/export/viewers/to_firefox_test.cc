// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "convert/export/viewers/firefox_tables.h"
#include "convert/export/viewers/viewers.h"
#include "convert/model/label_keys.h"
#include "formats/pprof/gzip.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/temp_dir.h"

namespace perftape::viewers {
namespace {

using convert::EventId;
using convert::FoldedOptions;
using convert::FoldedValue;
using convert::ProfileMaker;
using convert::Sample;
using nlohmann::json;

constexpr FoldedOptions kPeriods = {.value = FoldedValue::kPeriod};

std::string FirefoxText(const convert::Profile& profile, const FoldedOptions& options,
                        const FirefoxOptions& own = {}) {
  const TempDir directory;
  OutputFile out = OutputFile::Create(directory / "out.json").value();
  EXPECT_TRUE(WriteFirefox(profile, options, own, out));
  EXPECT_TRUE(std::move(out).Commit());
  return ReadWholeFile(directory / "out.json").value();
}

json Firefox(const convert::Profile& profile, const FoldedOptions& options = kPeriods) {
  return json::parse(FirefoxText(profile, options));
}

std::string StringAt(const json& file, const json& index) {
  return file["shared"]["stringArray"][index.get<std::size_t>()];
}

std::string NameOfFrame(const json& file, const json& frame) {
  const json& function = file["shared"]["frameTable"]["func"][frame.get<std::size_t>()];
  return StringAt(file, file["shared"]["funcTable"]["name"][function.get<std::size_t>()]);
}

// Returns "main;work" for an index in stackTable.
std::string StackText(const json& file, json stack) {
  std::string text;
  const json& table = file["shared"]["stackTable"];
  while (!stack.is_null()) {
    const auto index = stack.get<std::size_t>();
    text = NameOfFrame(file, table["frame"][index]) + (text.empty() ? "" : ";") + text;
    stack = table["prefix"][index];
  }
  return text;
}

// A sample at a time of the recording's clock.
void HitAt(ProfileMaker& made, std::int64_t time_ns, Sample sample) {
  const convert::Label label = {.key = made.builder.Add(convert::kTimestampLabel),
                                .number = time_ns,
                                .unit = made.builder.Add("nanoseconds")};
  sample.labels = made.builder.Add({&label, 1});
  made.builder.Add(sample);
}

TEST(WriteFirefox, WritesAThreadForEachTaskAndEvent) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  const EventId faults = made.Counts("page-faults");
  made.Hit(made.Calls({"main", "work"}), made.Runs("app", 10, 10), cycles, 3, 750);
  made.Hit(made.Calls({"main"}), made.Runs("worker", 10, 11), cycles, 1, 250);
  made.Hit(made.Calls({"main"}), made.Runs("worker", 10, 11), faults, 1, 1);
  const json file = Firefox(made.Make());
  EXPECT_EQ(file["meta"]["preprocessedProfileVersion"], 60);
  ASSERT_EQ(file["threads"].size(), 3U);
  const json& app = file["threads"][0];
  EXPECT_EQ(app["name"], "app");
  EXPECT_EQ(app["pid"], "10");
  EXPECT_EQ(app["tid"], 10);
  EXPECT_EQ(app["isMainThread"], true);
  EXPECT_EQ(app["samples"]["weight"], json::array({750}));
  EXPECT_EQ(app["samples"]["weightType"], "samples");
  EXPECT_EQ(StackText(file, app["samples"]["stack"][0]), "main;work");
  EXPECT_EQ(file["threads"][1]["name"], "worker");
  EXPECT_EQ(file["threads"][1]["processName"], "app");
  EXPECT_EQ(file["threads"][1]["isMainThread"], false);
  EXPECT_EQ(file["threads"][2]["name"], "worker (page-faults)");
}

TEST(WriteFirefox, WritesTimesInMillisecondsSinceTheFirstSample) {
  ProfileMaker made;
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 2'000'000);
  for (const std::int64_t time : {9'000'000, 5'000'000, 7'500'000}) {
    HitAt(made, time,
          {.stack = made.Calls({"main"}),
           .thread = made.Runs("app"),
           .event = clock,
           .count = 1,
           .period = 2'000'000});
  }
  const json file = Firefox(made.Make());
  const json& samples = file["threads"][0]["samples"];
  EXPECT_EQ(samples["time"], json::array({0, 2.5, 4}));
  EXPECT_EQ(samples["weight"], json::array({2, 2, 2}));
  EXPECT_EQ(samples["weightType"], "tracing-ms");
  EXPECT_EQ(file["meta"]["interval"], 2);
  // The thread ran at most as long as the time between the samples.
  EXPECT_EQ(samples["threadCPUDelta"], json::array({0, 2'000'000, 1'500'000}));
}

TEST(WriteFirefox, PutsSamplesWithoutATimeAtMultiplesOfTheInterval) {
  ProfileMaker made;
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 10'000'000);
  for (const std::string_view name : {"a", "b", "c"}) {
    made.Hit(made.Calls({name}), made.Runs("app"), clock, 1, 10'000'000);
  }
  const json file = Firefox(made.Make());
  const json& samples = file["threads"][0]["samples"];
  EXPECT_EQ(samples["time"], json::array({0, 10, 20}));
  EXPECT_FALSE(samples.contains("threadCPUDelta"));
}

TEST(WriteFirefox, WritesNoCpuUseOfTheIdleTask) {
  ProfileMaker made;
  HitAt(made, 5,
        {.stack = made.Calls({"idle"}),
         .thread = made.Runs("swapper", 0, 0),
         .event = made.Counts("cpu-clock", "nanoseconds", 10),
         .count = 1,
         .period = 10});
  EXPECT_FALSE(Firefox(made.Make())["threads"][0]["samples"].contains("threadCPUDelta"));
}

TEST(WriteFirefox, WritesInlinedFunctionsAsFramesOfOneAddress) {
  ProfileMaker made;
  const convert::MappingId app = made.Map("/bin/app");
  made.Hit(made.Calls({made.Frame(app, 0x123, {"inner", "middle", "outer"})}), {},
           made.Counts("cycles"), 1, 1);
  const json file = Firefox(made.Make());
  const json& frames = file["shared"]["frameTable"];
  EXPECT_EQ(StackText(file, file["threads"][0]["samples"]["stack"][0]), "outer;middle;inner");
  EXPECT_EQ(frames["address"], json::array({0x123, 0x123, 0x123}));
  EXPECT_EQ(frames["inlineDepth"], json::array({0, 1, 2}));
  EXPECT_EQ(frames["nativeSymbol"], json::array({0, 0, 0}));
  EXPECT_EQ(StringAt(file, file["shared"]["nativeSymbols"]["name"][0]), "outer");
  EXPECT_EQ(file["libs"][0]["path"], "/bin/app");
  EXPECT_EQ(file["shared"]["resourceTable"]["lib"], json::array({0}));
}

TEST(WriteFirefox, WritesAParentBeforeItsChildren) {
  ProfileMaker made;
  // The leaf's name sorts before its caller's.
  made.Hit(made.Calls({"z", "a"}), {}, made.Counts("cycles"), 1, 1);
  made.Hit(made.Calls({"m", "b"}), {}, made.Counts("cycles"), 1, 1);
  made.Hit({}, {}, made.Counts("cycles"), 1, 1);
  const json stacks = Firefox(made.Make())["shared"]["stackTable"];
  ASSERT_EQ(stacks["length"], 5);
  for (std::size_t i = 0; i < stacks["prefix"].size(); ++i) {
    if (!stacks["prefix"][i].is_null()) {
      EXPECT_LT(stacks["prefix"][i], i);
    }
  }
}

TEST(WriteFirefox, WritesAFrameForAStackWithoutFrames) {
  ProfileMaker made;
  made.Hit({}, {}, made.Counts("cycles"), 1, 7);
  const json file = Firefox(made.Make());
  EXPECT_EQ(StackText(file, file["threads"][0]["samples"]["stack"][0]), "[unknown]");
}

TEST(WriteFirefox, TellsUserCodeKernelAndUnknownApart) {
  ProfileMaker made;
  const convert::LocationId user = made.Frame(made.Map("/bin/app"), 1, {"main"});
  const convert::LocationId kernel =
      made.Frame(made.Map("[kernel.kallsyms]", convert::MappingType::kKernel), 2, {"read"});
  const convert::LocationId unknown = made.Frame(convert::MappingId{}, 0x999);
  made.Hit(made.Calls({unknown, user, kernel}), {}, made.Counts("cycles"), 1, 1);
  const json file = Firefox(made.Make());
  const json& frames = file["shared"]["frameTable"];
  for (std::size_t i = 0; i < frames["func"].size(); ++i) {
    const std::string name = NameOfFrame(file, i);
    const json& category = file["meta"]["categories"][frames["category"][i].get<std::size_t>()];
    EXPECT_EQ(category["name"], name == "main" ? "User" : name == "read" ? "Kernel" : "Other");
  }
  EXPECT_EQ(file["meta"]["categories"][0]["color"], "grey");
}

TEST(WriteFirefox, KeepsAddressesThatJavaScriptCanCount) {
  ProfileMaker made;
  constexpr std::uint64_t kText = 0xffffffff81000000;
  const convert::MappingId kernel =
      made.builder.Add(convert::Mapping{.filename = made.builder.Add("[kernel.kallsyms]"),
                                        .start = kText,
                                        .limit = kText + 0x10000,
                                        .file_offset = kText,
                                        .type = convert::MappingType::kKernel});
  made.Hit(made.Calls({made.Frame(kernel, kText + 0x42, {"read"})}), {}, made.Counts("cycles"), 1,
           1);
  EXPECT_EQ(Firefox(made.Make())["shared"]["frameTable"]["address"], json::array({0x42}));
}

TEST(WriteFirefox, WritesSourceFilesAndLines) {
  ProfileMaker made;
  const convert::FunctionId work = made.builder.Add(convert::Function{
      .name = made.builder.Add("work"), .filename = made.builder.Add("/src/w.c"), .start_line = 7});
  const convert::Line line = {.function = work, .column = 3, .number = 12};
  made.Hit(made.Calls({made.builder.Add(
               convert::Location{.mapping = made.Map("/bin/app"), .lines = {&line, 1}})}),
           {}, made.Counts("cycles"), 1, 1);
  const json file = Firefox(made.Make());
  const json& shared = file["shared"];
  EXPECT_EQ(shared["frameTable"]["line"], json::array({12}));
  EXPECT_EQ(shared["frameTable"]["column"], json::array({3}));
  EXPECT_EQ(shared["funcTable"]["lineNumber"], json::array({7}));
  EXPECT_EQ(shared["funcTable"]["source"], json::array({0}));
  EXPECT_EQ(StringAt(file, shared["sources"]["filename"][0]), "/src/w.c");
}

TEST(WriteFirefox, WritesWaitsAsMarkersOfTheThread) {
  ProfileMaker made;
  const convert::ThreadId app = made.Runs("app");
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 1'000'000);
  const EventId wait = made.Counts("offcpu-time", "nanoseconds");
  const convert::StackId stack = made.Calls({"main"});
  HitAt(made, 10'000'000,
        {.stack = stack, .thread = app, .event = clock, .count = 1, .period = 1'000'000});
  HitAt(made, 15'000'000,
        {.stack = stack, .thread = app, .event = wait, .count = 1, .period = 3'000'000});
  const json file = Firefox(made.Make());
  ASSERT_EQ(file["threads"].size(), 2U);
  EXPECT_EQ(file["threads"][1]["samples"]["weightType"], "tracing-ms");
  EXPECT_EQ(file["threads"][1]["samples"]["weight"], json::array({3}));
  const json& markers = file["threads"][0]["markers"];
  EXPECT_EQ(StringAt(file, markers["name"][0]), "offcpu-time");
  EXPECT_EQ(markers["startTime"], json::array({2}));
  EXPECT_EQ(markers["endTime"], json::array({5}));
  EXPECT_EQ(markers["phase"], json::array({1}));
  EXPECT_EQ(markers["data"][0]["type"], "Wait");
  EXPECT_EQ(file["threads"][1]["markers"]["length"], 0);
}

TEST(WriteFirefox, WritesWhoEndedAWait) {
  ProfileMaker made;
  const EventId wait = made.Counts("offcpu-time", "nanoseconds");
  const EventId wakeup = made.Counts("wakeup", "nanoseconds");
  const convert::ThreadId waiter = made.Runs("waiter", 10, 11);
  const auto add = [&](EventId event, convert::ThreadId thread, std::int64_t time,
                       std::int64_t period, const char* function, std::int64_t woken_tid) {
    std::vector<convert::Label> labels = {
        {.key = made.builder.Add(convert::kTimestampLabel), .number = time}};
    if (woken_tid != 0) {
      labels.push_back({.key = made.builder.Add(convert::kWokenTidLabel), .number = woken_tid});
    }
    made.builder.Add(Sample{.stack = made.Calls({"main", function}),
                            .thread = thread,
                            .event = event,
                            .labels = made.builder.Add(labels),
                            .count = 1,
                            .period = period});
  };
  add(wait, waiter, 10'000'000, 1, "read", 0);  // the first time
  add(wait, waiter, 15'000'000, 3'000'000, "read", 0);
  add(wakeup, made.Runs("waker", 20, 20), 14'000'000, 2'000'000, "write", 11);
  add(wakeup, made.Runs("other", 30, 30), 14'500'000, 2'500'000, "write", 99);
  const json file = Firefox(made.Make());
  const json& data = file["threads"][0]["markers"]["data"];
  ASSERT_EQ(data.size(), 2U);
  EXPECT_FALSE(data[0].contains("waker"));
  EXPECT_EQ(data[1]["waker"], "waker 20");
  EXPECT_EQ(data[1]["cause"]["tid"], 20);
  EXPECT_EQ(data[1]["cause"]["time"], 4);
  EXPECT_EQ(StackText(file, data[1]["cause"]["stack"]), "main;write");
}

TEST(WriteFirefox, WritesTasksAndLossesAsMarkers) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles");
  for (const std::int64_t time : {10'000'000, 50'000'000}) {
    HitAt(
        made, time,
        {.stack = made.Calls({"main"}), .thread = made.Runs("app"), .event = cycles, .period = 1});
  }
  using Type = convert::TaskEvent::Type;
  const convert::TaskEvents events = {
      {.type = Type::kExit, .time_ns = 45'000'000, .pid = 10, .tid = 11},
      {.type = Type::kFork, .time_ns = 5'000'000, .pid = 10, .tid = 11},
      {.type = Type::kExec, .time_ns = 20'000'000, .pid = 10, .tid = 11, .comm = "app"},
      {.type = Type::kComm, .time_ns = 30'000'000, .pid = 10, .tid = 11, .comm = "n\"w"},
      {.type = Type::kComm, .time_ns = 9'000'000, .pid = 10, .tid = 11, .comm = "before"},
      {.type = Type::kFork, .time_ns = 60'000'000, .pid = 10, .tid = 11},
      {.type = Type::kExec, .time_ns = 30'000'000, .pid = 77, .tid = 77, .comm = "other"},
      {.type = Type::kLoss, .time_ns = 40'000'000, .lost = 9}};
  const json file = json::parse(FirefoxText(made.Make(), kPeriods, {.events = events}));
  const json& markers = file["threads"][0]["markers"];
  ASSERT_EQ(markers["length"], 4);
  EXPECT_EQ(markers["startTime"], json::array({0, 10, 20, 30}));
  EXPECT_EQ(markers["endTime"], json::array({10, 35, nullptr, nullptr}));
  EXPECT_EQ(StringAt(file, markers["name"][0]), "fork");
  EXPECT_EQ(StringAt(file, markers["name"][1]), "exec");
  EXPECT_EQ(markers["data"][2]["comm"], "n\"w");
  EXPECT_EQ(markers["data"][3]["records"], "9");
}

TEST(WriteFirefox, WritesAThreadWithoutSamplesForAnEmptyProfile) {
  const json file = Firefox(convert::Profile());
  ASSERT_EQ(file["threads"].size(), 1U);
  EXPECT_EQ(file["threads"][0]["samples"]["length"], 0);
}

TEST(WriteFirefox, EscapesNames) {
  ProfileMaker made;
  const std::string name = "a\"},{\"b\n\xff</script>\u202e";
  made.Hit(made.Calls({made.Frame(made.Map("/bin/" + name), 1, {name})}), made.Runs("co\\mm\""),
           made.Counts("e\"v"), 1, 1);
  const json file = Firefox(made.Make());
  EXPECT_EQ(StackText(file, file["threads"][0]["samples"]["stack"][0]),
            "a\"},{\"b\n\ufffd</script>\u202e");
  EXPECT_EQ(file["threads"][0]["name"], "co\\mm\"");
}

TEST(WriteFirefox, DoesNotDependOnTheOrderOfSamples) {
  const auto made_in_order = [](bool is_reversed) {
    ProfileMaker made;
    for (int i = 0; i < 20; ++i) {
      const int number = is_reversed ? 19 - i : i;
      const std::string name = "f" + std::to_string(number % 7);
      HitAt(made, 1000 + number / 2,
            {.stack = made.Calls({"main", name}),
             .thread = made.Runs("app" + std::to_string(number % 3)),
             .event = made.Counts("cycles"),
             .count = 1,
             .period = number});
    }
    return FirefoxText(made.Make(), kPeriods);
  };
  EXPECT_EQ(made_in_order(false), made_in_order(true));
}

TEST(WriteFirefox, CompressesOnRequest) {
  ProfileMaker made;
  std::string name;  // larger than the buffers, and hard to compress
  for (std::uint32_t i = 0, dice = 1; i < 300'000; ++i, dice = dice * 1664525 + 1013904223) {
    name += static_cast<char>('0' + (dice >> 26U));
  }
  made.Hit(made.Calls({name}), {}, made.Counts("cycles"), 1, 1);
  const convert::Profile profile = made.Make();
  const std::string file =
      FirefoxText(profile, kPeriods, {.compression = FirefoxCompression::kGzip});
  const auto plain = pprof::Gunzip(AsBytes(file), 1U << 30U);
  ASSERT_TRUE(plain);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(plain->data()), plain->size()),
            FirefoxText(profile, kPeriods));
}

TEST(WriteFirefox, WritesTheIdsAndTheProcessorOfLibraries) {
  ProfileMaker made;
  const convert::MappingId lib =
      made.builder.Add(convert::Mapping{.filename = made.builder.Add("/lib/libc.so.6"),
                                        .build_id = made.builder.Add("93ac61ec5a8eb139")});
  made.builder.SetMetadata({.comments = {"hostname: h", "arch: aarch64"}});
  made.Hit(made.Calls({made.Frame(lib, 1)}), {}, made.Counts("cycles"), 1, 1);
  const json lib_in_file = Firefox(made.Make())["libs"][0];
  EXPECT_EQ(lib_in_file["name"], "libc.so.6");
  EXPECT_EQ(lib_in_file["arch"], "aarch64");
  EXPECT_EQ(lib_in_file["codeId"], "93ac61ec5a8eb139");
  EXPECT_EQ(lib_in_file["breakpadId"], "EC61AC938E5A39B100000000000000000");
}

TEST(BreakpadIdOf, ReversesTheFieldsOfAGuid) {
  EXPECT_EQ(BreakpadIdOf("93ac61ec5a8eb1396f9fbd350e3169a558528a40"),
            "EC61AC938E5A39B16F9FBD350E3169A50");
  EXPECT_EQ(BreakpadIdOf("0102"), "000002010000000000000000000000000");
  EXPECT_EQ(BreakpadIdOf(""), "");
  EXPECT_EQ(BreakpadIdOf("no hex"), "");
}

}  // namespace
}  // namespace perftape::viewers
