// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_otlp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/otlp/writer.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/convert/import/otlp_round_trip.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using otlp::AnyValue;
using otlp::Encoding;
using otlp::Index;
using testing::ElementsAre;
using testing::HasSubstr;

// Makes a file as other programs write it, with a function "main" in /bin/app on stack 1.
struct OtlpMaker {
  otlp::ValueType Type(std::string_view type, std::string_view unit) {
    return {.type = writer.Text(type), .unit = writer.Text(unit)};
  }
  Index Attribute(std::string_view key, const AnyValue& value, std::string_view unit = "") {
    return writer.Add(
        otlp::KeyValueAndUnit{.key = writer.Text(key), .value = value, .unit = writer.Text(unit)});
  }
  std::string File() && { return std::move(writer).Finish(); }

  otlp::Writer writer = otlp::Writer(Encoding::kProtobuf);
  Index mapping = writer.Add(otlp::Mapping{
      .memory_start = 0x1000,
      .memory_limit = 0x2000,
      .filename = writer.Text("/bin/app"),
      .attributes = {Attribute("process.executable.build_id.gnu", {.text = "abcd"})}});
  Index function = writer.Add(otlp::Function{.name = writer.Text("main")});
  Index location = writer.Add(
      otlp::Location{.mapping = mapping, .address = 0x1010, .lines = {{.function = function}}});
  Index stack = writer.Add(otlp::Stack{.locations = {location}});
};

// "cpu/nanoseconds 3 30" for each sample.
std::vector<std::string> NumbersOf(const Profile& profile) {
  std::vector<std::string> lines;
  for (const Sample& sample : profile.samples()) {
    const Event& event = profile[sample.event];
    lines.push_back(std::string(profile.text(event.name)) + "/" +
                    std::string(profile.text(event.unit)) + " " + std::to_string(sample.count) +
                    " " + std::to_string(sample.period));
  }
  return lines;
}

// "key=text" or "key=number unit" for each label.
std::vector<std::string> LabelsOf(const Profile& profile, const Sample& sample) {
  std::vector<std::string> lines;
  for (const Label& label : profile[sample.labels]) {
    const std::string number =
        std::to_string(label.number) + " " + std::string(profile.text(label.unit));
    lines.push_back(std::string(profile.text(label.key)) + "=" +
                    (label.text == StringId{} ? number : std::string(profile.text(label.text))));
  }
  return lines;
}

Profile Read(const std::string& file) {
  Result<Profile> profile = ReadOtlpBytes(file);
  EXPECT_TRUE(profile) << profile.error().message;
  EXPECT_TRUE(Validate(*profile));
  return *profile;
}

std::string ErrorOf(std::string_view file) {
  const Result<Profile> profile = ReadOtlpBytes(file);
  if (profile) return "";
  EXPECT_EQ(profile.error().code, ErrorCode::kCorrupt);
  return profile.error().message;
}

