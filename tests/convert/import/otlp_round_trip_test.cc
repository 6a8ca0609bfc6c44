// SPDX-License-Identifier: Apache-2.0
// What to_otlp writes becomes the same profile again.
#include "tests/convert/import/otlp_round_trip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/model/label_keys.h"
#include "convert/model/mappings_without_files.h"
#include "convert/model/sample_thread.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/reader.h"
#include "formats/perfdata/event_meanings.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using otlp::Encoding;
using testing::ElementsAre;
using testing::IsEmpty;

// Checks that a profile is the same after both encodings. Returns its OTLP.
std::string CheckRoundTrip(const Profile& profile) {
  std::string first;
  for (const Encoding encoding : {Encoding::kProtobuf, Encoding::kJson}) {
    const OtlpFile file = EncodeOtlp(profile, {}, encoding);
    EXPECT_THAT(LossLines(file.report), IsEmpty());
    const Result<Profile> read = ReadOtlpBytes(file.bytes);
    EXPECT_TRUE(read) << read.error().message;
    if (!read) continue;
    EXPECT_TRUE(Validate(*read));
    EXPECT_EQ(AsPprof(*read), AsPprof(profile));
    EXPECT_EQ(EncodeOtlp(*read, {}, encoding).bytes, file.bytes);
    if (first.empty()) first = file.bytes;
  }
  return first;
}

// "samples/count cpu/nanoseconds 10: 3" for each profile with samples, with the sum of its values.
std::vector<std::string> SeriesOf(const std::string& file) {
  const Bytes bytes = AsBytes(file);
  const auto texts = otlp::DecodeTexts(otlp::FindDictionary(bytes).value(), bytes, 10'000).value();
  const auto name = [&](const otlp::ValueType& type) {
    return std::string(texts[static_cast<std::size_t>(type.type)]) + "/" +
           std::string(texts[static_cast<std::size_t>(type.unit)]);
  };
  std::vector<std::string> series;
  otlp::ProfileCursor profiles(bytes);
  while (profiles.Next().value()) {
    std::int64_t sum = 0;
    while (const otlp::Sample* const sample = profiles.NextSample().value()) {
      for (const std::int64_t value : sample->values) sum += value;
      if (sample->values.empty()) sum += static_cast<std::int64_t>(sample->times_unix_ns.size());
    }
    const otlp::ProfileHeader& header = profiles.header();
    series.push_back(name(*header.sample_type) + " " + name(*header.period_type) + " " +
                     std::to_string(header.period) + ": " + std::to_string(sum));
  }
  return series;
}

TEST(EncodeOtlp, WritesAClockAsSamplesWithItsPeriod) {
  ProfileMaker made;
  made.Hit(made.Calls({"main", "f"}), made.Runs("app"), made.Counts("cpu-clock", "nanoseconds", 10),
           3, 30);
  EXPECT_THAT(SeriesOf(CheckRoundTrip(made.Make())),
              ElementsAre("samples/count cpu/nanoseconds 10: 3"));
}

TEST(EncodeOtlp, WritesTheSumsOfPeriodsThatVary) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles:u");
  made.Hit(made.Calls({"f"}), made.Runs("app"), cycles, 3, 31);
  made.Hit(made.Calls({"g"}), made.Runs("app"), cycles, 1, 7);
  EXPECT_THAT(
      SeriesOf(CheckRoundTrip(made.Make())),
      ElementsAre("samples/count cycles:u/count 9: 4", "cycles:u/count cycles:u/count 9: 38"));
}

TEST(EncodeOtlp, WritesWaitsAsOffCpu) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), made.Runs("app"), made.Counts("offcpu-time", "nanoseconds"), 3, 31);
  EXPECT_THAT(SeriesOf(CheckRoundTrip(made.Make())),
              ElementsAre("context_switch/count context_switch/count 1: 3",
                          "off_cpu/nanoseconds context_switch/count 1: 31"));
}

TEST(EncodeOtlp, KeepsNumbersThatAreZeroOrNegative) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles", "count", 5);
  made.Hit(made.Calls({"f"}), made.Runs("a"), cycles, 0, 0);
  made.Hit(made.Calls({"g"}), made.Runs("a"), cycles, -2, -10);
  made.Hit(made.Calls({"h"}), made.Runs("a"), cycles, 0, 4);
  made.Hit(made.Calls({"i"}), made.Runs("a"), cycles, 4, 0);
  made.Hit(made.Calls({"j"}), made.Runs("a"), made.CountsPlainly("space", "bytes"), 0, -3);
  CheckRoundTrip(made.Make());
}

