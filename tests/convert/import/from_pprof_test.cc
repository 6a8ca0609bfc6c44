// SPDX-License-Identifier: Apache-2.0
#include "convert/import/from_pprof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/to_pprof.h"
#include "formats/base/joined_files.h"
#include "formats/pprof/gzip.h"
#include "formats/pprof/writer.h"
#include "tests/formats/pprof/every_field.h"
#include "tests/support/bytes_input.h"
#include "tests/support/pprof_writer.h"
#include "tests/support/profile_check.h"

namespace perftape::convert {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Makes a pprof with functions "f1", "f2", … at locations 1, 2, … in no mapping.
class PprofMaker {
 public:
  struct Type {
    std::string_view name, unit;
  };
  PprofMaker(std::initializer_list<Type> types) {
    for (const auto& [type, unit] : types) {
      header.sample_types.push_back({writer.Text(type), writer.Text(unit)});
    }
    for (std::uint64_t id = 1; id <= 4; ++id) {
      writer.Add(pprof::Function{.id = id, .name = writer.Text("f" + std::to_string(id))});
      writer.Add(pprof::Location{.id = id, .address = id * 16, .lines = {{.function_id = id}}});
    }
  }

  pprof::Label Number(std::string_view key, std::int64_t number, std::string_view unit = "") {
    return {.key = writer.Text(key), .num = number, .num_unit = writer.Text(unit)};
  }
  pprof::Label Word(std::string_view key, std::string_view text) {
    return {.key = writer.Text(key), .str = writer.Text(text)};
  }

  void Hit(std::vector<std::uint64_t> leaf_first, std::vector<std::int64_t> values,
           std::vector<pprof::Label> labels = {}) {
    writer.Add(pprof::Sample{
        .location_ids = std::move(leaf_first), .values = std::move(values), .labels = labels});
  }

  std::vector<std::byte> File() {
    writer.Add(header);
    return std::move(writer).FinishPlain();
  }

  pprof::Header header;
  pprof::Writer writer;
};

Result<Profile> TryRead(Bytes file, ImportReport& report, const ImportOptions& options = {}) {
  BytesInput input(file);
  return ReadPprof(input, options, report);
}

Profile Read(Bytes file, const ImportOptions& options = {}) {
  ImportReport report;
  Result<Profile> profile = TryRead(file, report, options);
  EXPECT_TRUE(profile) << profile.error().message;
  if (!profile) return {};
  EXPECT_TRUE(Validate(*profile));
  return *std::move(profile);
}

std::string ErrorOf(Bytes file) {
  ImportReport report;
  const Result<Profile> profile = TryRead(file, report);
  return profile ? "" : profile.error().message;
}

// Returns "cycles=2/20" for a sampled event, "space=20" for a plain one, in the order of the
// samples.
std::vector<std::string> Values(const Profile& profile) {
  std::vector<std::string> values;
  for (const Sample& sample : profile.samples()) {
    const Event& event = profile[sample.event];
    std::string value = std::string(profile.text(event.name)) + "=";
    if (event.values == EventValues::kSampled) value += std::to_string(sample.count) + "/";
    values.push_back(value + std::to_string(sample.period));
  }
  return values;
}

std::vector<std::string> Labels(const Profile& profile, const Sample& sample) {
  std::vector<std::string> labels;
  for (const Label& label : profile[sample.labels]) {
    const std::string key(profile.text(label.key));
    labels.push_back(label.text != StringId{} ? key + "=" + std::string(profile.text(label.text))
                                              : key + "=" + std::to_string(label.number) +
                                                    std::string(profile.text(label.unit)));
  }
  return labels;
}

TEST(ReadPprof, ReadsAPairOfTypesAsOneEventOfSamples) {
  PprofMaker made{{"cycles_sample", "count"}, {"cycles_event", "count"}};
  made.Hit({2, 1}, {3, 3000});
  const Profile profile = Read(made.File());
  ASSERT_THAT(profile.events(), SizeIs(1));
  EXPECT_EQ(profile.text(profile.events()[0].name), "cycles");
  EXPECT_THAT(Values(profile), ElementsAre("cycles=3/3000"));
  const StackId stack = profile.samples()[0].stack;
  EXPECT_EQ(profile.text(profile[profile[profile[stack].leaf].lines[0].function].name), "f2");
}

TEST(ReadPprof, ReadsOtherTypesAsEventsOfPlainValues) {
  PprofMaker made{{"x_event", "count"}, {"x_sample", "count"}, {"space", "bytes"}};
  made.Hit({1}, {1, -2, 0});
  const Profile profile = Read(made.File());
  EXPECT_THAT(Values(profile), ElementsAre("x_event=1", "x_sample=-2"));
  EXPECT_EQ(profile.text(profile.events()[2].unit), "bytes");
}

TEST(ReadPprof, ReadsPairsOnlyIfOneIsACount) {
  PprofMaker made{{"x_sample", "bytes"}, {"x_event", "count"}};
  EXPECT_THAT(Read(made.File()).events(), SizeIs(2));
}

TEST(ReadPprof, KeepsASampleOfNothingButZeros) {
  PprofMaker made{{"objects", "count"}, {"space", "bytes"}};
  made.Hit({1}, {0, 0});
  EXPECT_THAT(Values(Read(made.File())), ElementsAre("objects=0"));
}

TEST(ReadPprof, AddsUpSamplesOfEqualStackAndLabels) {
  PprofMaker made{{"space", "bytes"}};
  made.writer.Add(pprof::Location{.id = 9, .address = 16, .lines = {{.function_id = 1}}});
  made.Hit({1, 2}, {5});
  made.Hit({9, 2}, {7});
  made.Hit({2}, {1});
  EXPECT_THAT(Values(Read(made.File())), ElementsAre("space=12", "space=1"));
}

TEST(ReadPprof, ReportsADuplicateType) {
  PprofMaker made{{"space", "bytes"}, {"space", "bytes"}};
  made.Hit({1}, {5, 7});
  ImportReport report;
  const std::vector<std::byte> file = made.File();
  EXPECT_THAT(Values(TryRead(file, report).value()), ElementsAre("space=5"));
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("sample type 1")));
}