TEST(ReadOtlp, ReadsWhatAnEbpfProfilerWrites) {
  OtlpMaker made;
  const Index name = made.Attribute("thread.name", {.text = "worker"});
  const Index tid = made.Attribute("thread.id", {.integer = 11});
  const Index cpu = made.Attribute("cpu.logical_number", {.integer = 3});
  made.writer.BeginResource(
      {.attributes = {{.key = "process.pid", .value = AnyValue{.integer = 10}},
                      {.key = "container.id", .value = AnyValue{.text = "c1"}}}},
      {.name = "go.opentelemetry.io/ebpf-profiler"});
  made.writer.BeginProfile({.sample_type = made.Type("samples", "count"),
                            .time_unix_ns = {2'000'000'000'000'000'000},
                            .duration_ns = 5'000'000'000,
                            .period_type = made.Type("cpu", "nanoseconds"),
                            .period = 50});
  made.writer.Add(
      otlp::Sample{.stack = made.stack,
                   .attributes = {name, tid, cpu},
                   .times_unix_ns = {{2'000'000'000'000'000'001}, {2'000'000'000'000'000'002}}});
  const Profile profile = Read(std::move(made).File());
  EXPECT_THAT(NumbersOf(profile), ElementsAre("cpu/nanoseconds 1 50", "cpu/nanoseconds 1 50"));
  const Sample& sample = profile.samples()[0];
  EXPECT_THAT(
      LabelsOf(profile, sample),
      ElementsAre("container.id=c1", "cpu=3 cpu", "timestamp_ns=2000000000000000001 nanoseconds"));
  EXPECT_EQ(profile[sample.thread].pid, 10U);
  EXPECT_EQ(profile[sample.thread].tid, 11U);
  EXPECT_EQ(profile.text(profile[sample.thread].comm), "worker");
  EXPECT_EQ(profile.metadata().start_time_ns, 2'000'000'000'000'000'000);
  EXPECT_EQ(profile.metadata().duration_ns, 5'000'000'000);
  const Location& frame = profile[profile[sample.stack].leaf];
  EXPECT_EQ(profile.text(profile[frame.mapping].build_id), "abcd");
  EXPECT_EQ(frame.offset.value, 0x10U);
}

TEST(ReadOtlp, TakesTheSumsOfPeriodsFromAProfileOfTheirType) {
  OtlpMaker made;
  made.writer.BeginResource({}, {});
  made.writer.BeginProfile({.sample_type = made.Type("cpu", "nanoseconds"),
                            .period_type = made.Type("cpu", "nanoseconds"),
                            .period = 10});
  made.writer.Add(otlp::Sample{.stack = made.stack, .values = {33}});
  made.writer.BeginProfile({.sample_type = made.Type("samples", "count"),
                            .period_type = made.Type("cpu", "nanoseconds"),
                            .period = 10});
  made.writer.Add(otlp::Sample{.stack = made.stack, .values = {3}});
  EXPECT_THAT(NumbersOf(Read(std::move(made).File())), ElementsAre("cpu/nanoseconds 3 33"));
}

TEST(ReadOtlp, ReadsWaitsAndPlainValues) {
  OtlpMaker made;
  made.writer.BeginResource({}, {});
  made.writer.BeginProfile({.sample_type = made.Type("off_cpu", "nanoseconds"),
                            .period_type = made.Type("context_switch", "count")});
  made.writer.Add(otlp::Sample{.stack = made.stack, .values = {100, 50}});
  made.writer.BeginProfile({.sample_type = made.Type("inuse_space", "bytes"),
                            .period_type = made.Type("space", "bytes"),
                            .period = 512});
  made.writer.Add(otlp::Sample{.stack = made.stack, .values = {7}});
  const Profile profile = Read(std::move(made).File());
  EXPECT_THAT(NumbersOf(profile),
              ElementsAre("offcpu-time/nanoseconds 2 150", "inuse_space/bytes 0 7"));
  EXPECT_EQ(profile.metadata().period_type, (ValueType{"space", "bytes"}));
  EXPECT_EQ(profile.metadata().period, 512);
}

TEST(ReadOtlp, MakesLabelsOfValuesOfEveryType) {
  OtlpMaker made;
  const std::vector<Index> attributes = {
      made.Attribute("a", {.text = "x"}),
      made.Attribute("b", {.boolean = false}),
      made.Attribute("c", {.integer = 5}, "By"),
      made.Attribute("d", {.real = 0.5}),
      made.Attribute("e", {.array = otlp::ArrayValue{.values = {{.text = "1"}, {.integer = 2}}}}),
      made.Attribute("f", {.bytes = {{"\1"}}}),
      made.Attribute("g", {.text_index = made.writer.Text("y")}),
      0};
  const Index link =
      made.writer.Add(otlp::Link{.trace_id = {"0123456789abcdef"}, .span_id = {"01234567"}});
  made.writer.BeginResource({}, {});
  made.writer.BeginProfile({.sample_type = made.Type("n", "count")});
  made.writer.Add(
      otlp::Sample{.stack = made.stack, .attributes = attributes, .link = link, .values = {1}});
  const Profile profile = Read(std::move(made).File());
  EXPECT_THAT(LabelsOf(profile, profile.samples()[0]),
              ElementsAre("a=x", "b=false", "c=5 bytes", "d=0.5", "e=1", "e=2 ", "f=AQ==", "g=y",
                          "span_id=3031323334353637", "trace_id=30313233343536373839616263646566"));
}

TEST(ReadOtlp, MakesFramesOfTheKernelThatHaveNoMapping) {
  OtlpMaker made;
  const Index kernel = made.Attribute("profile.frame.type", {.text = "kernel"});
  const Index named = made.writer.Add(
      otlp::Location{.lines = {{.function = made.function}}, .attributes = {kernel}});
  const Index at_address =
      made.writer.Add(otlp::Location{.address = 0xffff'ffff'8100'0000, .attributes = {kernel}});
  const Index stack = made.writer.Add(otlp::Stack{.locations = {named, at_address}});
  made.writer.BeginResource({}, {});
  made.writer.BeginProfile({.sample_type = made.Type("n", "count")});
  made.writer.Add(otlp::Sample{.stack = stack, .values = {1}});
  const Profile profile = Read(std::move(made).File());
  for (StackId at = profile.samples()[0].stack; at != StackId{}; at = profile[at].caller) {
    EXPECT_EQ(profile[profile[profile[at].leaf].mapping].type, MappingType::kKernel);
  }
}

TEST(ReadOtlp, KeepsSamplesInTheRangeOfTime) {
  OtlpMaker made;
  made.writer.BeginResource({}, {});
  made.writer.BeginProfile({.sample_type = made.Type("n", "count")});
  made.writer.Add(otlp::Sample{.stack = made.stack, .times_unix_ns = {{100}, {200}, {300}}});
  const std::string file = std::move(made).File();
  ImportReport report;
  const Result<Profile> profile = ReadOtlpBytes(
      AsBytes(file), report, {.time = TimeRange{.from = TimePoint{.nanoseconds = 50}}});
  ASSERT_TRUE(profile);
  EXPECT_EQ(profile->samples().size(), 2U);
  EXPECT_EQ(report.outside_time, 1U);
}

TEST(ReadOtlp, TellsWhatItLeavesOut) {
  OtlpMaker made;
  made.writer.BeginResource({}, {.attributes = {{.key = "x", .value = AnyValue{.text = "y"}}}});
  made.writer.BeginProfile({.sample_type = made.Type("n", "count"),
                            .original_payload_format = "pprof",
                            .original_payload = {"abc"}});
  made.writer.Add(otlp::Location{
      .attributes = {made.Attribute("profile.frame.type", {.text = "jvm"}),
                     made.Attribute("profile.frame.type", {.text = "native"}),
                     made.Attribute("pprof.location.is_folded", {.boolean = true})}});
  made.writer.Add(otlp::Mapping{.attributes = {made.Attribute("process.x", {.text = "ab"})}});
  const std::string file = std::move(made).File();
  ImportReport report;
  ASSERT_TRUE(ReadOtlpBytes(AsBytes(file), report));
  EXPECT_THAT(report.notes,
              ElementsAre("left out: the attribute process.x of mappings or frames",
                          "left out: the attribute profile.frame.type jvm of mappings or frames",
                          "left out: the original payload (pprof, 3 bytes)",
                          "left out: the attribute x of a scope"));
}

// Adds one sample; the file has what `change` does to it.
template <class Change>
std::string ErrorWith(Change change) {
  OtlpMaker made;
  otlp::Sample sample = {.stack = made.stack, .values = {1}};
  otlp::ProfileHeader header = {.sample_type = made.Type("n", "count")};
  change(made, header, sample);
  made.writer.BeginResource({}, {});
  made.writer.BeginProfile(header);
  made.writer.Add(sample);
  return ErrorOf(std::move(made).File());
}

TEST(ReadOtlp, RefusesIndexesThatAreInNoTable) {
  using Made = OtlpMaker;
  using Header = otlp::ProfileHeader;
  EXPECT_EQ(ErrorWith([](Made&, Header&, otlp::Sample&) {}), "");
  EXPECT_EQ(ErrorWith([](Made&, Header&, auto& sample) { sample.stack = 9; }),
            "sample 0: no such stack");
  EXPECT_EQ(ErrorWith([](Made&, Header&, auto& sample) { sample.stack = -1; }),
            "sample 0: no such stack");
  EXPECT_EQ(ErrorWith([](Made&, Header&, auto& sample) { sample.attributes = {2}; }),
            "sample 0: no such attribute");
  EXPECT_EQ(ErrorWith([](Made&, Header&, auto& sample) { sample.link = 5; }),
            "sample 0: no such link");
  EXPECT_EQ(ErrorWith([](Made&, Header& header, auto&) { header.attributes = {77}; }),
            "profile 0: no such attribute");
  EXPECT_EQ(ErrorWith([](Made&, Header& header, auto&) { header.sample_type->unit = 99; }),
            "profile 0: string out of range");
  const auto in_table = [](const auto& entry) {
    return ErrorWith([&](Made& made, Header&, auto&) { made.writer.Add(entry); });
  };
  EXPECT_EQ(in_table(otlp::Stack{.locations = {1, 2}}), "stack 2: no such location");
  EXPECT_EQ(in_table(otlp::Location{.mapping = 2}), "location 2: no such mapping");
  EXPECT_EQ(in_table(otlp::Location{.lines = {{.function = -2}}}), "location 2: no such function");
  EXPECT_EQ(in_table(otlp::Location{.attributes = {9}}), "location 2: no such attribute");
  EXPECT_EQ(in_table(otlp::Mapping{.filename = 99}), "mapping 2: string out of range");
  EXPECT_EQ(in_table(otlp::Mapping{.attributes = {99}}), "mapping 2: no such attribute");
  EXPECT_EQ(in_table(otlp::Function{.filename = 99}), "function 2: string out of range");
  EXPECT_EQ(in_table(otlp::KeyValueAndUnit{.unit = 99}), "attribute 2: string out of range");
}

TEST(ReadOtlp, RefusesSamplesWithoutValues) {
  EXPECT_THAT(ErrorWith([](OtlpMaker&, auto&, auto& sample) { sample.values.clear(); }),
              HasSubstr("OTLP 1.9 and older"));
  EXPECT_EQ(ErrorWith([](OtlpMaker&, auto&, auto& sample) {
              sample.values = {1, 2};
              sample.times_unix_ns = {{1}};
            }),
            "sample 0: the number of times differs from the number of values");
}

// ProfilesData{dictionary} of these bytes.
std::string WithDictionary(std::string_view tables) {
  return std::string("\x12", 1) + static_cast<char>(tables.size()) + std::string(tables);
}

TEST(ReadOtlp, RefusesTablesThatDoNotBeginWithAnEmptyEntry) {
  constexpr std::string_view kText("\x2a\x00", 2);
  EXPECT_THAT(ErrorOf(WithDictionary("\x2a\x01x")), HasSubstr("begin with the empty string"));
  EXPECT_THAT(ErrorOf(std::string("\x0a\x00", 2)), HasSubstr("begin with the empty string"));
  const auto error = [&](std::string_view table) {
    return ErrorOf(WithDictionary(std::string(kText) + std::string(table)));
  };
  const std::string why = "the first entry of a table must be empty";
  EXPECT_EQ(error(std::string_view("\x0a\x02\x08\x01", 4)), "mapping 0: " + why);
  EXPECT_EQ(error(std::string_view("\x12\x02\x10\x01", 4)), "location 0: " + why);
  EXPECT_EQ(error(std::string_view("\x1a\x02\x20\x01", 4)), "function 0: " + why);
  EXPECT_EQ(error(std::string_view("\x32\x02\x08\x01", 4)), "attribute 0: " + why);
  EXPECT_EQ(error(std::string_view("\x3a\x02\x08\x01", 4)), "stack 0: " + why);
}

TEST(ReadOtlp, RefusesMoreLabelsThanAFileOfItsSizeCanMean) {
  OtlpMaker made;
  otlp::Resource resource;
  const std::string name(8, 'k');
  std::vector<std::string> keys;
  for (int i = 0; i < 3000; ++i) keys.push_back(name + std::to_string(i));
  for (const std::string& key : keys) {
    resource.attributes.push_back({.key = key, .value = AnyValue{.integer = 1}});
  }
  made.writer.BeginResource(resource, {});
  made.writer.BeginProfile({.sample_type = made.Type("n", "count")});
  otlp::Sample sample = {.stack = made.stack};
  for (std::uint64_t i = 1; i <= 1000; ++i) sample.times_unix_ns.push_back({i});
  made.writer.Add(sample);
  EXPECT_THAT(ErrorOf(std::move(made).File()), HasSubstr("more labels than a file"));
}

TEST(ReadOtlp, SurvivesACutAtEveryByteAndEveryByteChanged) {
  ProfileMaker maker;
  maker.Hit(maker.Calls({maker.Frame(maker.Map("/bin/app"), 0x10, {"f", "main"})}),
            maker.Runs("app"), maker.Counts("cycles"), 2, 7);
  std::string file = EncodeOtlp(maker.Make(), {}, Encoding::kProtobuf).bytes;
  for (std::size_t size = 0; size < file.size(); ++size) {
    (void)ReadOtlpBytes(std::string_view(file).substr(0, size));
  }
  for (char& byte : file) {
    const char before = byte;
    for (const int changed : {0x00, 0x01, 0x7f, 0xff}) {
      byte = static_cast<char>(changed);
      const Result<Profile> read = ReadOtlpBytes(file);
      EXPECT_TRUE(!read || Validate(*read));
    }
    byte = before;
  }
}

TEST(IsOtlp, AcceptsBothEncodings) {
  ProfileMaker maker;
  maker.Hit(maker.Calls({"f"}), maker.Runs("app"), maker.Counts("cycles"), 2, 7);
  const Profile profile = maker.Make();
  for (const Encoding encoding : {Encoding::kProtobuf, Encoding::kJson}) {
    const std::string file = EncodeOtlp(profile, {}, encoding).bytes;
    BytesInput input(AsBytes(file));
    EXPECT_TRUE(IsOtlp(input));
  }
}

TEST(IsOtlp, RefusesAPprof) {
  ProfileMaker maker;
  maker.Hit(maker.Calls({"f"}), maker.Runs("app"), maker.Counts("cycles"), 2, 7);
  const std::vector<std::byte> file = AsPprof(maker.Make());
  BytesInput input(file);
  EXPECT_FALSE(IsOtlp(input));
}

}  // namespace
}  // namespace perftape::convert