TEST(EncodeOtlp, KeepsEventsWithoutSamplesAndTheirOrder) {
  ProfileMaker made;
  made.Counts("faults");
  const EventId second = made.CountsPlainly("alloc", "bytes");
  made.CountsPlainly("empty");
  made.Hit(made.Calls({"f"}), made.Runs("b", 5, 5), second, 0, 3);
  const Profile profile = made.Make();
  CheckRoundTrip(profile);
}

TEST(EncodeOtlp, WritesAProfileWithoutSamples) {
  CheckRoundTrip(ProfileMaker().Make());
  ProfileMaker made;
  made.CountsPlainly("empty");
  CheckRoundTrip(made.Make());
}

TEST(EncodeOtlp, WritesAResourceForEachProcess) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles", "count", 1);
  made.Hit(made.Calls({"f"}), made.Runs("main", 10, 10), cycles, 1, 1);
  made.Hit(made.Calls({"f"}), made.Runs("worker", 10, 11), cycles, 2, 2);
  made.Hit(made.Calls({"f"}), made.Runs("other", 20, 21), cycles, 4, 4);
  made.Hit(made.Calls({"f"}), {}, cycles, 8, 8);
  made.builder.SetMetadata({.comments = {"hostname: box", "os release: 6.1"}});
  const std::string file = CheckRoundTrip(made.Make());
  std::vector<std::string> resources;
  otlp::ProfileCursor profiles(AsBytes(file));
  while (profiles.Next().value()) {
    std::string line;
    for (const otlp::KeyValue& attribute : profiles.resource().attributes) {
      if (attribute.value->array) continue;
      line += std::string(attribute.key) + "=" +
              (attribute.value->text ? std::string(*attribute.value->text)
                                     : std::to_string(attribute.value->integer.value_or(-1))) +
              " ";
    }
    resources.push_back(line);
  }
  EXPECT_THAT(
      resources,
      ElementsAre("process.pid=10 process.executable.name=main host.name=box os.type=linux "
                  "service.name=unknown_service:main ",
                  "process.pid=20 process.executable.name=other host.name=box os.type=linux "
                  "service.name=unknown_service:other ",
                  "host.name=box os.type=linux service.name=unknown_service "));
}

TEST(EncodeOtlp, KeepsThreadsOfWhichPartsAreUnknown) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles", "count", 1);
  int count = 1;
  for (const std::uint32_t pid : {0U, 7U, kUnknownId}) {
    for (const std::uint32_t tid : {0U, 8U, kUnknownId}) {
      for (const std::string_view comm : {"", "app"}) {
        if (pid == kUnknownId && tid == kUnknownId && comm.empty()) continue;
        made.Hit(made.Calls({"f"}), made.Runs(comm, pid, tid), cycles, count, count);
        ++count;
      }
    }
  }
  CheckRoundTrip(made.Make());
}

// Adds a sample with these labels.
void HitWith(ProfileMaker& made, std::string_view function, const std::vector<Label>& labels) {
  made.builder.Add(Sample{.stack = made.Calls({function}),
                          .thread = made.Runs("app"),
                          .event = made.Counts("cycles", "count", 2),
                          .labels = made.builder.Add(labels),
                          .count = 1,
                          .period = 2});
}

TEST(EncodeOtlp, KeepsLabelsOfEveryKind) {
  ProfileMaker made;
  ProfileBuilder& builder = made.builder;
  const auto text = [&](std::string_view key, std::string_view value) {
    return Label{.key = builder.Add(key), .text = builder.Add(value)};
  };
  const auto number = [&](std::string_view key, std::int64_t value, std::string_view unit) {
    return Label{.key = builder.Add(key), .number = value, .unit = builder.Add(unit)};
  };
  HitWith(made, "a", {text("k8s.pod.name", "pod"), text("service.name", "shop")});
  HitWith(made, "b",
          {text("cgroup", "/docker/" + std::string(64, 'a')), text("namespace", "shop"),
           text("pod", "web-0"), text("container", "nginx")});
  HitWith(made, "c", {number("cpu", 0, "cpu"), number("bytes", 5, "bytes"), number("n", 0, "")});
  HitWith(made, "d", {text("same", "1"), text("same", "2"), number("same", 3, "")});
  HitWith(
      made, "e",
      {text("trace_id", "30313233343536373839616263646566"), text("span_id", "3031323334353637")});
  HitWith(made, "e", {text("trace_id", "30313233343536373839616263646567")});
  HitWith(made, "f", {text("trace_id", "no id"), number("cpu", 3, "")});
  HitWith(made, "g", {number("timestamp_ns", 17, "nanoseconds")});
  HitWith(made, "h", {number("process.cpu", 17, "count"), text("true", "true")});
  CheckRoundTrip(made.Make());
}