TEST(ReadPprof, TellsOfASecondProfileAfterTheFirst) {
  PprofMaker made{{"space", "bytes"}};
  made.Hit({1}, {5});
  std::vector<std::byte> file = made.File();
  const std::vector<std::byte> once = file;
  file.insert(file.end(), once.begin(), once.end());
  ImportReport report;
  const Result<Profile> profile = TryRead(file, report);
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr(std::string(kJoinedFiles)));
}

TEST(ReadPprof, MakesAThreadOfLabelsAsOursAre) {
  PprofMaker made{{"space", "bytes"}};
  made.Hit({1}, {1},
           {made.Number("pid", 7, "pid"), made.Number("tid", -1, "tid"), made.Word("comm", "app"),
            made.Number("cpu", 0, "cpu")});
  const Profile profile = Read(made.File());
  const Thread& thread = profile[profile.samples()[0].thread];
  EXPECT_EQ(thread.pid, 7U);
  EXPECT_EQ(thread.tid, 0xffff'ffffU);
  EXPECT_EQ(profile.text(thread.comm), "app");
  EXPECT_THAT(Labels(profile, profile.samples()[0]), ElementsAre("cpu=0cpu"));
}

TEST(ReadPprof, MakesAThreadOfTheLabelsThatAreThere) {
  PprofMaker made{{"space", "bytes"}};
  made.Hit({1}, {1}, {made.Number("tid", 8, "tid"), made.Word("comm", "app")});
  const Profile profile = Read(made.File());
  const Thread& thread = profile[profile.samples()[0].thread];
  EXPECT_EQ(thread.pid, 0xffff'ffffU);
  EXPECT_EQ(thread.tid, 8U);
  EXPECT_EQ(profile.text(thread.comm), "app");
}

TEST(ReadPprof, LeavesLabelsOfAnotherShapeAlone) {
  PprofMaker made{{"space", "bytes"}};
  const pprof::Label pid = made.Number("pid", 7, "pid");
  const pprof::Label tid = made.Number("tid", 8, "tid");
  made.Hit({1}, {1}, {made.Number("pid", 7), tid});                 // no unit
  made.Hit({1}, {1}, {pid, pid, tid});                              // two
  made.Hit({1}, {1}, {pid, made.Number("tid", 1LL << 32, "tid")});  // too large
  made.Hit({1}, {1}, {pid, tid, made.Word("comm", "a"), made.Word("comm", "b")});
  made.Hit({1}, {1}, {made.Number("pid", 0, "pid"), made.Number("tid", 0, "tid")});
  const Profile profile = Read(made.File());
  ASSERT_THAT(profile.samples(), SizeIs(5));
  std::vector<std::size_t> counts;
  for (const Sample& sample : profile.samples()) {
    EXPECT_EQ(sample.thread, ThreadId{});
    counts.push_back(profile[sample.labels].size());
  }
  EXPECT_THAT(counts, ElementsAre(2, 3, 2, 4, 2));
}

TEST(ReadPprof, KeepsSeveralLabelsOfOneKeyInTheirOrder) {
  PprofMaker made{{"space", "bytes"}};
  made.Hit({1}, {1}, {made.Word("z", "2"), made.Number("a", 5, "ms"), made.Word("z", "1")});
  const Profile profile = Read(made.File());
  EXPECT_THAT(Labels(profile, profile.samples()[0]), ElementsAre("a=5ms", "z=2", "z=1"));
}

TEST(ReadPprof, ConvertsAddressesToFileOffsets) {
  PprofMaker made{{"space", "bytes"}};
  made.writer.Add(pprof::Mapping{.id = 5,
                                 .memory_start = 0x7000,
                                 .memory_limit = 0x9000,
                                 .file_offset = 0x1000,
                                 .filename = made.writer.Text("/bin/app"),
                                 .build_id = made.writer.Text("c0ffee"),
                                 .has_functions = true});
  made.writer.Add(pprof::Location{.id = 7, .mapping_id = 5, .address = 0x7010, .is_folded = true});
  made.Hit({7}, {1});
  const Profile profile = Read(made.File());
  const Location& location = profile[profile[profile.samples()[0].stack].leaf];
  EXPECT_EQ(location.offset.value, 0x1010U);
  EXPECT_TRUE(location.is_folded);
  EXPECT_EQ(profile.AddressOf(location).value, 0x7010U);
  const Mapping& mapping = profile[location.mapping];
  EXPECT_EQ(profile.text(mapping.build_id), "c0ffee");
  EXPECT_EQ(mapping.names, MappingNames{.functions = true});
}

TEST(ReadPprof, DistinguishesEqualMappingsByAddress) {
  PprofMaker made{{"space", "bytes"}};
  const pprof::StringIndex name = made.writer.Text("/lib/libc.so.6");
  for (const std::uint64_t id : {1, 2, 3}) {
    const std::uint64_t start = id == 2 ? 0x1000 : 0x5000;  // the first and the third are equal
    made.writer.Add(pprof::Mapping{
        .id = id, .memory_start = start, .memory_limit = start + 0x1000, .filename = name});
    made.writer.Add(pprof::Location{.id = 10 + id, .mapping_id = id, .address = start + 8});
  }
  made.Hit({11, 12, 13}, {1});
  const Profile profile = Read(made.File());
  ASSERT_THAT(profile.mappings(), SizeIs(3));  // with the empty mapping
  EXPECT_THAT(profile.mappings()[1],
              AllOf(Field(&Mapping::start, 0x5000U), Field(&Mapping::instance, 1U)));
  EXPECT_THAT(profile.mappings()[2],
              AllOf(Field(&Mapping::start, 0x1000U), Field(&Mapping::instance, 0U)));
}

TEST(ReadPprof, KeepsAMappingWithoutAnyFields) {
  PprofMaker made{{"space", "bytes"}};
  made.writer.Add(pprof::Mapping{.id = 1, .has_functions = true});
  made.writer.Add(pprof::Location{.id = 7, .mapping_id = 1});
  made.Hit({7, 1}, {1});
  ImportReport report;
  const std::vector<std::byte> file = made.File();
  const Profile profile = TryRead(file, report).value();
  const Location& leaf = profile[profile[profile.samples()[0].stack].leaf];
  EXPECT_NE(leaf.mapping, MappingId{});
  EXPECT_TRUE(profile[leaf.mapping].names.functions);
  EXPECT_FALSE(profile[MappingId{}].names.functions);
  EXPECT_EQ(report.frames, 2U);
  EXPECT_EQ(report.unmapped_frames, 1U);
}

TEST(ReadPprof, ReportsAMappingThatEndsBeforeItStarts) {
  PprofMaker made{{"space", "bytes"}};
  made.writer.Add(pprof::Mapping{.id = 1, .memory_start = 0x5000, .memory_limit = 0x4000});
  ImportReport report;
  const std::vector<std::byte> file = made.File();
  EXPECT_TRUE(Validate(TryRead(file, report).value()));
  EXPECT_THAT(report.problems, ElementsAre(HasSubstr("mapping 0")));
}

TEST(ReadPprof, UsesThePeriodOfTheEventsType) {
  PprofMaker made{{"cpu-clock_sample", "count"}, {"cpu-clock_event", "nanoseconds"}};
  made.header.period_type = {made.writer.Text("cpu-clock"), made.writer.Text("nanoseconds")};
  made.header.period = 250'000;
  const Profile profile = Read(made.File());
  EXPECT_EQ(profile.events()[0].period, 250'000U);
  EXPECT_FALSE(profile.metadata().period_type);
}

TEST(ReadPprof, KeepsAPeriodOfSomethingElseInTheMetadata) {
  PprofMaker made{{"space", "bytes"}};
  made.header.period_type = {made.writer.Text("space"), made.writer.Text("bytes")};
  made.header.period = 512;
  const Profile profile = Read(made.File());
  EXPECT_EQ(profile.metadata().period_type, (ValueType{"space", "bytes"}));
  EXPECT_EQ(profile.metadata().period, 512);
}

// A profile with every kind of entry is written, read back and written again: the files are equal.
TEST(ReadPprof, ReadsBackWhatWasWritten) {
  pprof::Profile every = pprof::EveryField();
  const std::string encoded = pprof::Encode(every);
  const std::vector<std::byte> once = EncodePprof(Read(AsBytes(encoded)), {}).value();
  const std::vector<std::byte> twice = EncodePprof(Read(once), {}).value();
  EXPECT_EQ(once, twice);
}

TEST(ReadPprof, ReadsGzipAsWell) {
  PprofMaker made{{"space", "bytes"}};
  made.Hit({1}, {5});
  EXPECT_THAT(Values(Read(pprof::Gzip(made.File()).value())), ElementsAre("space=5"));
}

TEST(ReadPprof, LeavesOutSamplesOutsideTheTime) {
  PprofMaker made{{"space", "bytes"}};
  made.Hit({1}, {1}, {made.Number("timestamp_ns", 1'000, "ns")});
  made.Hit({1}, {2}, {made.Number("timestamp_ns", 2'000, "ns")});
  made.Hit({1}, {4}, {made.Number("timestamp_ns", 3'000, "ns")});
  made.Hit({1}, {8});
  ImportReport report;
  const std::vector<std::byte> file = made.File();
  const TimeRange range = {.from = TimePoint{.nanoseconds = 500}, .to = TimePoint{.percent = 50}};
  const Profile profile = TryRead(file, report, {.time = range}).value();
  EXPECT_THAT(Values(profile), ElementsAre("space=2", "space=8"));
  EXPECT_EQ(report.outside_time, 2U);
  EXPECT_EQ(report.samples, 2U);
}

TEST(ReadPprof, RefusesWhatRefersToNothing) {
  PprofMaker location{{"x", "y"}};
  location.Hit({99}, {1});
  EXPECT_THAT(ErrorOf(location.File()), HasSubstr("sample 0: no such location"));
  PprofMaker values{{"x", "y"}};
  values.Hit({1}, {1, 2});
  EXPECT_THAT(ErrorOf(values.File()), HasSubstr("sample 0: the number of values differs"));
  PprofMaker mapping{{"x", "y"}};
  mapping.writer.Add(pprof::Location{.id = 5, .mapping_id = 3});
  EXPECT_THAT(ErrorOf(mapping.File()), HasSubstr("location 4: no such mapping"));
  PprofMaker function{{"x", "y"}};
  function.writer.Add(pprof::Location{.id = 5, .lines = {{}}});
  EXPECT_THAT(ErrorOf(function.File()), HasSubstr("location 4: no such function"));
  PprofMaker twice{{"x", "y"}};
  twice.writer.Add(pprof::Function{.id = 1});
  EXPECT_THAT(ErrorOf(twice.File()), HasSubstr("function 4: its id is 0 or not unique"));
  PprofMaker text{{"x", "y"}};
  text.writer.Add(pprof::Mapping{.id = 1, .filename = 1'000});
  EXPECT_THAT(ErrorOf(text.File()), HasSubstr("mapping 0: string out of range"));
}

TEST(ReadPprof, ReadsIdsThatDifferInTheirUpperHalf) {
  constexpr std::uint64_t kLocations = 20'000;
  PprofMaker made({{"samples", "count"}});
  for (std::uint64_t i = 1; i <= kLocations; ++i) {
    made.writer.Add(pprof::Location{.id = i << 32, .address = i * 16});
    made.Hit({i << 32}, {1});
  }
  ImportReport report;
  const Result<Profile> profile = TryRead(made.File(), report);
  ASSERT_TRUE(profile.has_value()) << profile.error().message;
  EXPECT_THAT(profile->samples(), SizeIs(kLocations));
}

TEST(ReadPprof, RefusesTheEmptyFile) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("empty"));
}

TEST(ReadPprof, SurvivesACutAtAnyByte) {
  const std::string encoded = pprof::Encode(pprof::EveryField());
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    ImportReport report;
    const auto profile = TryRead(AsBytes(std::string_view(encoded).substr(0, size)), report);
    if (profile) {
      EXPECT_TRUE(Validate(*profile)) << size;
    } else {
      EXPECT_EQ(profile.error().code, ErrorCode::kCorrupt) << size;
    }
  }
}

TEST(ReadPprof, RefusesMoreFramesThanTheFileCanMean) {
  PprofMaker made{{"x", "y"}};
  made.Hit(std::vector<std::uint64_t>(std::size_t{3} << 20, 1), {1});
  const std::vector<std::byte> file = pprof::Gzip(made.File()).value();
  EXPECT_LT(file.size(), std::size_t{1} << 20);
  EXPECT_THAT(ErrorOf(file), HasSubstr("more frames"));
}

bool Matches(std::string_view bytes) {
  return IsPprof(BytesInput(AsBytes(bytes)));
}

TEST(IsPprof, DetectsPlainCompressedAndTruncatedFiles) {
  const std::string encoded = pprof::Encode(pprof::EveryField());
  EXPECT_TRUE(Matches(encoded));
  const std::vector<std::byte> file = pprof::Gzip(AsBytes(encoded)).value();
  EXPECT_TRUE(IsPprof(BytesInput(file)));
  EXPECT_TRUE(Matches(std::string_view(encoded).substr(0, encoded.size() / 2)));
  PprofMaker made{{"cycles", "count"}};  // the texts come first
  EXPECT_TRUE(IsPprof(BytesInput(made.File())));
}

TEST(IsPprof, LeavesEverythingElseToOthers) {
  EXPECT_FALSE(Matches(""));
  EXPECT_FALSE(Matches("PERFILE2"));
  EXPECT_FALSE(Matches("main;f 12\n"));
  EXPECT_FALSE(Matches("java;java.lang.Thread.run;" + std::string(200, 'j') + " 12\n"));
  EXPECT_FALSE(Matches("php;2;*;\"Z" + std::string(200, ' ') + "\n"));
  EXPECT_FALSE(Matches("\n\nmain;f 12\n"));
  EXPECT_FALSE(IsPprof(BytesInput(pprof::Gzip(AsBytes("main;f 12\n")).value())));
}

}  // namespace
}  // namespace perftape::convert