TEST(EncodeOtlp, CountsLabelsOfAKeyWithSeveralUnits) {
  ProfileMaker made;
  ProfileBuilder& builder = made.builder;
  HitWith(made, "a",
          {{.key = builder.Add("k"), .number = 1, .unit = builder.Add("bytes")},
           {.key = builder.Add("k"), .number = 2, .unit = builder.Add("count")}});
  EXPECT_THAT(LossLines(EncodeOtlp(made.Make(), {}, Encoding::kProtobuf).report),
              ElementsAre("1 labels whose key occurs with several units"));
}

TEST(EncodeOtlp, WritesTimesOnTheWallClockAndReadsThoseOfTheRecording) {
  ProfileMaker made;
  const EventId clock = made.Counts("cpu-clock", "nanoseconds", 10);
  const EventId waits = made.Counts("offcpu-time", "nanoseconds");
  const auto hit = [&](EventId event, std::int64_t time, std::int64_t count, std::int64_t period) {
    const Label label = {.key = made.builder.Add(kTimestampLabel),
                         .number = time,
                         .unit = made.builder.Add("nanoseconds")};
    made.builder.Add(Sample{.stack = made.Calls({"f"}),
                            .thread = made.Runs("app"),
                            .event = event,
                            .labels = made.builder.Add(std::span(&label, 1)),
                            .count = count,
                            .period = period});
  };
  hit(clock, 1000, 1, 10);
  hit(clock, 1020, 2, 20);
  hit(clock, 1010, 100, 1000);
  hit(waits, 1005, 1, 33);
  made.builder.SetMetadata({.start_time_ns = 1'700'000'000'000'000'000, .duration_ns = 20});
  const std::string file = CheckRoundTrip(made.Make());
  otlp::ProfileCursor profiles(AsBytes(file));
  ASSERT_TRUE(profiles.Next().value());
  const otlp::Sample* const sample = profiles.NextSample().value();
  EXPECT_THAT(sample->values, ElementsAre(1, 100, 1, 1));
  EXPECT_THAT(sample->times_unix_ns, ElementsAre(otlp::Fixed64{1'700'000'000'000'000'000},
                                                 otlp::Fixed64{1'700'000'000'000'000'010},
                                                 otlp::Fixed64{1'700'000'000'000'000'020},
                                                 otlp::Fixed64{1'700'000'000'000'000'020}));
  EXPECT_EQ(profiles.NextSample().value(), nullptr);
}

TEST(EncodeOtlp, KeepsMappingsFramesAndWhatOnlyPprofHas) {
  ProfileMaker made;
  ProfileBuilder& builder = made.builder;
  const MappingId app = builder.Add(Mapping{.filename = builder.Add("/bin/app"),
                                            .build_id = builder.Add("abcd"),
                                            .start = 0x1000,
                                            .limit = 0x9000,
                                            .file_offset = 0x500,
                                            .names = {.functions = true, .line_numbers = true}});
  const MappingId go = builder.Add(Mapping{.filename = builder.Add("/bin/go"),
                                           .build_id = builder.Add("a/b/c"),
                                           .start = 0x1000,
                                           .limit = 0x9000});
  const MappingId kernel = made.Map("[kernel.kallsyms]", MappingType::kKernel);
  const MappingId jit = made.Map("//anon");
  const Line lines[] = {{.function = builder.Add(Function{.name = builder.Add("inlined"),
                                                          .system_name = builder.Add("_inlined"),
                                                          .filename = builder.Add("a.rs"),
                                                          .start_line = 3}),
                         .column = 7,
                         .number = 5},
                        {.function = builder.Add(Function{})}};
  const LocationId first =
      builder.Add(Location{.mapping = app, .is_folded = true, .offset = {0x510}, .lines = lines});
  made.Hit(made.Calls({first, made.Frame(go, 0x20), made.Frame(kernel, 0x30, {"read"}),
                       made.Frame(jit, 0x40, {"py::main"}), made.Frame("only a name"),
                       builder.Add(Location{.offset = {0x77}})}),
           made.Runs("app"), made.Counts("cycles"), 2, 7);
  made.Hit({}, made.Runs("app"), made.Counts("cycles"), 2, 7);
  builder.SetMetadata({.start_time_ns = 12,
                       .duration_ns = 13,
                       .comments = {"hostname: box", "a", "b", "a"},
                       .drop_frames = "drop",
                       .keep_frames = "keep",
                       .doc_url = "http://doc",
                       .default_value = "cycles_event",
                       .period_type = ValueType{.name = "cpu", .unit = "nanoseconds"},
                       .period = 77});
  const std::string file = CheckRoundTrip(made.Make());
  for (const std::string_view type : {"rust", "native", "kernel", "cpython"}) {
    EXPECT_NE(file.find(type), std::string::npos) << type;
  }
}

TEST(EncodeOtlp, KeepsThePeriodOfPlainValues) {
  for (const std::string_view name : {"space", "alloc", ""}) {
    ProfileMaker made;
    made.Hit(made.Calls({"f"}), {}, made.CountsPlainly("alloc", "bytes"), 0, 3);
    made.builder.SetMetadata(
        {.period_type = ValueType{.name = std::string(name), .unit = "bytes"}, .period = 1});
    CheckRoundTrip(made.Make());
  }
}

TEST(EncodeOtlp, KeepsTheKernelsFramesOfFoldedStacks) {
  ProfileMaker made;
  const MappingId kernel =
      AddFoldedMapping(made.builder, MappingType::kKernel, {.functions = true});
  const MappingId hidden = AddHiddenKernel(made.builder);
  made.Hit(
      made.Calls({made.Frame(kernel, 0, {"read_[k]"}), made.Frame(hidden, 0xffffffff81000000)}), {},
      made.CountsPlainly("samples"), 0, 3);
  const Profile profile = made.Make();
  CheckRoundTrip(profile);
  const Profile read = ReadOtlpBytes(EncodeOtlp(profile, {}, Encoding::kProtobuf).bytes).value();
  for (const Location& location : read.locations()) {
    if (location.mapping == MappingId{}) continue;
    EXPECT_EQ(read[location.mapping].type, MappingType::kKernel);
  }
}

TEST(EncodeOtlp, WithoutThreadsJoinsTheSamplesOfAll) {
  ProfileMaker made;
  const EventId cycles = made.Counts("cycles", "count", 1);
  made.Hit(made.Calls({"f"}), made.Runs("a", 1, 1), cycles, 1, 1);
  made.Hit(made.Calls({"f"}), made.Runs("b", 2, 2), cycles, 2, 2);
  const std::string file =
      EncodeOtlp(made.Make(), {.thread_labels = false}, Encoding::kProtobuf).bytes;
  const Profile read = ReadOtlpBytes(file).value();
  ASSERT_EQ(read.samples().size(), 1U);
  EXPECT_EQ(read.samples()[0].count, 3);
  EXPECT_EQ(read.samples()[0].thread, ThreadId{});
}

TEST(EncodeOtlp, RoundsDecimalsAndSaysSo) {
  ProfileMaker made;
  made.Hit(made.Calls({"f"}), {}, made.CountsPlainly("n", "count", 1), 0, 125);
  const OtlpFile file = EncodeOtlp(made.Make(), {}, Encoding::kProtobuf);
  EXPECT_THAT(LossLines(file.report),
              ElementsAre("n: rounded, because OTLP has only whole numbers"));
  EXPECT_EQ(ReadOtlpBytes(file.bytes)->samples()[0].period, 13);
}

// Equal profiles become equal files, whatever the order in which they were made.
TEST(EncodeOtlp, DoesNotDependOnTheOrderOfEntries) {
  const auto make = [](bool is_reversed) {
    ProfileMaker made;
    const EventId cycles = made.Counts("cycles", "count", 1);
    std::vector<std::pair<std::string_view, std::string_view>> samples = {
        {"f", "a"}, {"g", "b"}, {"f", "b"}, {"h", "c"}};
    if (is_reversed) std::ranges::reverse(samples);
    for (const auto& [function, comm] : samples) {
      made.Hit(made.Calls({"main", function}), made.Runs(comm, 3, 3), cycles, 1, 1);
    }
    return EncodeOtlp(made.Make(), {}, Encoding::kProtobuf).bytes;
  };
  EXPECT_EQ(make(false), make(true));
}

}  // namespace
}  // namespace perftape::convert
